/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dbk_host_inline.h - the hot part of user space's host, inlined into the engine
 *
 * engine/api/host.h includes this where the engine is built for BareHost (-DDBK_HOST_INLINE).  With a
 * clock that stands still, as a replay's does, no call is left: reading a simulated one takes time,
 * and nested firings happen within (host_calls.cpp).
 */
#ifndef DBK_HOST_INLINE_H
#define DBK_HOST_INLINE_H

#include "engine/sim/bare_host.h"

uint64_t dbk_host_ticks_moving(void);
uint64_t dbk_host_mono_ns_moving(void);

#define dbk_host_enter dbk_host_enter
static __probe_ctx_inline unsigned long dbk_host_enter(void)
{
	return dbk_bare->depth++;
}

#define dbk_host_leave dbk_host_leave
static __probe_ctx_inline void dbk_host_leave(unsigned long flags)
{
	dbk_bare->depth = (uint32_t)flags;
}

#define dbk_host_cpu dbk_host_cpu
static __probe_ctx_inline uint32_t dbk_host_cpu(void)
{
	return dbk_bare->cpu;
}

#define dbk_host_ticks dbk_host_ticks
static __probe_ctx_inline uint64_t dbk_host_ticks(void)
{
	return likely(dbk_bare->still) ? *dbk_bare->now_ns : dbk_host_ticks_moving();
}

#define dbk_host_mono_ns dbk_host_mono_ns
static __probe_ctx_inline uint64_t dbk_host_mono_ns(void)
{
	return likely(dbk_bare->still) ? *dbk_bare->now_ns : dbk_host_mono_ns_moving();
}

#define dbk_host_thread_key dbk_host_thread_key
static __probe_ctx_inline uint64_t dbk_host_thread_key(void)
{
	return dbk_bare->thread_key;
}

#define dbk_host_arg dbk_host_arg
static __probe_ctx_inline uint64_t dbk_host_arg(const struct dbk_probe *probe, void *frame,
						uint32_t index)
{
	(void)probe;
	(void)frame;
	return index < dbk_bare->args_count ? dbk_bare->args[index] : 0;
}

#define dbk_host_place dbk_host_place
uint64_t dbk_host_place(uint64_t address, bool is_of_process);

#define dbk_host_readable dbk_host_readable
static __probe_ctx_inline uint64_t dbk_host_readable(uint64_t address)
{
	uint64_t offset = address - (uint64_t)(uintptr_t)dbk_bare->texts;

	return offset < dbk_bare->texts_bytes ? dbk_bare->texts_bytes - offset : 0;
}

#endif /* DBK_HOST_INLINE_H */
