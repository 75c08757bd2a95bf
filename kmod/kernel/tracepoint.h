/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoint.h - what the tracepoint providers share: finding, and the frame of a firing
 */
#ifndef DBK_KMOD_TRACEPOINT_H
#define DBK_KMOD_TRACEPOINT_H

#include <linux/tracepoint.h>

#include "kmod/frame.h"
#include "kmod/kernel/symbols.h"

/** dbk_tracepoint_find() - a tracepoint of the kernel itself by name, or NULL */
struct tracepoint *dbk_tracepoint_find(const char *name);

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
