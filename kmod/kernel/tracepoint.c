// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracepoint.c - finding a tracepoint by its name
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

struct tracepoint *dbk_tracepoint_find(const char *name)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(search_each, &search);
	return search.found;
}
