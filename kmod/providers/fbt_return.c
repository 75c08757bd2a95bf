// SPDX-License-Identifier: GPL-2.0-only
/*
 * fbt_return.c - provider fbt: the return of functions
 *
 * At a function's entry its return address is replaced by that of a trampoline
 * of the kernel's, which calls us and goes on to where the function was called
 * from.  The kernel keeps a stack of such calls per task and a pool of notes
 * for them per set: rethook, which is found by name, as it is not exported.  The
 * hook is the set's ftrace_ops, which fires entries as well
 * (docs/design/0068-one-hook-for-entry-and-return.md).
 *
 * A call that finds the pool empty returns unseen and is counted as a MISSED
 * drop.  Calls that are inside of their functions when a set goes return
 * through the kernel's trampoline, which by then knows no handler for them: no
 * code of the module needs to stay.
 *
 * A function that never returns keeps its note until its task is gone.
 */
#include <linux/rethook.h>
#include <linux/slab.h>

#include "kmod/kernel/symbols.h"
#include "kmod/providers/fbt.h"

/*
 * Calls that can be under way at once: what kretprobes allow for one function,
 * for each; more for those few in which many tasks sleep; not without bound.
 */
#define CALLS_PER_FUNCTION max(10u, 2 * num_possible_cpus())
#define CALLS_MIN	   1024u
#define CALLS_MAX	   8192u

static u32 calls_of(const struct fbt_set *set)
{
	/* A set has fewer than 2^20 functions, a machine fewer than 2^12 CPUs / 2. */
	return clamp(set->count * CALLS_PER_FUNCTION, CALLS_MIN, CALLS_MAX);
}

/* What a call leaves for its return. */
struct followed {
	struct fbt_probe **slot; /* of its function, in the set */
	u64 first;		 /* argument */
};

static __probe_ctx noinline void fire_other(struct fbt_probe *fbt, struct pt_regs *regs, u64 first,
					    const struct dbk_frame *frame)
{
	u64 args[3] = { -1, regs_return_value(regs), first };
	unsigned long flags;

	if (!dbk_probe_is_enabled(fbt->target))
		return;
	flags = dbk_host_enter();
	fbt->fire(fbt, args, frame);
	dbk_host_leave(flags);
}

/* Not initialized as a whole: that would be 16 bytes more. */
static __probe_ctx_inline void fire(struct fbt_probe *fbt, struct pt_regs *regs, u64 first)
{
	struct dbk_frame frame __dbk_unset;

	frame.kind = DBK_FRAME_RETURN;
	frame.error = 0;
	frame.function = fbt->address;
	frame.regs = regs;
	if (unlikely(dbk_stack_is_cramped()))
		dbk_probe_missed(fbt->target, 1);
	else if (fbt->fire)
		fire_other(fbt, regs, first, &frame);
	else
		dbk_probe_fire(&fbt->probe, regs, &frame);
}

/* The kernel has turned preemption off around all handlers of a return: that is what the engine
 * needs. */
static __probe_ctx_inline void fire_at(const struct fbt_set *set, unsigned long ip,
				       struct pt_regs *regs, const struct followed *followed)
{
	struct fbt_probe *fbt;

	dbk_function_returned(regs);
	for (fbt = fbt_first(set, followed->slot); fbt; fbt = fbt->next)
		if (fbt->site == ip && fbt->kind == FBT_RETURN)
			fire(fbt, regs, followed->first);
}

static __probe_ctx noinline void count_missed(const struct fbt_set *set, unsigned long ip,
					      u32 count)
{
	struct fbt_probe *fbt;

	for (fbt = fbt_first(set, fbt_slot(set, ip)); fbt; fbt = fbt->next)
		if (fbt->kind == FBT_RETURN && fbt_is_at(fbt, ip))
			dbk_probe_missed(fbt->target, count);
}

#if defined(DBK_HAVE_RETHOOK_FREELIST) || defined(DBK_HAVE_RETHOOK_POOL)

static typeof(rethook_alloc) *rethook_alloc_found;
static typeof(rethook_free) *rethook_free_found;
static typeof(rethook_try_get) *rethook_try_get_found;
static typeof(rethook_hook) *rethook_hook_found;

/* Whether something may call on_call() that it calls of the kernel's.  None of it can be traced in
 * a kernel that we know; then the kernel need not look after that, which it would do without a word
 * about entries that it leaves out. */
static bool is_traced; /* [C] */

static bool function_is_traced(const char *name)
{
	unsigned long (*location_of)(unsigned long address) = dbk_function("ftrace_location");
	unsigned long address = dbk_symbol(name);

	return !location_of || !address || location_of(address) != 0;
}

/* The kernel's, from entry to return; it frees them. */
struct call {
	struct rethook_node node; /* first: the kernel has no other address of it */
	unsigned long ip;
	struct followed followed;
};

