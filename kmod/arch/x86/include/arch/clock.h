/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock.h - the clock that records are stamped with
 */
#ifndef DBK_KMOD_ARCH_CLOCK_H
#define DBK_KMOD_ARCH_CLOCK_H

#include <linux/types.h>
#include <asm/tsc.h>

/** dbk_clock_init() - chooses the clock of records; before any ring exists */
void dbk_clock_init(void);

/** dbk_clock_tsc() - whether records are stamped with the TSC */
bool dbk_clock_tsc(void);

/** dbk_clock_is_unstable() - whether the kernel has found that the TSC cannot be relied on */
static inline bool dbk_clock_is_unstable(void)
{
	return check_tsc_unstable();
}

/** dbk_clock_ticks_per_second() - of that clock, as the kernel has it now */
u64 dbk_clock_ticks_per_second(void);

#endif /* DBK_KMOD_ARCH_CLOCK_H */
