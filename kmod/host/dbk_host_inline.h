/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dbk_host_inline.h - the hot part of the engine's host, inlined into it
 *
 * engine/api/host.h includes this in the kernel build (-DDBK_HOST_INLINE).  Each
 * function here is a handful of instructions on the way of every record; what
 * is asked for rarely is in the .c files beside it.
 */
#ifndef DBK_HOST_INLINE_H
#define DBK_HOST_INLINE_H

#include <linux/cred.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>

/* raw_: the tracing hooks of local_irq_save() would fire tracepoints of their own. */
#define dbk_host_enter dbk_host_enter
static __probe_ctx_inline unsigned long dbk_host_enter(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	return flags;
}

#define dbk_host_leave dbk_host_leave
static __probe_ctx_inline void dbk_host_leave(unsigned long flags)
{
	raw_local_irq_restore(flags);
}

#define dbk_host_cpu dbk_host_cpu
static __probe_ctx_inline uint32_t dbk_host_cpu(void)
{
	return raw_smp_processor_id();
}

#define dbk_host_mono_ns dbk_host_mono_ns
static __probe_ctx_inline uint64_t dbk_host_mono_ns(void)
{
	return ktime_get_mono_fast_ns();
}

#include "arch/memory.h"
#include "arch/ticks.h"

#define dbk_host_pid dbk_host_pid
static __probe_ctx_inline uint32_t dbk_host_pid(void)
{
	return current->tgid;
}

#define dbk_host_tid dbk_host_tid
static __probe_ctx_inline uint32_t dbk_host_tid(void)
{
	return current->pid;
}

#define dbk_host_curthread dbk_host_curthread
static __probe_ctx_inline uint64_t dbk_host_curthread(void)
{
	return (unsigned long)current;
}

#define dbk_host_execname dbk_host_execname
static __probe_ctx_inline const char *dbk_host_execname(void)
{
	return current->comm;
}

#define dbk_host_uid dbk_host_uid
static __probe_ctx_inline uint32_t dbk_host_uid(void)
{
	return __kuid_val(current_uid());
}

#define dbk_host_gid dbk_host_gid
static __probe_ctx_inline uint32_t dbk_host_gid(void)
{
	return __kgid_val(current_gid());
}

/* 0: thread, 1: softirq, 2: hard interrupt, 3: NMI. */
static __probe_ctx_inline uint32_t dbk_context_level(void)
{
	unsigned int count = preempt_count();

	if (count & (NMI_MASK | HARDIRQ_MASK))
		return count & NMI_MASK ? 3 : 2;
	return count & SOFTIRQ_OFFSET ? 1 : 0;
}

/*
 * Of the thread's address the low 48 bits tell threads alive apart; an earlier
 * thread at the same address differs in its start time; and the address, being
 * aligned to a cache line, has room for the level in its low bits.
 */
#define dbk_host_thread_key dbk_host_thread_key
static __probe_ctx_inline uint64_t dbk_host_thread_key(void)
{
	struct task_struct *task = current;

	/* 10: microseconds and up, fork is not faster. */
	return (uint64_t)(unsigned long)task << 16 | dbk_context_level() << 16 |
	       (uint16_t)(task->start_boottime >> 10);
}

/* By one instruction with an entry in the table of exceptions, where that is enough. */
#define dbk_host_peek dbk_host_peek
static __probe_ctx_inline bool dbk_host_peek(uint64_t *value, uint64_t address, uint32_t bytes)
{
	const void *from = (const void *)(unsigned long)address;
	u64 word;
	u32 half;
	u16 quarter;
	u8 byte;

	if (unlikely(!dbk_memory_is_kernels(address)))
		return false;
	if (bytes == 8) {
		__get_kernel_nofault(&word, from, u64, fault);
		*value = word;
	} else if (bytes == 4) {
		__get_kernel_nofault(&half, from, u32, fault);
		*value = half;
	} else if (bytes == 2) {
		__get_kernel_nofault(&quarter, from, u16, fault);
		*value = quarter;
	} else {
		__get_kernel_nofault(&byte, from, u8, fault);
		*value = byte;
	}
	return true;

fault:
	return false;
}

#endif /* DBK_HOST_INLINE_H */
