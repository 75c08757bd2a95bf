// SPDX-License-Identifier: GPL-2.0-only
/*
 * callable.c - calls of the kernel's functions through pointers, where the processor tracks them
 *              (docs/design/0089-calls-that-are-tracked.md)
 *
 * With IBT (Intel's processors since 2020, kernels since 5.18, Debian's 6.12) a call through a pointer must
 * come to an endbr, else the kernel ends in a BUG.  Of functions that are not exported, and whose address the
 * kernel itself never takes, it has overwritten theirs.  Such a call goes through a trampoline, which
 * returns to the function.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>

#include "arch/callable.h"

#ifdef DBK_HAS_TRAMPOLINES
#include <asm/ibt.h>

extern void *const dbk_trampolines[DBK_TRAMPOLINES]; /* trampolines.S */
extern unsigned long dbk_trampoline_targets[DBK_TRAMPOLINES];
unsigned long dbk_trampoline_targets[DBK_TRAMPOLINES];

static bool needs_trampoline(unsigned long address)
{
#ifdef DBK_CALLS_BY_TRAMPOLINE
	return true;
#else
	return cpu_feature_enabled(X86_FEATURE_IBT) && *(const u32 *)address != gen_endbr();
#endif
}

void *dbk_callable(unsigned long address)
{
	unsigned int i;

	if (address == 0 || !needs_trampoline(address))
		return (void *)address;
	for (i = 0; i < DBK_TRAMPOLINES; i++) {
		/* Another caller may be looking for one as well: a program's code is read without [S]. */
		unsigned long taken = cmpxchg(&dbk_trampoline_targets[i], 0, address);

		if (taken == 0 || taken == address)
			return dbk_trampolines[i];
	}
	return NULL;
}
#else
void *dbk_callable(unsigned long address)
{
	return (void *)address;
}
#endif
