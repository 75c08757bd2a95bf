// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread.c - the engine's host: the current thread, less often asked
 */
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "engine/api/host.h"
#include "kmod/host/host.h"

/* 120: deeper than any tree of processes that a person made, and what DBK_WORK_WALK pays for. */
#define PROGENY_DEPTH_MAX 120

static DEFINE_PER_CPU(u64, random_state);

void dbk_host_cpu_place(uint32_t cpu, uint32_t *package_ret, uint32_t *node_ret)
{
	*package_ret = cpu_possible(cpu) ? topology_physical_package_id(cpu) : 0;
	*node_ret = cpu_possible(cpu) ? cpu_to_node(cpu) : 0;
}

void dbk_thread_init(void)
{
	int cpu;

	/* Never 0: xorshift would stay there. */
	for_each_possible_cpu(cpu)
		per_cpu(random_state, cpu) = get_random_u64() | 1;
}

/* A parent may be leaving on another CPU: its fields are read so that they may fault. */
static __probe_ctx bool parent_of(struct task_struct **task, u32 *tgid_ret)
{
	struct task_struct *parent __dbk_unset;

	if (!dbk_host_load(&parent, (unsigned long)&(*task)->real_parent, sizeof(parent)) ||
	    !dbk_host_load(tgid_ret, (unsigned long)&parent->tgid, sizeof(*tgid_ret)))
		return false;
	*task = parent;
	return true;
}

__probe_ctx uint32_t dbk_host_ppid(void)
{
	struct task_struct *task = current;
	u32 tgid = 0;

	return parent_of(&task, &tgid) ? tgid : 0;
}

__probe_ctx bool dbk_host_progenyof(uint32_t pid)
{
	struct task_struct *task = current;
	u32 tgid = task->tgid;
	unsigned int depth;

	for (depth = 0; depth < PROGENY_DEPTH_MAX; depth++) {
		struct task_struct *child = task;

		if (tgid == pid)
			return true;
		/* init_task is its own parent. */
		if (!parent_of(&task, &tgid) || task == child)
			return false;
	}
	return false;
}

/* What the scheduler has booked, and what runs since. */
__probe_ctx uint64_t dbk_host_vtimestamp(void)
{
	u64 booked = current->se.sum_exec_runtime;
	s64 since = sched_clock_cpu(raw_smp_processor_id()) - current->se.exec_start;

	return since > 0 ? booked + since : booked;
}

__probe_ctx uint32_t dbk_host_ipl(void)
{
	return dbk_context_level();
}

uint64_t dbk_host_secret(void)
{
	return get_random_u64();
}

__probe_ctx uint64_t dbk_host_random(void)
{
	u64 x = __this_cpu_read(random_state);

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	__this_cpu_write(random_state, x);
	return x;
}
