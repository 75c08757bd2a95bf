/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frame.h - what a provider reports to the host of one firing
 *
 * A provider builds a struct dbk_frame on its stack and hands it to the engine,
 * which passes it back, unread, to those host functions that need to know where
 * the probe is: stack(), caller, errno, arguments beyond the collected ones.
 */
#ifndef DBK_FRAME_H
#define DBK_FRAME_H

#include <linux/types.h>

struct pt_regs;

enum dbk_frame_kind {
	DBK_FRAME_NONE,	      /* no site: BEGIN, END, ERROR */
	DBK_FRAME_TRACEPOINT, /* called from a tracepoint, some frames up */
	DBK_FRAME_FUNCTION,   /* at the entry of a function, through ftrace */
	DBK_FRAME_RETURN,     /* a function has returned to its caller, whose frame is the top */
	DBK_FRAME_INTERRUPT,  /* on top of what a timer interrupted */
	DBK_FRAME_USER_FUNCTION, /* at the entry of a function of the process */
	DBK_FRAME_USER_RETURN,	 /* it has returned to its caller there */
};

struct dbk_frame {
	enum dbk_frame_kind kind;
	s32 error; /* errno of the system call that returns here, or 0 */
	union {
		/* TRACEPOINT: the iterator's text, which is between us and the site */
		struct {
			unsigned long iterator_start, iterator_end;
		};
		/* FUNCTION: the traced function, its caller, its stack pointer (0: unknown) */
		struct {
			unsigned long ip, parent_ip, sp;
		};
		/* RETURN, USER_RETURN: the function, the registers after its return; the
		 * others: the latter only */
		struct {
			unsigned long function;
			struct pt_regs *regs;
		};
	};
};

#endif /* DBK_FRAME_H */
