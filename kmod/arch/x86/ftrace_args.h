/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ftrace_args.h - the arguments of a function that ftrace stopped at
 */
#ifndef DBK_KMOD_FTRACE_ARGS_H
#define DBK_KMOD_FTRACE_ARGS_H

#include <linux/ftrace.h>

#include "engine/api/host.h"

/** dbk_ftrace_argument() - the @index-th of the first 6, constant.  Probe context. */
static __probe_ctx_inline unsigned long dbk_ftrace_argument(struct ftrace_regs *fregs,
							    unsigned int index)
{
#ifdef DBK_HAVE_FTRACE_REGS_GET_ARGUMENT
	return ftrace_regs_get_argument(fregs, index);
#else
	/* Without SAVE_REGS these registers, and the stack pointer, are all that there is. */
	switch (index) {
	case 0:
		return fregs->regs.di;
	case 1:
		return fregs->regs.si;
	case 2:
		return fregs->regs.dx;
	case 3:
		return fregs->regs.cx;
	case 4:
		return fregs->regs.r8;
	default:
		return fregs->regs.r9;
	}
#endif
}

/** dbk_ftrace_stack_pointer() - at the function's entry.  Probe context. */
static __probe_ctx_inline unsigned long dbk_ftrace_stack_pointer(struct ftrace_regs *fregs)
{
#ifdef DBK_HAVE_FTRACE_REGS_GET_ARGUMENT
	return ftrace_regs_get_stack_pointer(fregs);
#else
	return fregs->regs.sp;
#endif
}

#endif /* DBK_KMOD_FTRACE_ARGS_H */
