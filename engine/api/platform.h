/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * platform.h - the few words that the kernel and user space spell differently
 *
 * The engine's sources include this and nothing of either world directly.  They
 * use fixed-width types, memcpy/memset/memcmp/memmove, negative errno values
 * and the atomics below; everything else comes through host.h.
 */
#ifndef DBK_ENGINE_PLATFORM_H
#define DBK_ENGINE_PLATFORM_H

#ifdef __KERNEL__

#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/stdarg.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#ifndef INT64_MAX
#define INT64_MAX S64_MAX
#define INT64_MIN S64_MIN
#endif

#else /* user space */

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef likely
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

#endif

/*
 * Everything that may run inside a probe: in NMI, under any lock, in a dying
 * kernel.  It lands in a section of its own, so that tests/lint/probe_ctx.py can
 * read from the relocations that it calls nothing else (but the names in
 * probe_ctx_allowed.txt).  In the kernel it is also invisible to ftrace, and has no stack
 * protector, which panics and logs.
 */
#ifdef __KERNEL__
#define __probe_ctx notrace __no_stack_protector __attribute__((section(".text.dbk_probe")))
#else
#define __probe_ctx __attribute__((section(".text.dbk_probe")))
#endif
#define __probe_ctx_inline __probe_ctx inline __attribute__((always_inline))

/* A variable of probe context that is written before it is read.  Where the kernel clears every one
 * (CONFIG_INIT_STACK_ALL_ZERO), a firing shall not pay for it. */
#if defined(__KERNEL__) && __has_attribute(uninitialized)
#define __dbk_unset __attribute__((uninitialized))
#else
#define __dbk_unset
#endif

/* Atomics: what crosses CPUs is loaded and stored through these, by name. */
#define dbk_load_relaxed(p)	__atomic_load_n((p), __ATOMIC_RELAXED)
#define dbk_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define dbk_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define dbk_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
/** dbk_compare_swap() - true when *@p was *@old and is @v now; else *@old is what it was */
#define dbk_compare_swap(p, old, v)                                                                \
	__atomic_compare_exchange_n((p), (old), (v), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/** dbk_fetch_add() - adds @v to *@p and gives what it was */
#define dbk_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)

/*
 * What must hold.  dbk_assert() is the control path's: it ends a program of user space, and warns once
 * in the kernel's log.  dbk_probe_assert() is for probe context, which cannot report: it is
 * looked at in builds of user space with sanitizers (cmake/Daybreak.cmake), and costs nothing in others.
 */
#ifdef __KERNEL__
#define dbk_assert(condition) ((void)WARN_ON_ONCE(!(condition)))
#else
#define dbk_assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
#if defined(__KERNEL__) || defined(NDEBUG)
#define dbk_probe_assert(condition) ((void)sizeof(!(condition)))
#else
#define dbk_probe_assert(condition) dbk_assert(condition)
#endif

#define DBK_ARRAY_COUNT(a)     (sizeof(a) / sizeof((a)[0]))
#define DBK_ROUND_UP(n, align) (((n) + (align)-1) & ~((uint64_t)(align)-1))
#define DBK_IS_POWER_OF_TWO(n) ((n) != 0 && ((n) & ((n)-1)) == 0)

#endif /* DBK_ENGINE_PLATFORM_H */
