// SPDX-License-Identifier: GPL-2.0-only
/*
 * stable.c - the providers that are tables: formats/abi/probes/ (docs/design/0083-providers-as-tables.md)
 *
 * Rows of one name are one probe, which is the first's that this kernel has the place of.  A place is
 * hooked while its probe is enabled: at a tracepoint, or with the functions of provider fbt.
 *
 * Which places there are is found out when a program first names a probe, the functions of all rows in
 * one walk over the kernel's symbols; only then there is anything in memory but the constant rows.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kmod/kernel/tracepoint.h"
#include "kmod/providers/lock_wait.h"
#include "kmod/providers/stable.h"

static LIST_HEAD(places);	   /* [S] that were found */
static unsigned long *addresses;   /* [S] of the rows' functions, 0: not there; NULL: not looked for yet */
static unsigned long *rows_tried;  /* [S] bit of each row that was asked for */

/* The names of a row's probe; returns where the place is in the kernel. */
static const char *row_read(const struct stable_row *row, struct dbk_probe *names)
{
	const char *text = stable_texts + row->text;

	names->provider = text;
	names->module = names->provider + strlen(names->provider) + 1;
	names->function = names->module + strlen(names->module) + 1;
	names->name = names->function + strlen(names->function) + 1;
	return names->name + strlen(names->name) + 1;
}

/* Whether @symbol is @name, or the copy of it that the compiler made of a static function. */
static bool is_named(const char *symbol, const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(symbol, name, bytes) == 0 &&
	       (symbol[bytes] == '\0' || strcmp(symbol + bytes, ".isra.0") == 0 ||
		strcmp(symbol + bytes, ".constprop.0") == 0);
}

/* Rows by what their functions' names begin with: a kernel has 150 000 symbols. */
#define BUCKETS 64

/* A row that waits for its function. */
struct sought {
	struct sought *next; /* of the same bucket */
	const char *where;
};

struct search {
	struct sought *buckets[BUCKETS];
	struct sought *rows; /* of each row */
	unsigned long *addresses;
};

static u32 bucket_of(const char *name)
{
	return ((u8)name[0] * 5 + (name[0] ? (u8)name[1] : 0)) % BUCKETS;
}

static int search_symbol(void *data, const char *name, unsigned long address)
{
	const struct search *search = data;
	const struct sought *sought;

	for (sought = search->buckets[bucket_of(name)]; sought; sought = sought->next) {
		unsigned long *found = &search->addresses[sought - search->rows];

		if (*found == 0 && is_named(name, sought->where))
			*found = address;
	}
	return 0;
}

static int functions_find(void)
{
	struct search search = { 0 };
	struct dbk_probe names;
	int err = -ENOMEM;
	u32 i;

	if (addresses)
		return 0;
	search.rows = kvcalloc(stable_row_count, sizeof(*search.rows), GFP_KERNEL);
	search.addresses = kvcalloc(stable_row_count, sizeof(*search.addresses), GFP_KERNEL);
	if (search.rows && search.addresses) {
		for (i = 0; i < stable_row_count; i++) {
			struct sought *sought = &search.rows[i], **bucket;

			if (stable_rows[i].kind == TRACEPOINT)
				continue;
			sought->where = row_read(&stable_rows[i], &names);
			bucket = &search.buckets[bucket_of(sought->where)];
			sought->next = *bucket;
			*bucket = sought;
		}
		err = dbk_symbols_walk(search_symbol, &search);
	}
	if (err) {
		pr_warn("the stable providers' functions cannot be found (error %d)\n", -err);
		kvfree(search.addresses);
	} else {
		addresses = search.addresses;
	}
	kvfree(search.rows);
	return err;
}

/* Whether this kernel has the place; then it is ready to be hooked for @probe. */
static bool place_find(struct stable_place *place, const char *where, struct dbk_probe *probe)
{
	unsigned long address;

	place->firing = (struct stable_firing){ .probe = probe, .frame = &place->frame };
	if (place->row->kind == TRACEPOINT) {
		place->tracepoint = dbk_tracepoint_find(where);
		if (place->tracepoint)
			place->frame = dbk_tracepoint_frame(place->tracepoint);
		return place->tracepoint;
	}
	address = functions_find() == 0 ? addresses[place->row - stable_rows] : 0;
	return address != 0 && fbt_hook_init(&place->fbt, probe, address,
					     place->row->kind == RETURN ? FBT_RETURN : FBT_ENTRY,
					     stable_on_function);
}

/* The place of @row for the probe of @first, or for one of its own; NULL when this kernel has none. */
static struct stable_place *place_create(const struct stable_row *row, struct stable_place *first)
{
	struct stable_place *place = kzalloc(sizeof(*place), GFP_KERNEL);
	struct dbk_probe *probe = first ? &first->probe : &place->probe;

