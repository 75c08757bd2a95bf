// SPDX-License-Identifier: GPL-2.0-only
/*
 * console.c - hooks the function that every message of the kernel passes; see console.h (docs/design/0032-messages-of-the-kernel.md)
 */
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>

#include "arch/ftrace_args.h"
#include "kmod/state.h"
#include "kmod/triggers/console.h"

/* The kernel's own limit of a message. */
#define TEXT_BYTES_MAX 1024u
/* 5: in a thread, softirq, interrupt and NMI, and in an exception of one of them. */
#define DEPTH_MAX      5u

/* Not on the stack: an NMI's has 4096 bytes, and a report of a lockup takes most of them. */
struct texts {
	u32 depth; /* messages that are being formatted on this CPU, each in the middle of another */
	char text[DEPTH_MAX][TEXT_BYTES_MAX];
};

static struct texts __percpu *texts; /* [C] while hooked */

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
	struct texts *here = raw_cpu_ptr(texts); /* preemption is off: see printk_ops */
	u32 begin = 0, end, depth = here->depth;
	va_list arguments;
	char *text;

	if (depth == DEPTH_MAX)
		return;
	text = here->text[depth];
	/* An interrupt from here on takes the next one, and has given it back when we go on. */
	WRITE_ONCE(here->depth, depth + 1);
	va_copy(arguments, *given);
	end = min_t(u32, vsnprintf(text, TEXT_BYTES_MAX, format, arguments), TEXT_BYTES_MAX - 1);
	va_end(arguments);
	while (facility == 0 && begin < end && printk_get_level(text + begin))
		begin += 2;
	dbk_dying_console(text + begin, end - begin);
	WRITE_ONCE(here->depth, depth);
}

/* RECURSION: a message while one is formatted is passed over, and preemption is off.
 * PERMANENT: while it is registered ftrace cannot be turned off: messages would be lost unnoticed.
 */
static struct ftrace_ops printk_ops = {
	.func = dbk_dying_printk,
	.flags = FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_PERMANENT,
};
static bool tried, hooked; /* [S] */

static int console_hook(void)
{
	int err;

	texts = alloc_percpu(struct texts);
	if (!texts)
		return -ENOMEM;
	/* By address: by name each of the 50 000 functions would be asked for its own. */
	err = ftrace_set_filter_ip(&printk_ops, (unsigned long)vprintk_emit, 0, 1);
	/* Without a filter it would see every function. */
	if (!err)
		err = register_ftrace_function(&printk_ops);
	if (err) {
		ftrace_free_filter(&printk_ops);
		free_percpu(texts);
	}
	hooked = !err;
	return err;
}

void dbk_console_want(void)
{
	dbk_state_assert();
	if (tried)
		return;
	tried = true;
	if (console_hook())
		pr_warn("vprintk_emit() cannot be hooked: the kernel's messages are not kept\n");
}

void dbk_console_unhook(void)
{
	if (!hooked)
		return;
	unregister_ftrace_function(&printk_ops);
	ftrace_free_filter(&printk_ops);
	free_percpu(texts);
	hooked = false;
}
