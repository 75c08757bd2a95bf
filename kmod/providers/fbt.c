// SPDX-License-Identifier: GPL-2.0-only
/*
 * fbt.c - provider fbt: the entry of functions, through ftrace; sets of hooks
 *
 * The providers of tables (stable.c) have their functions hooked here as well.
 *
 * Probes that get their first ECB in one control operation become one set: one
 * ftrace_ops with a filter of addresses, and a hash from address to probe.  Sets
 * are per module and kind (returns: fbt_return.c, entries of the same functions with them where that is
 * cheaper), so that a module's set can go with it.  A set
 * whose probes are all idle is unregistered; one that lost some gets a narrower filter.
 *
 * Rules that were learned from the kernel, not from its documentation:
 * - An ops without a filter traces everything: one is registered only after
 *   its filter was set without an error, and never with an empty one.
 * - An ops is never used again once its filter was freed: each set has its own.
 * - The callback runs while tens of thousands of other sites are still being
 *   patched, and again while they are restored: a set is armed only in between.
 * - Sites are patched some at a time: the kernel holds its locks for as long as one call
 *   takes, and module loads and text patches of others wait for them.
 * - ftrace may have shut itself down after a mistake of anybody's.  Then nothing can be
 *   unregistered any more, and what is called stays where it is for good.
 * - The patched site may be a few bytes into the function: filters get what
 *   ftrace_location() says, stacks the function's own address.
 */
#include <linux/bsearch.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "kmod/providers/fbt.h"

/*
 * 5000: with actions that walk stacks or meet faults, patching 37000 sites that
 * fire meanwhile was seen to lock the machine up for 30 to 110 s.
 */
#define HEAVY_SITES_MAX 5000u

/* 8192: sites patched in one call of the kernel's: some 80 million instructions, and 28 million for
 * its walk over all sites. */
#define SITES_AT_ONCE 8192u

/*
 * What the kernel calls to patch a site, some of it for each, so that a hook there would be called a
 * million times while the set's other sites are patched: hooked last, unhooked first.  With KASAN and
 * kmemleak each piece of memory has the stack noted from which it was taken, and ftrace takes one
 * for each site of a filter: what walks a stack is of it too.  Sorted.  Some of them exist in one of our
 * kernels only.
 */
static const char *const called_to_patch[] = {
	"__cond_resched",
	"__get_locked_pte",
	"__is_insn_slot_addr",
	"__kernel_text_address",
	"__module_address",
	"__module_text_address",
	"__pte_offset_map",
	"__pte_offset_map_lock",
	"__rcu_read_lock",
	"__rcu_read_unlock",
	"__text_poke",
	"_raw_spin_lock",
	"_raw_spin_unlock",
	"arch_stack_walk",
	"filter_irq_stacks",
	"flush_tlb_mm_range",
	"get_stack_info",
	"inat_get_opcode_attribute",
	"insn_decode",
	"insn_get_displacement",
	"insn_get_immediate",
	"insn_get_modrm",
	"insn_get_opcode",
	"insn_get_prefixes",
	"insn_get_sib",
	"insn_init",
	"is_module_text_address",
	"kernel_text_address",
	"load_new_mm_cr3",
	"mod_find",
	"perf_event_text_poke",
	"preempt_count_add",
	"preempt_count_sub",
	"stack_access_ok",
	"stack_trace_consume_entry",
	"stack_trace_save",
	"switch_ldt",
	"switch_mm_irqs_off",
	"text_poke_loc_init",
	"text_poke_memcpy",
	"text_poke_queue",
	"walk_to_pmd",
};

static LIST_HEAD(sets);	   /* [S] */
static LIST_HEAD(pending); /* [S] probes to be hooked */

__probe_ctx noinline void fbt_fire_other_entry(struct fbt_probe *fbt, struct ftrace_regs *fregs,
					       const struct dbk_frame *frame)
{
	u64 args[6] __dbk_unset;

	if (!dbk_probe_is_enabled(fbt->target))
		return;
	args[0] = dbk_ftrace_argument(fregs, 0);
	args[1] = dbk_ftrace_argument(fregs, 1);
	args[2] = dbk_ftrace_argument(fregs, 2);
	args[3] = dbk_ftrace_argument(fregs, 3);
	args[4] = dbk_ftrace_argument(fregs, 4);
	args[5] = dbk_ftrace_argument(fregs, 5);
	fbt->fire(fbt, args, frame);
}

