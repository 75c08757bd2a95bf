/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * console.h - what the kernel says, while it says it
 *
 * Every message passes vprintk_emit(), in whatever context: that function is hooked
 * through ftrace, and the message formatted a second time.  The tracepoint `console`
 * would have the text ready, but kernels before "printk: use trace_console()" warn at its site
 * when a message comes from NMI: lockup reports, backtraces, machine checks.
 */
#ifndef DBK_KMOD_CONSOLE_H
#define DBK_KMOD_CONSOLE_H

#include <linux/types.h>

/**
 * dbk_console_want() - from here on dbk_dying_console() sees each message; once
 *
 * For the first ring, or a bank: without either no one reads what it keeps, and hooking asks each
 * of the kernel's 50 000 functions whether it is the one, 5 million instructions of a boot.  What
 * cannot be is logged.
 *
 * Context: process, under [S].
 */
void dbk_console_want(void);

/** dbk_console_unhook() - no more; waits until no CPU is inside.  Nothing when it was not hooked. */
void dbk_console_unhook(void);

/**
 * dbk_dying_console() - one message, or a piece of a line; triggers.c
 * @text: without its level; need not end in a NUL, may end in a newline
 *
 * Context: Any, NMI and a panic included; preemption is off.
 */
void dbk_dying_console(const char *text, u32 bytes);

#endif /* DBK_KMOD_CONSOLE_H */