	if (!place)
		return ERR_PTR(-ENOMEM);
	place->row = row;
	place->probe.host_data = (void *)&dbk_provider_stable;
	if (!place_find(place, row_read(row, &place->probe), probe)) {
		kfree(place);
		return NULL;
	}
	dbk_probe_args_in_order(probe, max(probe->arg_count, row->arg_count));
	list_add_tail(&place->link, &places);
	return place;
}

static bool is_same_probe(const struct dbk_probe *names, const struct stable_row *row)
{
	struct dbk_probe others;

	row_read(row, &others);
	return strcmp(names->name, others.name) == 0 && strcmp(names->provider, others.provider) == 0 &&
	       strcmp(names->module, others.module) == 0 && strcmp(names->function, others.function) == 0;
}

/* Publishes the probe of @row, with all the places of its name that this kernel has. */
static int probe_publish(const struct stable_row *row, const struct dbk_probe *names)
{
	struct stable_place *first = NULL, *last = NULL;
	int err = 0;

	for (; row < stable_rows + stable_row_count; row++) {
		struct stable_place *place;

		if (!is_same_probe(names, row))
			continue;
		__set_bit(row - stable_rows, rows_tried);
		place = place_create(row, first);
		if (IS_ERR(place))
			err = PTR_ERR(place);
		if (IS_ERR_OR_NULL(place))
			continue;
		if (last)
			last->next = place;
		else
			first = place;
		last = place;
	}
	return (first ? dbk_probe_add(dbk.engine, &first->probe) : 0) ?: err;
}

static int stable_provide(const struct dbk_probedesc *description)
{
	struct dbk_probe names;
	u32 i;

	dbk_state_assert();
	for (i = 0; i < stable_row_count; i++) {
		const struct stable_row *row = &stable_rows[i];
		int err;

		if (test_bit(i, rows_tried) ||
		    !dbk_glob_match(description->provider, stable_texts + row->text))
			continue;
		row_read(row, &names);
		if (!dbk_probedesc_match(description, &names))
			continue;
		err = probe_publish(row, &names);
		if (err)
			return err;
	}
	return 0;
}

static int stable_init(void)
{
	rows_tried = bitmap_zalloc(stable_row_count, GFP_KERNEL);
	return rows_tried ? 0 : -ENOMEM;
}

static bool is_published(const struct stable_place *place)
{
	return place->firing.probe == &place->probe && place->probe.id != 0;
}

static void stable_exit(void)
{
	struct stable_place *place, *next;
	struct dbk_retire retire;

	dbk_state_assert();
	dbk_retire_begin(&retire, stable_row_count);
	list_for_each_entry(place, &places, link)
		if (is_published(place))
			dbk_retire_add(&retire, &place->probe);
	dbk_retire_end(&retire);
	list_for_each_entry_safe(place, next, &places, link)
		kfree(place);
	kvfree(addresses);
	bitmap_free(rows_tried);
}

static void stable_disable(struct dbk_probe *probe)
{
	struct stable_place *place;

	dbk_state_assert();
	for (place = container_of(probe, struct stable_place, probe); place; place = place->next) {
		if (place->tracepoint)
			place->wanted = false;
		else
			fbt_unhook(&place->fbt);
	}
}

/* The callbacks of one tracepoint are called in the order of their rows. */
static int tracepoint_hook(struct stable_place *place)
{
	int priority = TRACEPOINT_DEFAULT_PRIO + stable_row_count - (place->row - stable_rows);
	int err = 0;

	if (!place->hooked)
		err = tracepoint_probe_register_prio(place->tracepoint, place->row->callback,
						     &place->firing, priority);
	place->hooked = place->wanted = err == 0;
	return err;
}

static int stable_enable(struct dbk_probe *probe)
{
	struct stable_place *place;

	dbk_state_assert();
	dbk_waits_forget(probe);
	for (place = container_of(probe, struct stable_place, probe); place; place = place->next) {
		int err = 0;

		if (place->tracepoint)
			err = tracepoint_hook(place);
		else
			fbt_hook(&place->fbt);
		if (err) {
			stable_disable(probe);
			return err;
		}
	}
	return 0;
}

/* Functions are settled with those of provider fbt. */
static int stable_settle(void)
{
	struct stable_place *place;

	dbk_state_assert();
	list_for_each_entry(place, &places, link) {
		if (!place->hooked || place->wanted)
			continue;
		tracepoint_probe_unregister(place->tracepoint, place->row->callback, &place->firing);
		place->hooked = false;
	}
	return 0;
}

const struct dbk_provider dbk_provider_stable = {
	.name = "*",
	.init = stable_init,
	.exit = stable_exit,
	.provide = stable_provide,
	.enable = stable_enable,
	.disable = stable_disable,
	.settle = stable_settle,
};
