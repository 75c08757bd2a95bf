// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched.c - provider sched: which thread a CPU runs, and why it stops
 *
 *   probe    fires in                    arguments
 *   off-cpu  the thread that leaves      arg0, arg1: the task_struct of the next one
 *   sleep    ... because it waits        none
 *   preempt  ... although it could run   none
 *   wakeup   the waker                   arg0, arg1: the task_struct of the sleeper
 *
 * sleep and preempt fire before off-cpu.
 */
#include <linux/sched.h>

#include "kmod/providers/site.h"

enum { SWITCH, WAKING, SITES };
enum { OFF_CPU, SLEEP, PREEMPT, WAKEUP, PROBES };

static struct dbk_site_probe probes[PROBES] = {
	[OFF_CPU] = { "off-cpu", SWITCH, 2 },
	[SLEEP] = { "sleep", SWITCH, 0 },
	[PREEMPT] = { "preempt", SWITCH, 0 },
	[WAKEUP] = { "wakeup", WAKING, 2 },
};

static __probe_ctx void on_switch(void *site, bool preempt, struct task_struct *prev,
				  struct task_struct *next, unsigned int prev_state)
{
	u64 args[] = { (unsigned long)next, (unsigned long)next };
	bool could_run = preempt || prev_state == TASK_RUNNING;

	/* The idle thread leaves because there is something to do, which is neither. */
	if (prev->pid != 0)
		dbk_site_fire(site, &probes[could_run ? PREEMPT : SLEEP], args);
	dbk_site_fire(site, &probes[OFF_CPU], args);
}

static __probe_ctx void on_waking(void *site, struct task_struct *task)
{
	u64 args[] = { (unsigned long)task, (unsigned long)task };

	dbk_site_fire(site, &probes[WAKEUP], args);
}

static struct dbk_site sites[SITES] = {
	[SWITCH] = { "sched_switch", on_switch },
	[WAKING] = { "sched_waking", on_waking },
};

static const struct dbk_site_provider sched = {
	.provider = &dbk_provider_sched,
	.sites = sites,
	.probes = probes,
	.site_count = SITES,
	.probe_count = PROBES,
};

DBK_SITE_PROVIDER(sched, "sched");