/*
 * The trampoline leaves preemption on; but a firing belongs to one CPU, and ECBs
 * to RCU.  Enabling preemption again might schedule, which code in probes must
 * not; enabling interrupts does not.
 */
static __probe_ctx void on_function(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct fbt_set *set = container_of(ops, struct fbt_set, ops);
	unsigned long flags = dbk_host_enter();
	struct fbt_probe *fbt;

	for (fbt = fbt_first(set, fbt_slot(set, ip)); fbt; fbt = fbt->next)
		if (fbt->site == ip)
			fbt_fire_entry(fbt, parent_ip, fregs);
	dbk_host_leave(flags);
}

/* One that is lost is still called by the kernel, and finds itself not armed. */
static void set_free(struct fbt_set *set)
{
	kvfree(set->slots);
	kvfree(set->sites);
	if (!set->is_lost)
		kfree(set);
}

static struct fbt_set *set_alloc(const struct module *module, enum fbt_kind kind, u32 count)
{
	struct fbt_set *set = kzalloc(sizeof(*set), GFP_KERNEL);

	if (!set)
		return NULL;
	set->module = (struct module *)module;
	set->kind = kind;
	set->slot_count = roundup_pow_of_two(max(count, 2u));
	set->hash_shift = 64 - ilog2(set->slot_count);
	set->sites = kvcalloc(count, sizeof(*set->sites), GFP_KERNEL);
	set->slots = kvcalloc(set->slot_count, sizeof(*set->slots), GFP_KERNEL);
	if (!set->sites || !set->slots) {
		set_free(set);
		return NULL;
	}
	set->ops.func = on_function;
	/* While it is registered ftrace cannot be turned off: probes would fall silent unnoticed. */
	set->ops.flags = FTRACE_OPS_FL_PERMANENT;
	return set;
}

static void set_take(struct fbt_set *set, struct fbt_probe *fbt)
{
	struct fbt_probe **slot = fbt_slot(set, fbt->site);

	fbt->next = *slot;
	*slot = fbt;
	fbt->set = set;
	list_del_init(&fbt->pending);
}

/* Whether a return at @site is in the set. */
static bool set_follows(const struct fbt_set *set, unsigned long site)
{
	const struct fbt_probe *fbt;

	for (fbt = *fbt_slot(set, site); fbt; fbt = fbt->next)
		if (fbt->site == site && fbt->kind == FBT_RETURN)
			return true;
	return false;
}

