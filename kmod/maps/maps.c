// SPDX-License-Identifier: GPL-2.0-only
/*
 * maps.c - the hooks that see mappings of code come and processes go; see maps.h
 */
#include <linux/binfmts.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "arch/ftrace_args.h"
#include "kmod/kernel/function_hook.h"
#include "kmod/kernel/tracepoint.h"
#include "kmod/maps/log.h"
#include "kmod/maps/maps.h"
#include "kmod/state.h"

#define LIST_TRIES_MAX                                                                             \
	20u /* 1 ms apart: a process that holds its own mmap_lock that long is not listed */
#define LIST_SPARE 64u /* processes that begin while they are counted */

static u32 users;   /* [S] */
static bool hooked; /* [S] */

/* ---- what happens ------------------------------------------------------------------ */

/* setup_new_exec(binprm): after the old program's memory is gone, before the new one's is there. */
static void on_exec(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	dbk_maps_log_image(current, DBK_MAP_CAUSE_EXEC, 0, ktime_get_mono_fast_ns());
}

/* perf_event_mmap(vma), under the write side of mmap_lock. */
static void on_mmap(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)dbk_ftrace_argument(fregs, 0);

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm)
		return;
	dbk_maps_log_mapping(current, vma, ktime_get_mono_fast_ns());
}

/* The mappings cannot change meanwhile: mmap_lock is held, or its process has not run yet. */
static void list_mappings(const struct task_struct *task, struct mm_struct *mm, u64 mono_ns)
{
	VMA_ITERATOR(iterator, mm, 0);
	struct vm_area_struct *vma;

	rcu_read_lock();
	for_each_vma(iterator, vma) if (vma->vm_flags & VM_EXEC)
		dbk_maps_log_mapping(task, vma, mono_ns);
	rcu_read_unlock();
}

static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	u64 now = ktime_get_mono_fast_ns();

	if (child->pid != child->tgid || child->flags & PF_KTHREAD || !child->mm)
		return;
	if (child->mm == parent->mm) {
		dbk_maps_log_image(child, DBK_MAP_CAUSE_SHARED, parent->tgid, now);
		return;
	}
	dbk_maps_log_image(child, DBK_MAP_CAUSE_FORK, parent->tgid, now);
	list_mappings(child, child->mm, now);
}

static void on_exit(void *data, struct task_struct *task)
{
	/* Of two threads that end at once both may enter it. */
	if (!(task->flags & PF_KTHREAD) && atomic_read(&task->signal->live) == 0)
		dbk_maps_log_exit(task, ktime_get_mono_fast_ns());
}

/* ---- what lives already -------------------------------------------------------------- */

static bool lock_soon(struct mm_struct *mm)
{
	u32 i;

	for (i = 0; i < LIST_TRIES_MAX; i++) {
		if (mmap_read_trylock(mm))
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

/* What changes meanwhile is entered by the hooks with later times. */
static void list_process(struct task_struct *task)
{
	struct mm_struct *mm = get_task_mm(task);

	if (!mm)
		return;
	if (lock_soon(mm)) {
		u64 now = ktime_get_mono_fast_ns();

		if (READ_ONCE(task->mm) == mm) {
			dbk_maps_log_image(task, DBK_MAP_CAUSE_LISTED, 0, now);
			list_mappings(task, mm, now);
		}
		mmap_read_unlock(mm);
	}
	mmput(mm);
}

static u32 processes_take(struct task_struct **tasks, u32 room)
{
	struct task_struct *task;
	u32 count = 0;

	rcu_read_lock();
	for_each_process(task)
	{
		if (task->flags & PF_KTHREAD)
			continue;
		if (count < room)
			tasks[count] = get_task_struct(task);
		count++;
	}
	rcu_read_unlock();
	return count;
}

static void list_processes(void)
{
	u32 room = processes_take(NULL, 0) + LIST_SPARE, count, i;
	struct task_struct **tasks = kvmalloc_array(room, sizeof(*tasks), GFP_KERNEL);

	if (!tasks)
		return;
	count = min(processes_take(tasks, room), room);
	for (i = 0; i < count; i++) {
		list_process(tasks[i]);
		put_task_struct(tasks[i]);
	}
	kvfree(tasks);
}

/* ---- hooks ----------------------------------------------------------------------------- */

static struct dbk_function_hook function_hooks[] = {
	{ "setup_new_exec", { .func = on_exec } },
	{ "perf_event_mmap", { .func = on_mmap } },
};

static struct tracepoint_hook {
	const char *name;
	void *callback;
} tracepoint_hooks[] = {
	{ "sched_process_fork", on_fork },
	{ "sched_process_exit", on_exit },
};

static int tracepoint_hook(const struct tracepoint_hook *hook)
{
	struct tracepoint *tracepoint = dbk_tracepoint_find(hook->name);

	return tracepoint ? tracepoint_probe_register(tracepoint, hook->callback, NULL) : -ENOENT;
}

static void unhook(u32 functions, u32 tracepoints)
{
	while (functions-- > 0)
		dbk_function_unhook(&function_hooks[functions]);
	while (tracepoints-- > 0)
		tracepoint_probe_unregister(dbk_tracepoint_find(tracepoint_hooks[tracepoints].name),
					    tracepoint_hooks[tracepoints].callback, NULL);
	tracepoint_synchronize_unregister();
}

/* All or none: without one of them what the others say would hold for too long. */
static int hook(void)
{
	u32 functions = 0, tracepoints = 0;
	int err = 0;

	while (!err && functions < ARRAY_SIZE(function_hooks))
		err = dbk_function_hook(&function_hooks[functions++]);
	if (err)
		functions--;
	while (!err && tracepoints < ARRAY_SIZE(tracepoint_hooks))
		err = tracepoint_hook(&tracepoint_hooks[tracepoints++]);
	if (err && tracepoints > 0)
		tracepoints--;
	if (err)
		unhook(functions, tracepoints);
	return err;
}

void dbk_maps_get(void)
{
	int err = -ENOMEM;

	dbk_state_assert();
	if (users++ != 0)
		return;
	if (dbk_maps_log_create()) {
		dbk_maps_log_begin();
		err = hook();
	}
	hooked = !err;
	if (err) {
		pr_warn("maps of processes are not kept (error %d): user addresses stay numbers\n",
			-err);
		return;
	}
	list_processes();
}

void dbk_maps_put(void)
{
	dbk_state_assert();
	if (--users != 0 || !hooked)
		return;
	unhook(ARRAY_SIZE(function_hooks), ARRAY_SIZE(tracepoint_hooks));
	dbk_maps_log_end();
	hooked = false;
}

void dbk_maps_destroy(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(function_hooks); i++)
		dbk_function_hook_free(&function_hooks[i]);
	dbk_maps_log_destroy();
}
