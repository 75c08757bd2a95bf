// SPDX-License-Identifier: GPL-2.0-only
/*
 * maps.c - the hooks that see mappings of code come and processes go; see maps.h
 */
#include <linux/binfmts.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ns_common.h>
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>

#include "arch/ftrace_args.h"
#include "kmod/kernel/function_hook.h"
#include "kmod/kernel/processes.h"
#include "kmod/kernel/symbols.h"
#include "kmod/kernel/tracepoint.h"
#include "kmod/maps/log.h"
#include "kmod/maps/maps.h"
#include "kmod/state.h"

#define LIST_AGAIN_NS  (60 * (u64)NSEC_PER_SEC) /* where there is no more memory: it may be in vain */
#define AREAS_PER_CODE 4u /* a library has one of code, and four of other rights at most */
/* Any user's process may have 65530 areas (vm.max_map_count), and hooks keep their CPU.  Of fifty
 * libraries it has some 250. */
#define HOOK_AREAS_MAX 256u

static u32 users;	  /* [S] */
static bool hooked;	  /* [S] */
static u64 listed_ns;	  /* [S] when what lives was listed last */
static bool knows_mounts; /* [C] while hooked */
static int (*work_add)(struct task_struct *task, struct callback_head *work,
		       enum task_work_notify_mode mode); /* [C] while hooked; NULL: there is none */

/* A child that is listed before it is in user space for the first time. */
struct list_later {
	struct callback_head head;
	u64 forked_ns;
};

/* ---- namespaces -------------------------------------------------------------------- */

/* Its structure is the kernel's own, and begins with what all namespaces have; mounts_look() has
 * seen that it does. */
static const struct ns_common *common_of(const struct mnt_namespace *mounts)
{
	return (const struct ns_common *)mounts;
}

static void mounts_look(void)
{
	const void *wanted = (const void *)dbk_symbol("mntns_operations"), *found = NULL;

	knows_mounts = wanted &&
		       copy_from_kernel_nofault(&found, &common_of(init_task.nsproxy->mnt_ns)->ops,
						sizeof(found)) == 0 &&
		       found == wanted;
}

/* Those of @task, which cannot leave them meanwhile: it is the current one or has not run yet, or
 * its task_lock() is held.  Return: where they are put; NULL: they are not known. */
static const struct dbk_map_namespaces *namespaces_of(struct task_struct *task,
						      struct dbk_map_namespaces *room)
{
	const struct mnt_namespace *mounts = task->nsproxy ? task->nsproxy->mnt_ns : NULL;
	const struct pid_namespace *pids;

	if (!knows_mounts || !mounts)
		return NULL;
	rcu_read_lock();
	pids = task_active_pid_ns(task);
	room->pid = pids && pids != &init_pid_ns ? pids->ns.inum : 0;
	rcu_read_unlock();
	room->mount = mounts != init_task.nsproxy->mnt_ns ? common_of(mounts)->inum : 0;
	return room;
}

/* ---- what happens ------------------------------------------------------------------ */

/* setup_new_exec(binprm): after the old program's memory is gone, before the new one's is there. */
static void on_exec(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct dbk_map_namespaces room;

	dbk_maps_log_image(current, DBK_MAP_CAUSE_EXEC, 0, namespaces_of(current, &room),
			   ktime_get_mono_fast_ns());
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

/* copy_vma(&vma, address, bytes, page, ...), for mremap(2), under the write side of mmap_lock. When
 * it fails nothing is there: no code to be named wrongly; what fails later unmaps it. */
static void on_move(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = *(struct vm_area_struct **)dbk_ftrace_argument(fregs, 0);

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm)
		return;
	dbk_maps_log_moved(current, vma, dbk_ftrace_argument(fregs, 1),
			   dbk_ftrace_argument(fregs, 2), dbk_ftrace_argument(fregs, 3),
			   ktime_get_mono_fast_ns());
}

/* What unmap_vmas(tlb, the others, vma, begin, end, ...) takes away besides its vma: a copy of the
 * state that it looks through the tree with, in which the others are by number or by address. */