static int compare_name(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

static bool is_called_to_patch(const struct fbt_probe *fbt)
{
	return !fbt->module && !fbt->fire &&
	       bsearch(fbt->probe.function, called_to_patch, ARRAY_SIZE(called_to_patch),
		       sizeof(called_to_patch[0]), compare_name);
}

/* Moves the pending probes of the set's module and kind into its hash; before the ops is
 * registered. */
static void set_fill(struct fbt_set *set)
{
	struct fbt_probe *fbt, *next;
	int last;

	for (last = 0; last <= 1; last++) {
		list_for_each_entry_safe(fbt, next, &pending, pending) {
			if (fbt->module != set->module || fbt->kind != set->kind)
				continue;
			if (is_called_to_patch(fbt) != last)
				continue;
			set->sites[set->count++] = fbt->site;
			set->early += !last;
			set_take(set, fbt);
		}
	}
	if (set->count <= SITES_AT_ONCE)
		set->early = set->count;
	if (set->kind != FBT_RETURN || !fbt_returns_take_entries())
		return;
	list_for_each_entry_safe(fbt, next, &pending, pending)
		if (fbt->module == set->module && set_follows(set, fbt->site))
			set_take(set, fbt);
}

/* Forgets the set's probes; nothing of it fires any more. */
static void set_empty(struct fbt_set *set)
{
	u32 slot;

	for (slot = 0; slot < set->slot_count; slot++) {
		struct fbt_probe *fbt;

		for (fbt = set->slots[slot]; fbt; fbt = fbt->next) {
			fbt->set = NULL;
			fbt->idle = false;
		}
		set->slots[slot] = NULL;
	}
}

/* A module's set is patched without a pause: the module might go meanwhile. */
static int set_pause(const struct fbt_set *set)
{
	return set->module ? 0 : dbk_settle_pause();
}

/* Where the sites begin that are unhooked at once, the last of @end; where those end that are hooked
 * at once, of which @begin is the first. */
static u32 batch_begin(const struct fbt_set *set, u32 end)
{
	u32 least = end > set->early ? set->early : 0;

	return end - least > SITES_AT_ONCE ? end - SITES_AT_ONCE : least;
}

static u32 batch_end(const struct fbt_set *set, u32 begin)
{
	return min(begin < set->early ? set->early : set->count, begin + SITES_AT_ONCE);
}

/* Takes the filter back step by step, then the hooks out; when it returns, no CPU is in the
 * callback or in the trampoline any more, or the set is lost. */
static void set_unregister(struct fbt_set *set)
{
	u32 left;
	int err;

	for (left = batch_begin(set, set->count); left > 0; left = batch_begin(set, left)) {
		if (ftrace_set_filter_ips(&set->ops, set->sites, left, 0, 1))
			break;
		set_pause(set);
	}
	err = unregister_ftrace_function(&set->ops);
	if (!err) {
		ftrace_free_filter(&set->ops);
		if (set->kind == FBT_RETURN)
			fbt_returns_free(set);
		return;
	}
	set->is_lost = true;
	pr_err("functions cannot be unhooked (error %d): the module stays until the next boot\n", -err);
	__module_get(THIS_MODULE);
	dbk_host_synchronize();
}

/* One call of the kernel's costs a walk over all of its sites, and the time to patch. */
static int set_register(struct fbt_set *set)
{
	u32 at = batch_end(set, 0);
	int err = set->kind == FBT_RETURN ? fbt_returns_create(set) : 0;

	if (err)
		return err;
	err = ftrace_set_filter_ips(&set->ops, set->sites, at, 0, 1);
	if (!err)
		err = register_ftrace_function(&set->ops);
	if (err) {
		ftrace_free_filter(&set->ops);
		if (set->kind == FBT_RETURN)
			fbt_returns_free(set);
		return err;
	}
	for (; at < set->count; at = batch_end(set, at)) {
		err = set_pause(set);
		if (!err)
			err = ftrace_set_filter_ips(&set->ops, set->sites + at,
						    batch_end(set, at) - at, 0, 0);
		if (err)
			break;
	}
	if (!err)
		return 0;
	/* What is registered is no more than this. */
	set->count = at;
	/* Never armed: nothing of it is looked at. */
	set_unregister(set);
	return err;
}

static void set_destroy(struct fbt_set *set)
{
	WRITE_ONCE(set->armed, false);
	list_del(&set->link);
	set_unregister(set);
	set_empty(set);
	set_free(set);
}

static int set_create(const struct module *module, enum fbt_kind kind)
{
	struct fbt_probe *fbt;
	struct fbt_set *set;
	u32 count = 0;
	int err;

	list_for_each_entry(fbt, &pending, pending)
		count += fbt->module == module && fbt->kind == kind;
	set = set_alloc(module, kind, count);
	if (!set)
		return -ENOMEM;
	set_fill(set);
	err = set_register(set);
	if (err) {
		set_empty(set);
		set_free(set);
		return err;
	}
	list_add_tail(&set->link, &sets);
	return 0;
}

/* The sites of the probes that stay, each once; returns how many. */
static u32 sites_kept(struct fbt_set *set)
{
	u32 slot, kept = 0;

	for (slot = 0; slot < set->slot_count; slot++) {
		u32 first = kept, i;
		struct fbt_probe *fbt;

		for (fbt = set->slots[slot]; fbt; fbt = fbt->next) {
			for (i = first; i < kept && set->sites[i] != fbt->site; i++)
				;
			if (!fbt->idle && i == kept)
				set->sites[kept++] = fbt->site;
		}
	}
	return kept;
}

static void drop_idle(struct fbt_set *set)
{
	u32 slot;

	for (slot = 0; slot < set->slot_count; slot++) {
		struct fbt_probe **at = &set->slots[slot];

		while (*at) {
			struct fbt_probe *fbt = *at;

			if (!fbt->idle) {
				at = &fbt->next;
				continue;
			}
			WRITE_ONCE(*at, fbt->next);
			fbt->set = NULL;
			fbt->idle = false;
		}
	}
}

static bool has_idle(const struct fbt_set *set)
{
	const struct fbt_probe *fbt;
	u32 slot;

	for (slot = 0; slot < set->slot_count; slot++)
		for (fbt = set->slots[slot]; fbt; fbt = fbt->next)
			if (fbt->idle)
				return true;
	return false;
}

/*
 * Probes that stay are hooked as they were; the idle ones are taken out of the
 * filter, then, when no CPU looks any more, out of the hash.
 */
static void set_narrow(struct fbt_set *set)
{
	u32 kept;

	set->some_idle = false;
	if (!has_idle(set))
		return;
	kept = sites_kept(set);
	if (kept == 0) {
		set_destroy(set);
		return;
	}
	/* Without the narrower filter they still fire, and find no ECB. */
	if (ftrace_set_filter_ips(&set->ops, set->sites, kept, 0, 1))
		return;
	drop_idle(set);
	set->count = set->early = kept;
	/* A task may have been preempted in the callback: its probe may be freed from now on. */
	synchronize_rcu_tasks();
}

void fbt_hook(struct fbt_probe *fbt)
{
	dbk_state_assert();
	if (fbt->set)
		fbt->idle = false;
	else if (list_empty(&fbt->pending))
		list_add_tail(&fbt->pending, &pending);
	cond_resched();
}

static int fbt_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	fbt_hook(container_of(probe, struct fbt_probe, probe));
	return 0;
}

