// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - the engine's host: which clock records are stamped with
 *
 * The TSC costs some 50 instructions less than ktime_get_mono_fast_ns() and is
 * as good exactly when the kernel's own timekeeper reads it.  CPU flags do not
 * tell that, so the timekeeper is asked: a snapshot taken between two reads of
 * the TSC lies between them, time after time, only if it is made of the TSC.
 */
#include <linux/jump_label.h>
#include <linux/sched/clock.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <asm/tsc.h>

#include "engine/api/host.h"
#include "arch/clock.h"

DEFINE_STATIC_KEY_FALSE(dbk_clock_is_tsc);

/* 16 snapshots: another counter that runs between two TSC reads once does not do it again. */
#define CLOCK_TRIES 16
/* 4: a hypervisor that takes the CPU away between two readings does not do it each time. */
#define TOGETHER_TRIES 4

static bool timekeeper_reads_tsc(void)
{
	struct system_time_snapshot snapshot;
	unsigned int i;

	for (i = 0; i < CLOCK_TRIES; i++) {
		u64 before = rdtsc_ordered();
		u64 after;

		ktime_get_snapshot(&snapshot);
		after = rdtsc_ordered();
		if (snapshot.cycles < before || snapshot.cycles > after)
			return false;
	}
	return true;
}

void dbk_clock_init(void)
{
	if (boot_cpu_has(X86_FEATURE_TSC) && tsc_khz != 0 && timekeeper_reads_tsc())
		static_branch_enable(&dbk_clock_is_tsc);
}

bool dbk_clock_tsc(void)
{
	return static_key_enabled(&dbk_clock_is_tsc);
}

u64 dbk_clock_ticks_per_second(void)
{
	return dbk_clock_tsc() ? (u64)tsc_khz * 1000 : NSEC_PER_SEC;
}

/* Of some tries the one that took the shortest time. */
void dbk_host_clocks(struct dbk_clocks *clocks_ret)
{
	u64 least = 0;
	unsigned int i;

	for (i = 0; i < TOGETHER_TRIES; i++) {
		struct dbk_clocks clocks;
		unsigned long flags;
		u64 took;

		local_irq_save(flags);
		clocks.ticks = dbk_host_ticks();
		clocks.mono_ns = dbk_host_mono_ns();
		clocks.boot_ns = ktime_get_boot_fast_ns();
		clocks.wall_ns = ktime_get_real_fast_ns();
		took = dbk_host_ticks() - clocks.ticks;
		local_irq_restore(flags);
		if (i == 0 || took < least) {
			least = took;
			*clocks_ret = clocks;
		}
	}
}

__probe_ctx uint64_t dbk_host_wall_ns(void)
{
	return ktime_get_real_fast_ns();
}
