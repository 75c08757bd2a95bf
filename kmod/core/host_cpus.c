// SPDX-License-Identifier: GPL-2.0-only
/*
 * host_cpus.c - the engine's host: something to be done on every CPU
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/smp.h>

#include "engine/host.h"

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

void dbk_host_each_cpu(void (*run)(void *argument, uint32_t cpu), void *argument)
{
	struct each_cpu each = { .run = run, .argument = argument };
	unsigned long flags;
	unsigned int cpu;

	cpus_read_lock();
	on_each_cpu(run_here, &each, 1);
	/* What one that was taken offline left behind, nobody else touches. */
	for_each_possible_cpu(cpu) {
		if (cpu_online(cpu))
			continue;
		local_irq_save(flags);
		run(argument, cpu);
		local_irq_restore(flags);
	}
	cpus_read_unlock();
}
