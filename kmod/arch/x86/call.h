/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call.h - what the providers that look at system calls share
 */
#ifndef DBK_KMOD_CALL_H
#define DBK_KMOD_CALL_H

#include <linux/thread_info.h>

#include "engine/api/platform.h"

/** dbk_call_is_32bit() - whether the current system call is a 32-bit program's.  Probe context */
static __probe_ctx_inline bool dbk_call_is_32bit(void)
{
#ifdef CONFIG_IA32_EMULATION
	return unlikely(current_thread_info()->status & TS_COMPAT);
#else
	return false;
#endif
}

#endif /* DBK_KMOD_CALL_H */
