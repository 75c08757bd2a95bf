/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * function_hook.h - one function of the kernel, seen by ftrace while it is wanted
 */
#ifndef DBK_KMOD_FUNCTION_HOOK_H
#define DBK_KMOD_FUNCTION_HOOK_H

#include <linux/ftrace.h>

struct dbk_function_hook {
	const char *name;      /* [C] of the function */
	struct ftrace_ops ops; /* its func is the owner's */
	bool filtered;	       /* has its filter, for as long as the module is loaded */
};

/** dbk_function_hook() - from now on the callback runs.  Context: may sleep.  Return: 0; -ENOENT:
 * the kernel has no such function; another negative errno */
int dbk_function_hook(struct dbk_function_hook *hook);

/** dbk_function_unhook() - it does not run any more.  Context: may sleep. */
void dbk_function_unhook(struct dbk_function_hook *hook);

/** dbk_function_hook_free() - before the module goes; it is not hooked. */
void dbk_function_hook_free(struct dbk_function_hook *hook);

#endif /* DBK_KMOD_FUNCTION_HOOK_H */
