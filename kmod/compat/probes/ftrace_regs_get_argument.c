// SPDX-License-Identifier: GPL-2.0-only
/* An accessor for a function's arguments in struct ftrace_regs. */
#include <linux/ftrace.h>

unsigned long probe(struct ftrace_regs *fregs)
{
	return ftrace_regs_get_argument(fregs, 0);
}
