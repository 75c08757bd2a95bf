// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracepoint.c - a tracepoint found by its name, and hooked
 */
#include <linux/string.h>

#include "kmod/kernel/tracepoint.h"

struct search {
	const char *name;
	struct tracepoint *found;
};

static void search_each(struct tracepoint *tracepoint, void *data)
{
	struct search *search = data;

	if (strcmp(tracepoint->name, search->name) == 0)
		search->found = tracepoint;
}

bool dbk_tracepoint_find(struct dbk_tracepoint_hook *hook)
{
	struct search search = { .name = hook->name };

	for_each_kernel_tracepoint(search_each, &search);
	hook->tracepoint = search.found;
	return search.found;
}

int dbk_tracepoint_hook(struct dbk_tracepoint_hook *hook)
{
	int err;

	if (hook->hooked)
		return 0;
	if (!hook->tracepoint && !dbk_tracepoint_find(hook))
		return -ENOENT;
	err = tracepoint_probe_register_prio(hook->tracepoint, hook->callback, hook->data,
					     hook->priority ?: TRACEPOINT_DEFAULT_PRIO);
	hook->hooked = err == 0;
	return err;
}

void dbk_tracepoint_unhook(struct dbk_tracepoint_hook *hook)
{
	if (hook->hooked)
		tracepoint_probe_unregister(hook->tracepoint, hook->callback, hook->data);
	hook->hooked = false;
}
