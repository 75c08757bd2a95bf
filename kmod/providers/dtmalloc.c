// SPDX-License-Identifier: GPL-2.0-only
/*
 * dtmalloc.c - provider dtmalloc by cache: dtmalloc::kmalloc-64:malloc
 *
 * FreeBSD has a probe for each type of malloc(9).  Linux has caches for that: a probe of one is
 * made when a program names it (dtmalloc::filp:free, dtmalloc::kmalloc-*:malloc), beside those of
 * the table (formats/abi/probes/dtmalloc.h), which are of all caches: a description that means one
 * of these makes no others.
 *
 * All of a side share its two tracepoints.  kmalloc() and kfree() do not say which cache, but an
 * object lies in a slab, and the slab's struct, which lies over the struct page, has it.  Caches
 * are known by their names: one that goes and comes again is the same.  The kernel's list of
 * caches, and where its structs have what is needed, are no part of its interface: they are found
 * by name and by BTF, and without them there are no such probes.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>

#include "kmod/kernel/tracepoint.h"
#include "kmod/providers/named.h"

/* A Debian kernel has some 200 caches. */
#define CACHES_MAX 512
#define NAME_BYTES 64

struct cache_probe {
	struct dbk_named named;
	struct dbk_frame frames[2]; /* [C] of its side's tracepoints */
	char name[NAME_BYTES];	    /* [C] the cache's */
};

/* malloc, free: what is hooked while a probe of it is enabled. */
struct side {
	const char *name;
	struct dbk_tracepoint_hook hooks[2]; /* [S] */
	u8 arg_count;
	u32 enabled;			       /* [S] */
	u32 slot_count;			       /* [S] stores; atomic */
	struct cache_probe *slots[CACHES_MAX]; /* [S] stores; atomic: NULL: free */
};

/* In bytes; [C] once found. */
static struct {
	int state; /* 0: not looked for; 1: found; negative: why not */
	u32 cache_name, cache_list, slab_cache;
	struct list_head *caches;
	struct mutex *caches_mutex;
} layout;

DBK_NAMED_SET(dtmalloc_probes, 2 * CACHES_MAX);

static __probe_ctx_inline const char *name_of(const void *cache)
{
	return *(const char *const *)(cache + layout.cache_name);
}

static __probe_ctx_inline bool is_same(const char *a, const char *b)
{
	u32 i;

	for (i = 0; i < NAME_BYTES && a[i] == b[i]; i++)
		if (a[i] == '\0')
			return true;
	return false;
}

/* NULL: it is in no slab, as large ones are. */
static __probe_ctx_inline struct kmem_cache *cache_of(const void *object)
{
	struct folio *folio;

	if (ZERO_OR_NULL_PTR(object))
		return NULL;
	folio = virt_to_folio(object);
	return folio_test_slab(folio) ? *(struct kmem_cache **)((void *)folio + layout.slab_cache)
				      : NULL;
}

static __probe_ctx void fire(struct side *side, unsigned int place, const struct kmem_cache *cache,
			     const u64 *args)
{
	const char *name = cache ? name_of(cache) : NULL;
	u32 i, count = name ? READ_ONCE(side->slot_count) : 0;

	for (i = 0; i < count; i++) {
		struct cache_probe *one = READ_ONCE(side->slots[i]);

		if (one && is_same(name, one->name))
			dbk_probe_fire(&one->named.probe, args, &one->frames[place]);
	}
}

static __probe_ctx void on_cache_alloc(void *side, unsigned long caller, const void *object,
				       struct kmem_cache *cache, gfp_t flags, int node)
{
	u64 bytes = kmem_cache_size(cache);
	u64 args[] = { (unsigned long)cache, caller, (unsigned long)object, bytes, bytes };

	if (object)
		fire(side, 0, cache, args);
}

static __probe_ctx void on_kmalloc(void *side, unsigned long caller, const void *object,
				   size_t asked, size_t bytes, gfp_t flags, int node)
{
	struct kmem_cache *cache = cache_of(object);
	u64 args[] = { (unsigned long)cache, caller, (unsigned long)object, asked, bytes };

	fire(side, 1, cache, args);
}

static __probe_ctx void on_cache_free(void *side, unsigned long caller, const void *object,
				      const struct kmem_cache *cache)
{
	u64 args[] = { (unsigned long)cache, caller, (unsigned long)object };

	fire(side, 0, cache, args);
}

static __probe_ctx void on_kfree(void *side, unsigned long caller, const void *object)
{
	struct kmem_cache *cache = cache_of(object);
	u64 args[] = { (unsigned long)cache, caller, (unsigned long)object };

	fire(side, 1, cache, args);
}

static struct side sides[] = {
	{ "malloc",
	  { { "kmem_cache_alloc", on_cache_alloc, &sides[0] },
	    { "kmalloc", on_kmalloc, &sides[0] } },
	  5 },
	{ "free",
	  { { "kmem_cache_free", on_cache_free, &sides[1] }, { "kfree", on_kfree, &sides[1] } },
	  3 },
};

/* The kernel declares what a tracepoint has: a kernel with other arguments does not build. */
static __maybe_unused void callbacks_check(void)
{
	check_trace_callback_type_kmem_cache_alloc(on_cache_alloc);
	check_trace_callback_type_kmalloc(on_kmalloc);
	check_trace_callback_type_kmem_cache_free(on_cache_free);
	check_trace_callback_type_kfree(on_kfree);
}

