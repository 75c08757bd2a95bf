// SPDX-License-Identifier: GPL-2.0-only
/*
 * last_exit.c - which of a process's threads leaves last, for proc:::exit
 *
 * The last two threads of a process may both pass sched_process_exit after both were counted out.  The first to leave its
 * process's mark here is taken for the last.
 */
#include <linux/hash.h>
#include <linux/sched/signal.h>

#include "kmod/providers/stable.h"

#define MARK_BITS 8
static u64 marks[1 << MARK_BITS];

__probe_ctx bool dbk_is_last_exit(const struct task_struct *task)
{
	/* Unique for a while: when the leader was born, and its id. */
	u64 mark = task->group_leader->start_boottime ^ (u64)task->tgid << 40;

	return atomic_read(&task->signal->live) == 0 && xchg(&marks[hash_64(mark, MARK_BITS)], mark) != mark;
}