void fbt_unhook(struct fbt_probe *fbt)
{
	dbk_state_assert();
	if (!list_empty(&fbt->pending)) {
		list_del_init(&fbt->pending);
	} else if (fbt->set) {
		fbt->idle = true;
		fbt->set->some_idle = true;
	}
}

static void fbt_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	fbt_unhook(container_of(probe, struct fbt_probe, probe));
}

bool fbt_is_hooked(const struct fbt_probe *fbt)
{
	dbk_state_assert();
	return fbt->set && fbt->set->armed;
}

static bool fbt_probe_is_hooked(const struct dbk_provider *self, const struct dbk_probe *probe)
{
	return fbt_is_hooked(container_of(probe, struct fbt_probe, probe));
}

/* A pause changes both lists, so each search starts anew. */
static struct fbt_set *set_with_idle(void)
{
	struct fbt_set *set;

	list_for_each_entry(set, &sets, link)
		if (set->some_idle)
			return set;
	return NULL;
}

/* Returns first: they may take entries with them. */
static struct fbt_probe *pending_of(const struct module *only)
{
	struct fbt_probe *fbt, *entry = NULL;

	list_for_each_entry(fbt, &pending, pending) {
		if (only && fbt->module != only)
			continue;
		if (fbt->kind == FBT_RETURN)
			return fbt;
		if (!entry)
			entry = fbt;
	}
	return entry;
}

/* Sets are armed when all are hooked: what fires would slow down the patching of the others. */
static int fbt_settle(const struct dbk_provider *self, const struct module *only)
{
	struct fbt_probe *fbt;
	struct fbt_set *set;
	int err = 0;

	dbk_state_assert();
	while (!only && (set = set_with_idle()) != NULL)
		set_narrow(set);
	while (!err && pending_of(only)) {
		err = only ? 0 : dbk_settle_pause();
		fbt = pending_of(only);
		if (!err && fbt)
			err = set_create(fbt->module, fbt->kind);
	}
	list_for_each_entry(set, &sets, link)
		if (!only || set->module == only)
			WRITE_ONCE(set->armed, true);
	return err;
}

void fbt_hooks_drop_module(const struct module *module)
{
	struct fbt_set *set, *next;

	dbk_state_assert();
	list_for_each_entry_safe(set, next, &sets, link)
		if (set->module == module)
			set_destroy(set);
}

static int module_notify(struct notifier_block *block, unsigned long event, void *data)
{
	if (data != THIS_MODULE)
		dbk_module_event(event, data, fbt_table_add_module, fbt_table_remove_module);
	return NOTIFY_DONE;
}

/* The module's sites are known to ftrace before any notifier runs, and until all have run. */
static struct notifier_block module_notifier = { .notifier_call = module_notify };

static int fbt_watch(const struct dbk_provider *self)
{
	return register_module_notifier(&module_notifier);
}

static void fbt_unwatch(const struct dbk_provider *self)
{
	unregister_module_notifier(&module_notifier);
}

static void fbt_exit(const struct dbk_provider *self)
{
	dbk_state_assert();
	fbt_table_free();
}

const struct dbk_provider dbk_provider_fbt = {
	.name = "fbt",
	.heavy_probes_max = HEAVY_SITES_MAX,
	.exit = fbt_exit,
	.provide = fbt_table_provide,
	.enable = fbt_enable,
	.disable = fbt_disable,
	.settle = fbt_settle,
	.is_hooked = fbt_probe_is_hooked,
	.watch = fbt_watch,
	.unwatch = fbt_unwatch,
};
