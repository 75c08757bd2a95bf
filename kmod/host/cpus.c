// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpus.c - the engine's host: CPUs that come and go, something to be done on every CPU
 */
#include <linux/cpuhotplug.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/smp.h>

#include "kmod/host/host.h"
#include "kmod/state.h"

static DEFINE_MUTEX(cpus_mutex);	/* [H] */
static enum cpuhp_state hotplug_state; /* [C] */

void dbk_host_cpus_lock(void)
{
	mutex_lock(&cpus_mutex);
}

void dbk_host_cpus_unlock(void)
{
	mutex_unlock(&cpus_mutex);
}

/* Before the CPU starts.  Without memory it starts all the same: what it fires is drops. */
static int on_cpu_prepare(unsigned int cpu)
{
	if (!dbk_engine_cpu_up(dbk.engine, cpu))
		pr_warn("no memory for cpu %u: what it fires is dropped until there is some\n", cpu);
	return 0;
}

static int on_cpu_dead(unsigned int cpu)
{
	dbk_engine_cpu_down(dbk.engine, cpu);
	return 0;
}

/* Calls on_cpu_prepare() for those that are online, too. */
int dbk_cpus_init(void)
{
	int state = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "daybreak:memory", on_cpu_prepare,
				      on_cpu_dead);

	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

void dbk_cpus_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}

struct each_cpu {
	void (*run)(void *argument, uint32_t cpu);
	void *argument;
};

/* An interrupt on its CPU: no clause is under way there. */
static void run_here(void *info)
{
	const struct each_cpu *each = info;

	each->run(each->argument, raw_smp_processor_id());
}

/* For a CPU that is offline: nothing else touches what it left. */
static void run_for(const struct each_cpu *each, unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	each->run(each->argument, cpu);
	local_irq_restore(flags);
}

void dbk_host_on_cpu(uint32_t cpu, void (*run)(void *argument, uint32_t cpu), void *argument)
{
	struct each_cpu each = { .run = run, .argument = argument };

	cpus_read_lock();
	if (smp_call_function_single(cpu, run_here, &each, 1))
		run_for(&each, cpu);
	cpus_read_unlock();
}

void dbk_host_each_cpu(void (*run)(void *argument, uint32_t cpu), void *argument)
{
	struct each_cpu each = { .run = run, .argument = argument };
	unsigned int cpu;

	cpus_read_lock();
	on_each_cpu(run_here, &each, 1);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			run_for(&each, cpu);
	cpus_read_unlock();
}