#ifdef DBK_HAVE_UNMAP_VMAS_STATE
static struct ma_state others_of(struct ftrace_regs *fregs, unsigned long *last_ret)
{
	*last_ret = dbk_ftrace_argument(fregs, 5) - 1;
	return *(struct ma_state *)dbk_ftrace_argument(fregs, 1);
}
#else
static struct ma_state others_of(struct ftrace_regs *fregs, unsigned long *last_ret)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)dbk_ftrace_argument(fregs, 2);
	MA_STATE(others, (struct maple_tree *)dbk_ftrace_argument(fregs, 1), vma->vm_end,
		 vma->vm_end);

	*last_ret = dbk_ftrace_argument(fregs, 4) - 1;
	return others;
}
#endif

/* Whether there is code in what is unmapped, or so much that it is not looked at. */
static bool may_have_code(struct vm_area_struct *vma, struct ftrace_regs *fregs)
{
	unsigned long last;
	struct ma_state others = others_of(fregs, &last);
	u32 looked = 0;

	do {
		if (vma->vm_flags & VM_EXEC || ++looked > HOOK_AREAS_MAX)
			return true;
	} while ((vma = mas_find(&others, last)) != NULL);
	return false;
}

/* unmap_vmas(), under mmap_lock: what it is given is not the process's from now on.  It is not
 * called where only pages go, as for MADV_DONTNEED and truncate(2), and for a whole process when
 * that has no memory any more, or its new program's. */
static void on_unmap(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)dbk_ftrace_argument(fregs, 2);
	unsigned long end = dbk_ftrace_argument(fregs, 4);

	if (vma->vm_mm != current->mm)
		return;
	/* Mostly there is one. */
	if (vma->vm_end >= end ? vma->vm_flags & VM_EXEC : may_have_code(vma, fregs))
		dbk_maps_log_unmapped(current, vma->vm_start, end, ktime_get_mono_fast_ns());
}

/* The mappings cannot change meanwhile: mmap_lock is held, or its process has not run yet and RCU
 * is. */
static void list_mappings(const struct task_struct *task, struct mm_struct *mm, u64 mono_ns,
			  bool may_rest)
{
	VMA_ITERATOR(iterator, mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(iterator, vma)
	{
		if (vma->vm_flags & VM_EXEC)
			dbk_maps_log_mapping(task, vma, mono_ns);
		if (may_rest)
			cond_resched();
	}
}

/* In the child, which has mapped and unmapped nothing yet. */
static void on_child(struct callback_head *head)
{
	struct list_later *later = container_of(head, struct list_later, head);
	struct mm_struct *mm = current->mm;

	if (mm) { /* else it was killed first */
		mmap_read_lock(mm);
		list_mappings(current, mm, later->forked_ns, true);
		mmap_read_unlock(mm);
	}
	kfree(later);
	module_put(THIS_MODULE); /* pid_files_exit() waits until this has returned, too */
}

static bool list_later(struct task_struct *child, u64 forked_ns)
{
	struct list_later *later = kmalloc(sizeof(*later), GFP_NOWAIT | __GFP_NOWARN);

	if (later && work_add && try_module_get(THIS_MODULE)) {
		init_task_work(&later->head, on_child);
		later->forked_ns = forked_ns;
		if (!work_add(child, &later->head, TWA_RESUME))
			return true;
		module_put(THIS_MODULE);
	}
	kfree(later);
	return false;
}

/* Preemption is off. */
static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	const struct dbk_map_namespaces *namespaces;
	u64 now = ktime_get_mono_fast_ns();
	struct dbk_map_namespaces room;

	if (child->pid != child->tgid || child->flags & PF_KTHREAD || !child->mm)
		return;
	namespaces = namespaces_of(child, &room);
	if (child->mm == parent->mm) {
		dbk_maps_log_image(child, DBK_MAP_CAUSE_SHARED, parent->tgid, namespaces, now);
		return;
	}
	dbk_maps_log_image(child, DBK_MAP_CAUSE_FORK, parent->tgid, namespaces, now);
	if (child->mm->map_count <= HOOK_AREAS_MAX) {
		rcu_read_lock();
		list_mappings(child, child->mm, now, false);
		rcu_read_unlock();
	} else if (!list_later(child, now)) {
		dbk_maps_log_lost(now); /* so what lives is listed soon */
	}
}

static void on_exit(void *data, struct task_struct *task)
{
	/* Of two threads that end at once both may enter it. */
	if (!(task->flags & PF_KTHREAD) && atomic_read(&task->signal->live) == 0)
		dbk_maps_log_exit(task, ktime_get_mono_fast_ns());
}

/* ---- what lives already -------------------------------------------------------------- */

