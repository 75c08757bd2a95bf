/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ftrace_args.h - the arguments of a function that ftrace stopped at
 */
#ifndef DBK_KMOD_FTRACE_ARGS_H
#define DBK_KMOD_FTRACE_ARGS_H

#include <linux/ftrace.h>

#include "engine/api/host.h"
#include "arch/user.h"

/* Where in dbk_ftrace_registers(), by words, the arguments of a function of the kernel are, and in the registers after its
 * return what arg0 (-1, which dbk_function_returned() puts there) and arg1 of the probe are. */
#define DBK_FUNCTION_ARGUMENT_WORDS DBK_USER_ARGUMENT_WORDS
#define DBK_FUNCTION_RESULT_WORDS                                                                  \
	{                                                                                          \
		DBK_REGISTER_WORD(orig_ax), DBK_REGISTER_WORD(ax),                                 \
	}

/** dbk_ftrace_argument() - the @index-th of the first 6, constant.  Probe context. */
static __probe_ctx_inline unsigned long dbk_ftrace_argument(struct ftrace_regs *fregs,
							    unsigned int index)
{
#ifdef DBK_HAVE_FTRACE_REGS_GET_ARGUMENT
	return ftrace_regs_get_argument(fregs, index);
#else
	/* These registers, and the stack pointer, are all that there is. */
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

/** dbk_ftrace_registers() - at the function's entry, which struct ftrace_regs begins with; only the
 * arguments and the stack pointer are set.  Probe context. */
static __probe_ctx_inline struct pt_regs *dbk_ftrace_registers(struct ftrace_regs *fregs)
{
	return (struct pt_regs *)fregs;
}

/** dbk_function_returned() - makes the registers after a return what DBK_FUNCTION_RESULT_WORDS says.  The
 * kernel has left -1 there itself, as where it is not in a system call.  Probe context. */
static __probe_ctx_inline void dbk_function_returned(struct pt_regs *regs)
{
	regs->orig_ax = -1;
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