static int layout_find(void)
{
	int name, list, cache;
	u32 i;

	dbk_state_assert();
	if (layout.state != 0)
		return layout.state;
	name = dbk_btf_member("kmem_cache", "name");
	list = dbk_btf_member("kmem_cache", "list");
	cache = dbk_btf_member("slab", "slab_cache");
	layout.caches = (void *)dbk_symbol("slab_caches");
	layout.caches_mutex = (void *)dbk_symbol("slab_mutex");
	layout.state = name < 0 || list < 0 || cache < 0 || !layout.caches || !layout.caches_mutex
			       ? -ENOENT
			       : 1;
	for (i = 0; i < 4 && layout.state > 0; i++)
		if (!dbk_tracepoint_find(&sides[i / 2].hooks[i % 2]))
			layout.state = -ENOENT;
	dbk_btf_release();
	layout.cache_name = name;
	layout.cache_list = list;
	layout.slab_cache = cache;
	return layout.state;
}

/* Return: whether there is an @index-th cache; then its name, empty if it is too long. */
static bool cache_name_at(u32 index, char *name_ret)
{
	const struct list_head *link;
	bool found = false;

	mutex_lock(layout.caches_mutex);
	list_for_each(link, layout.caches) {
		found = index-- == 0;
		if (!found)
			continue;
		if (strscpy(name_ret, name_of((const void *)link - layout.cache_list), NAME_BYTES) <
		    0)
			name_ret[0] = '\0';
		break;
	}
	mutex_unlock(layout.caches_mutex);
	return found;
}

static int probe_publish(const struct dbk_requester *requester, const struct side *side,
			 const char *name)
{
	struct cache_probe *one;
	u32 i;
	int err = dbk_named_check(&dbk_provider_dtmalloc, requester, name, side->name);

	if (err)
		return err == -EEXIST ? 0 : err;
	one = kzalloc(sizeof(*one), GFP_KERNEL);
	if (!one)
		return -ENOMEM;
	strscpy(one->name, name, sizeof(one->name));
	for (i = 0; i < ARRAY_SIZE(one->frames); i++)
		one->frames[i] = dbk_tracepoint_frame(side->hooks[i].tracepoint);
	one->named.probe.module = "vmlinux";
	one->named.probe.function = one->name;
	one->named.probe.name = side->name;
	dbk_probe_args_in_order(&one->named.probe, side->arg_count);
	err = dbk_named_add(&dbk_provider_dtmalloc, &one->named);
	if (err == -EINVAL)
		kfree(one);
	return err;
}

static bool is_of_the_table(const char *function)
{
	return dbk_glob_match(function, "kmem_cache") || dbk_glob_match(function, "kmalloc");
}

static int dtmalloc_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
			    const struct dbk_probedesc *description)
{
	char name[NAME_BYTES];
	int err = 0;
	u32 i, s;

	dbk_state_assert();
	if (is_of_the_table(description->function) ||
	    !dbk_glob_match(description->module, "vmlinux") || layout_find() < 0)
		return 0;
	for (i = 0; !err && cache_name_at(i, name); i++) {
		if (name[0] == '\0' || is_of_the_table(name) ||
		    !dbk_glob_match(description->function, name))
			continue;
		for (s = 0; !err && s < ARRAY_SIZE(sides); s++)
			if (dbk_glob_match(description->name, sides[s].name))
				err = probe_publish(requester, &sides[s], name);
	}
	return err;
}

static struct side *side_of(const struct dbk_probe *probe)
{
	return &sides[strcmp(probe->name, sides[1].name) == 0];
}

static int dtmalloc_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct cache_probe *one = container_of(probe, struct cache_probe, named.probe);
	struct side *side = side_of(probe);
	int err;
	u32 i;

	dbk_state_assert();
	for (i = 0; i < side->slot_count && side->slots[i]; i++)
		;
	if (i == CACHES_MAX)
		return -E2BIG;
	err = dbk_tracepoint_hook(&side->hooks[0]) ?: dbk_tracepoint_hook(&side->hooks[1]);
	if (err)
		return err;
	WRITE_ONCE(side->slots[i], one);
	if (i == side->slot_count)
		WRITE_ONCE(side->slot_count, i + 1);
	side->enabled++;
	return 0;
}

static void dtmalloc_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct cache_probe *one = container_of(probe, struct cache_probe, named.probe);
	struct side *side = side_of(probe);
	u32 i;

	dbk_state_assert();
	for (i = 0; i < side->slot_count; i++) {
		if (side->slots[i] != one)
			continue;
		WRITE_ONCE(side->slots[i], NULL);
		side->enabled--;
	}
	if (side->enabled == 0)
		WRITE_ONCE(side->slot_count, 0);
}

static int dtmalloc_settle(const struct dbk_provider *self, const struct module *module)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < 4; i++)
		if (sides[i / 2].enabled == 0)
			dbk_tracepoint_unhook(&sides[i / 2].hooks[i % 2]);
	return 0;
}

const struct dbk_provider dbk_provider_dtmalloc = {
	.name = "dtmalloc",
	.provide = dtmalloc_provide,
	.named = &dtmalloc_probes,
	.enable = dtmalloc_enable,
	.disable = dtmalloc_disable,
	.settle = dtmalloc_settle,
};
