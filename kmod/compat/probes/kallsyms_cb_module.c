// SPDX-License-Identifier: GPL-2.0-only
/* kallsyms_on_each_symbol()'s callback takes a struct module. */
#include <linux/kallsyms.h>

int probe(int (*function)(void *, const char *, struct module *, unsigned long))
{
	return kallsyms_on_each_symbol(function, NULL);
}
