/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * count.h - counters that an interrupt cannot make wrong
 */
#ifndef DBK_ENGINE_COUNT_H
#define DBK_ENGINE_COUNT_H

#include "engine/api/platform.h"

/** dbk_count() - adds to a counter that this CPU alone writes, preemption off: an interrupt or an
 * NMI that counts, too, comes before or after it, on any machine */
static __probe_ctx_inline void dbk_count(uint64_t *counter, uint64_t count)
{
#ifdef __x86_64__
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(count));
#else
	__atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
#endif
}

#endif /* DBK_ENGINE_COUNT_H */
