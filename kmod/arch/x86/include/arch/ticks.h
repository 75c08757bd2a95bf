/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ticks.h - reading the clock that records are stamped with; for dbk_host_inline.h alone
 */
#ifndef DBK_KMOD_ARCH_TICKS_H
#define DBK_KMOD_ARCH_TICKS_H

#include <linux/jump_label.h>
#include <asm/msr.h>

/* On when the kernel's own timekeeper reads the TSC; settled at init, before any probe. */
DECLARE_STATIC_KEY_FALSE(dbk_clock_is_tsc);

/* Unordered: a record's time may be that of a neighbouring instruction, never of another record. */
#define dbk_host_ticks dbk_host_ticks
static __probe_ctx_inline uint64_t dbk_host_ticks(void)
{
	if (static_branch_likely(&dbk_clock_is_tsc))
		return rdtsc();
	return dbk_host_mono_ns();
}

#define dbk_host_ticks_are_quick dbk_host_ticks_are_quick
static __probe_ctx_inline bool dbk_host_ticks_are_quick(void)
{
	return static_branch_likely(&dbk_clock_is_tsc);
}

static __probe_ctx_inline uint64_t dbk_host_quick_ticks(void)
{
	return rdtsc();
}

#endif /* DBK_KMOD_ARCH_TICKS_H */
