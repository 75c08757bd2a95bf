/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* actions.h - what actions are called, and what they store.  Control path */
#ifndef DBK_ENGINE_ACTIONS_H
#define DBK_ENGINE_ACTIONS_H

#include "engine/types/internal.h"

/** dbk_action_name() - D name of an action or aggregating function, or "?" */
const char *dbk_action_name(uint32_t kind);

/** dbk_action_is_stack() - whether actions of @kind store a stack */
static inline bool dbk_action_is_stack(uint32_t kind)
{
	return kind == DTRACEACT_STACK || kind == DTRACEACT_USTACK || kind == DTRACEACT_JSTACK ||
	       kind == DBK_ACT_CAPTURE_STACK || kind == DBK_ACT_CAPTURE_USTACK;
}

/** dbk_agg_cells() - cells of an aggregation of @kind with @arg; 0: @arg is unusable */
uint32_t dbk_agg_cells(uint32_t kind, uint64_t arg);

#endif /* DBK_ENGINE_ACTIONS_H */
