// SPDX-License-Identifier: GPL-2.0-only
/*
 * console.c - hooks the function that every message of the kernel passes; see console.h
 */
#include <linux/kernel.h>
#include <linux/printk.h>

#include "kmod/core/ftrace_args.h"
#include "kmod/state.h"
#include "kmod/triggers/console.h"

/* The kernel's own limit of a message. */
#define TEXT_BYTES_MAX 1024u

/*
 * vprintk_emit(facility, level, dev_info, format, arguments).  What a process wrote into
 * /dev/kmsg has a facility, and its bytes are no levels.
 */
static __probe_ctx noinline void dbk_dying_printk(unsigned long ip, unsigned long parent_ip,
						  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int facility = dbk_ftrace_argument(fregs, 0);
	const char *format = (const char *)dbk_ftrace_argument(fregs, 3);
	va_list *given = (va_list *)dbk_ftrace_argument(fregs, 4);
	char text[TEXT_BYTES_MAX];
	u32 begin = 0, end;
	va_list arguments;

	va_copy(arguments, *given);
	end = min_t(u32, vsnprintf(text, sizeof(text), format, arguments), sizeof(text) - 1);
	va_end(arguments);
	while (facility == 0 && begin < end && printk_get_level(text + begin))
		begin += 2;
	dbk_dying_console(text + begin, end - begin);
}

/* RECURSION: a message while one is formatted is passed over, and preemption is off.
 * PERMANENT: while it is registered ftrace cannot be turned off: messages would be lost unnoticed.
 */
static struct ftrace_ops printk_ops = {
	.func = dbk_dying_printk,
	.flags = FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_PERMANENT,
};
static bool hooked; /* [C] */

int dbk_console_hook(void)
{
	static char name[] = "vprintk_emit";
	int err = ftrace_set_filter(&printk_ops, name, strlen(name), 1);

	/* Without a filter it would see every function. */
	if (!err)
		err = register_ftrace_function(&printk_ops);
	if (err)
		ftrace_free_filter(&printk_ops);
	hooked = !err;
	return err;
}

void dbk_console_unhook(void)
{
	if (!hooked)
		return;
	unregister_ftrace_function(&printk_ops);
	ftrace_free_filter(&printk_ops);
	hooked = false;
}
