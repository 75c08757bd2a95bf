/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_host.h - what a firing asks of user space's host most often: where it is, the time, memory
 *
 * BareHost keeps it, and a HostScope says whose it is; the engine reads it without a call
 * (inline/dbk_host_inline.h).  It is all the host that a replay has while it fires.
 */
#ifndef DBK_ENGINE_SIM_BARE_HOST_H
#define DBK_ENGINE_SIM_BARE_HOST_H

#include "engine/api/platform.h"

struct dbk_bare_host {
	void *owner;		 /* the BareHost */
	uint32_t cpu;
	uint32_t depth;		 /* of dbk_host_enter() */
	bool still;		 /* both clocks are *now_ns; else reading them takes time */
	const uint64_t *now_ns;
	uint64_t thread_key;
	const uint64_t *args;	 /* that every firing has */
	uint32_t args_count;
	const char *texts;	 /* memory that can be read like the engine's own */
	uint64_t texts_bytes;
};

/* Of the calling thread; a variable of the program's own, so that it is one load. */
extern __thread struct dbk_bare_host *dbk_bare;

#endif /* DBK_ENGINE_SIM_BARE_HOST_H */
