/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack.h - stacks, callers and registers
 */
#ifndef DBK_KMOD_ARCH_STACK_H
#define DBK_KMOD_ARCH_STACK_H

#include <linux/preempt.h>
#include <linux/sched/task_stack.h>

#include "engine/api/platform.h"

/** dbk_stack_init() - learns where the module's own text is, to leave it out of stacks */
void dbk_stack_init(void);

/* An NMI's stack has 4096 bytes, half of which a report takes for itself.  What is called after
 * this was asked takes so many at most: tests/lint/probe_stack.py reads the number, and adds the
 * frames up. */
#define DBK_NMI_FIRING_BYTES 1960ul
/* And so many more when what it reads is not there: the kernel's way through a page fault. */
#define DBK_NMI_FAULT_BYTES 600ul
#define DBK_NMI_STACK_BYTES (DBK_NMI_FIRING_BYTES + DBK_NMI_FAULT_BYTES)

/** dbk_stack_is_cramped() - whether this is an NMI, on a stack of its own that has no room for a
 * firing; then it is a MISSED drop.  Probe context. */
static __probe_ctx_inline bool dbk_stack_is_cramped(void)
{
	unsigned long sp = current_stack_pointer;

	return unlikely(in_nmi()) && (sp & ~PAGE_MASK) < DBK_NMI_STACK_BYTES &&
	       sp - (unsigned long)task_stack_page(current) >= THREAD_SIZE;
}

#endif /* DBK_KMOD_ARCH_STACK_H */
