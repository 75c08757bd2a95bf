// SPDX-License-Identifier: GPL-2.0-only
/*
 * function_hook.c - see function_hook.h
 */
#include "kmod/kernel/function_hook.h"
#include "kmod/kernel/symbols.h"

/* A filter that was freed must not be set again: the kernel keeps pointing to what is gone. */
int dbk_function_hook(struct dbk_function_hook *hook)
{
	unsigned long address = dbk_symbol(hook->name);
	int err = 0;

	if (!address)
		return -ENOENT;
	if (!hook->filtered)
		err = ftrace_set_filter_ip(&hook->ops, address, 0, 1);
	if (err)
		return err;
	hook->filtered = true;
	return register_ftrace_function(&hook->ops);
}

void dbk_function_unhook(struct dbk_function_hook *hook)
{
	unregister_ftrace_function(&hook->ops);
}

void dbk_function_hook_free(struct dbk_function_hook *hook)
{
	if (hook->filtered)
		ftrace_free_filter(&hook->ops);
}
