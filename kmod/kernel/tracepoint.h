/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoint.h - a tracepoint of the kernel: found, hooked while it is wanted, the frame of its firings
 */
#ifndef DBK_KMOD_TRACEPOINT_H
#define DBK_KMOD_TRACEPOINT_H

#include <linux/tracepoint.h>

#include "kmod/frame.h"
#include "kmod/kernel/symbols.h"

struct dbk_tracepoint_hook {
	const char *name;	       /* [C] of one of the kernel itself; unused where @tracepoint is known */
	void *callback;		       /* [C] (@data, what the tracepoint has) */
	void *data;		       /* [C] */
	int priority;		       /* [C] the highest is called first; 0: the kernel's default */
	struct tracepoint *tracepoint; /* [C] once found; NULL: the kernel does not have it */
	bool hooked;		       /* by its owner's lock */
};

/** dbk_tracepoint_find() - finds @hook's tracepoint.  Return: whether the kernel has it */
bool dbk_tracepoint_find(struct dbk_tracepoint_hook *hook);

/** dbk_tracepoint_hook() - from now on the callback runs; it may already.  Context: may sleep.
 * Return: 0; -ENOENT: the kernel has no such tracepoint; another negative errno */
int dbk_tracepoint_hook(struct dbk_tracepoint_hook *hook);

/** dbk_tracepoint_unhook() - the callback, if it was hooked, is not called any more, and may run
 * until tracepoint_synchronize_unregister() has returned.  Context: may sleep. */
void dbk_tracepoint_unhook(struct dbk_tracepoint_hook *hook);

/** dbk_tracepoint_frame() - the frame that all firings of @tracepoint share */
static inline struct dbk_frame dbk_tracepoint_frame(const struct tracepoint *tracepoint)
{
	unsigned long start = (unsigned long)tracepoint->iterator;

	return (struct dbk_frame){
		.kind = DBK_FRAME_TRACEPOINT,
		.iterator_start = start,
		.iterator_end = start + dbk_symbol_bytes(start),
	};
}

#endif /* DBK_KMOD_TRACEPOINT_H */