/* What changes meanwhile is entered by the hooks with later times. */
static bool list_process(struct task_struct **process)
{
	const struct dbk_map_namespaces *namespaces;
	struct mm_struct *mm = dbk_process_lock(process);
	struct task_struct *task = *process;
	struct dbk_map_namespaces room;
	u64 now;

	if (IS_ERR_OR_NULL(mm))
		return !mm; /* it has ended */
	now = ktime_get_mono_fast_ns(); /* what changed before is not in the list, what changes later has hooks */
	task_lock(task);
	namespaces = namespaces_of(task, &room);
	task_unlock(task);
	if (READ_ONCE(task->mm) == mm) {
		dbk_maps_log_image(task, DBK_MAP_CAUSE_LISTED, 0, namespaces, now);
		list_mappings(task, mm, now, true);
	}
	dbk_process_unlock(mm);
	return true;
}

/* Return: 0; -EINTR: the caller is killed. */
static int list_processes(void)
{
	struct task_struct *task = NULL;
	u32 left_out = 0;
	int err = 0;

	listed_ns = ktime_get_mono_fast_ns();
	while (!err && (task = dbk_process_next(task)) != NULL) {
		left_out += !list_process(&task);
		err = fatal_signal_pending(current) ? -EINTR : 0;
	}
	if (task)
		put_task_struct(task);
	if (left_out)
		pr_warn("%u processes could not be listed: their user addresses stay numbers until they execute a program\n",
			left_out);
	return err;
}

/* How many mappings of code there may be. */
static u64 living_mappings(void)
{
	struct task_struct *task;
	u64 count = 0;

	rcu_read_lock();
	for_each_process(task)
	{
		task_lock(task);
		if (task->mm && !(task->flags & PF_KTHREAD))
			count += READ_ONCE(task->mm->map_count) / AREAS_PER_CODE + 1;
		task_unlock(task);
	}
	rcu_read_unlock();
	return count;
}

void dbk_maps_look(void)
{
	bool has_grown;

	dbk_state_assert();
	if (!hooked)
		return;
	has_grown = dbk_maps_log_grow();
	if (dbk_maps_log_has_lost(listed_ns) &&
	    (has_grown || ktime_get_mono_fast_ns() - listed_ns >= LIST_AGAIN_NS))
		list_processes();
}

/* ---- hooks ----------------------------------------------------------------------------- */

static struct dbk_function_hook function_hooks[] = {
	{ "setup_new_exec", { .func = on_exec } },
	{ "perf_event_mmap", { .func = on_mmap } },
	{ "copy_vma", { .func = on_move } },
	{ "unmap_vmas", { .func = on_unmap } },
};

static struct dbk_tracepoint_hook tracepoint_hooks[] = {
	{ "sched_process_fork", on_fork },
	{ "sched_process_exit", on_exit },
};

static void unhook(u32 functions)
{
	u32 i;

	while (functions-- > 0)
		dbk_function_unhook(&function_hooks[functions]);
	for (i = 0; i < ARRAY_SIZE(tracepoint_hooks); i++)
		dbk_tracepoint_unhook(&tracepoint_hooks[i]);
	tracepoint_synchronize_unregister();
}

/* All or none: without one of them what the others say would hold for too long. */
static int hook(void)
{
	u32 functions = 0, i;
	int err = 0;

	while (!err && functions < ARRAY_SIZE(function_hooks))
		err = dbk_function_hook(&function_hooks[functions++]);
	if (err)
		functions--;
	for (i = 0; i < ARRAY_SIZE(tracepoint_hooks) && !err; i++)
		err = dbk_tracepoint_hook(&tracepoint_hooks[i]);
	if (err)
		unhook(functions);
	return err;
}

int dbk_maps_get(void)
{
	int err = -ENOMEM;

	dbk_state_assert();
	if (users++ != 0)
		return 0;
	if (dbk_maps_log_create(living_mappings())) {
		mounts_look();
		work_add = dbk_function("task_work_add");
		dbk_maps_log_begin();
		err = hook();
	}
	hooked = !err;
	if (err) {
		pr_warn("maps of processes are not kept (error %d): user addresses stay numbers\n",
			-err);
		return 0;
	}
	return list_processes();
}

void dbk_maps_put(void)
{
	dbk_state_assert();
	if (--users != 0 || !hooked)
		return;
	unhook(ARRAY_SIZE(function_hooks));
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