static __probe_ctx_inline bool follow(const struct fbt_set *set, unsigned long ip,
				      struct fbt_probe **slot, struct pt_regs *regs)
{
	struct rethook_node *node;
	struct call *call;

	/* Where RCU is not watching the kernel has no note to give; one that checks the use of RCU complains
	 * before it asks whether it is. */
	if (IS_ENABLED(CONFIG_PROVE_RCU) && !rcu_read_lock_any_held())
		return false;
	node = rethook_try_get_found(set->rethook);
	if (unlikely(!node))
		return false;
	call = container_of(node, struct call, node);
	call->ip = ip;
	call->followed.slot = slot;
	call->followed.first = regs_get_kernel_argument(regs, 0);
	rethook_hook_found(node, regs, true);
	return true;
}

/*
 * Of calls from within a call there are those that an entry's firing makes, which the engine
 * counts. Interrupts are off for the firings, as in on_function(), and so that nothing comes
 * between taking a note and leaving it on the task's stack of calls.
 */
static __probe_ctx void on_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	const struct fbt_set *set = container_of(ops, struct fbt_set, ops);
	unsigned long flags = dbk_host_enter();
	struct fbt_probe **slot = fbt_slot(set, ip), *fbt;
	bool is_wanted = false;

	for (fbt = fbt_first(set, slot); fbt; fbt = fbt->next) {
		if (fbt->site != ip)
			continue;
		if (fbt->kind == FBT_ENTRY)
			fbt_fire_entry(fbt, parent_ip, fregs);
		else if (dbk_probe_is_enabled(fbt->target))
			is_wanted = true;
	}
	if (is_wanted && unlikely(!follow(set, ip, slot, dbk_ftrace_registers(fregs))))
		count_missed(set, ip, 1);
	dbk_host_leave(flags);
}

#ifdef DBK_HAVE_RETHOOK_POOL
static __probe_ctx void on_return(struct rethook_node *node, void *data, unsigned long address,
				  struct pt_regs *regs)
#else
static __probe_ctx void on_return(struct rethook_node *node, void *data, struct pt_regs *regs)
#endif
{
	const struct call *call = container_of(node, struct call, node);

	fire_at(data, call->ip, regs, &call->followed);
}

/* rethook_create() makes a set's rethook with all of its notes.  Return: 0 or a negative errno. */
#ifdef DBK_HAVE_RETHOOK_POOL
static bool find_add_node(void)
{
	return true;
}

static int rethook_create(struct fbt_set *set)
{
	set->rethook = rethook_alloc_found(set, on_return, sizeof(struct call), calls_of(set));
	return PTR_ERR_OR_ZERO(set->rethook);
}
#else
static typeof(rethook_add_node) *rethook_add_node_found;

static bool find_add_node(void)
{
	rethook_add_node_found = dbk_function("rethook_add_node");
	return rethook_add_node_found;
}

static int rethook_create(struct fbt_set *set)
{
	u32 i;

	set->rethook = rethook_alloc_found(set, on_return);
	if (!set->rethook)
		return -ENOMEM;
	for (i = 0; i < calls_of(set); i++) {
		struct call *call = kzalloc(sizeof(*call), GFP_KERNEL);

		if (!call) {
			rethook_free_found(set->rethook);
			return -ENOMEM;
		}
		rethook_add_node_found(set->rethook, &call->node);
	}
	return 0;
}
#endif

bool fbt_returns_take_entries(void)
{
	return !is_traced;
}

bool fbt_returns_init(void)
{
	static const char *const called[] = {
		"rethook_try_get",
		"rethook_hook",
		"arch_rethook_prepare",
		"rcu_is_watching",
		/* 6.12: when a CPU has no note left. */
		"cpumask_next_wrap",
		"_find_next_bit",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(called); i++)
		is_traced |= function_is_traced(called[i]);
	rethook_alloc_found = dbk_function("rethook_alloc");
	rethook_free_found = dbk_function("rethook_free");
	rethook_try_get_found = dbk_function("rethook_try_get");
	rethook_hook_found = dbk_function("rethook_hook");
	return rethook_alloc_found && rethook_free_found && rethook_try_get_found &&
	       rethook_hook_found && find_add_node();
}

int fbt_returns_create(struct fbt_set *set)
{
	set->ops.func = on_call;
	if (is_traced)
		set->ops.flags |= FTRACE_OPS_FL_RECURSION;
	return rethook_create(set);
}

void fbt_returns_free(struct fbt_set *set)
{
	rethook_free_found(set->rethook);
	dbk_host_synchronize();
}

#else

bool fbt_returns_take_entries(void)
{
	return false;
}

bool fbt_returns_init(void)
{
	return false;
}

int fbt_returns_create(struct fbt_set *set)
{
	return -EOPNOTSUPP;
}

void fbt_returns_free(struct fbt_set *set)
{
}

#endif
