// SPDX-License-Identifier: GPL-2.0-only
/*
 * processes.c - the processes that live; see processes.h
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "kmod/kernel/processes.h"

#define LOCK_TRIES_MAX 20u /* 1 ms apart */

/* Under RCU.  The main thread may have ended before the others. */
static struct task_struct *thread_of(struct pid *pid)
{
	struct task_struct *process = pid_task(pid, PIDTYPE_TGID), *thread;

	if (!process || process->flags & PF_KTHREAD)
		return NULL;
	for_each_thread(process, thread)
		if (READ_ONCE(thread->mm))
			return thread;
	return NULL;
}

struct task_struct *dbk_process_next(struct task_struct *last)
{
	int number = last ? last->tgid + 1 : 1;
	struct task_struct *task;
	struct pid *pid;

	if (last)
		put_task_struct(last);
	do {
		cond_resched();
		rcu_read_lock();
		pid = idr_get_next(&init_pid_ns.idr, &number);
		task = pid ? thread_of(pid) : NULL;
		if (task)
			get_task_struct(task);
		rcu_read_unlock();
		number++;
	} while (pid && !task);
	return task;
}

/* A thread that has ended gives way to one that lives. */
static bool other_take(struct task_struct **task)
{
	struct task_struct *other;

	rcu_read_lock();
	other = thread_of(task_tgid(*task));
	if (other)
		get_task_struct(other);
	rcu_read_unlock();
	if (!other)
		return false;
	put_task_struct(*task);
	*task = other;
	return true;
}

struct mm_struct *dbk_process_lock(struct task_struct **task)
{
	struct mm_struct *mm;
	u32 i;

	while (!(mm = get_task_mm(*task)))
		if (!other_take(task))
			return NULL;
	for (i = 0; i < LOCK_TRIES_MAX; i++) {
		if (mmap_read_trylock(mm))
			return mm;
		usleep_range(1000, 2000);
	}
	mmput_async(mm);
	return ERR_PTR(-EBUSY);
}

/* The memory of one that was killed meanwhile goes elsewhere: what it waits for may never come. */
void dbk_process_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	mmput_async(mm);
}
