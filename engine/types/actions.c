/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* actions.c - what actions are called, and what they store; see actions.h */
#include "engine/types/actions.h"

static const struct {
	uint16_t kind;
	const char *name;
} names[] = {{DTRACEACT_DIFEXPR, "trace"},
	     {DTRACEACT_EXIT, "exit"},
	     {DTRACEACT_PRINTF, "printf"},
	     {DTRACEACT_PRINTA, "printa"},
	     {DTRACEACT_LIBACT, "library action"},
	     {DTRACEACT_TRACEMEM, "tracemem"},
	     {DTRACEACT_PCAP, "pcap"},
	     {DTRACEACT_PRINT, "print"},
	     {DTRACEACT_USTACK, "ustack"},
	     {DTRACEACT_JSTACK, "jstack"},
	     {DTRACEACT_USYM, "usym"},
	     {DTRACEACT_UMOD, "umod"},
	     {DTRACEACT_UADDR, "uaddr"},
	     {DTRACEACT_STOP, "stop"},
	     {DTRACEACT_RAISE, "raise"},
	     {DTRACEACT_SYSTEM, "system"},
	     {DTRACEACT_FREOPEN, "freopen"},
	     {DTRACEACT_STACK, "stack"},
	     {DTRACEACT_SYM, "sym"},
	     {DTRACEACT_MOD, "mod"},
	     {DTRACEACT_BREAKPOINT, "breakpoint"},
	     {DTRACEACT_PANIC, "panic"},
	     {DTRACEACT_CHILL, "chill"},
	     {DTRACEACT_SPECULATE, "speculate"},
	     {DTRACEACT_COMMIT, "commit"},
	     {DTRACEACT_DISCARD, "discard"},
	     {DBK_ACT_SNAPSHOT, "snapshot"},
	     {DBK_ACT_CAPTURE, "capture"},
	     {DBK_ACT_CAPTURE_STACK, "capture"},
	     {DBK_ACT_CAPTURE_USTACK, "capture"},
#define AGG(name, kind, text, cells) {kind, text},
	     DBK_DTRACE_AGGS(AGG)
#undef AGG
};

const char *dbk_action_name(uint32_t kind)
{
	uint32_t i;

	for (i = 0; i < DBK_ARRAY_COUNT(names); i++)
		if (names[i].kind == kind)
			return names[i].name;
	return "?";
}

static uint32_t lquantize_cells(uint64_t arg)
{
	uint32_t levels = DTRACE_LQUANTIZE_LEVELS(arg);

	/* The argument, below, the levels, above. */
	if (DTRACE_LQUANTIZE_STEP(arg) == 0 || levels == 0)
		return 0;
	return levels + 3;
}

/*
 * Oracle's llquantize: steps << 48 | high << 32 | low << 16 | factor.  A
 * magnitude has steps - steps / factor bins; cells are the argument, the
 * negative side, the bin around zero, the positive side, both overflows.
 */
static uint32_t llquantize_cells(uint64_t arg)
{
	uint32_t factor = (uint16_t)arg, low = (uint16_t)(arg >> 16);
	uint32_t high = (uint16_t)(arg >> 32), steps = (uint16_t)(arg >> 48);
	uint64_t cells;

	if (factor < 2 || steps == 0 || low > high)
		return 0;
	cells = (uint64_t)(high - low + 1) * (steps - steps / factor) * 2 + 4;
	return cells > DBK_AGG_CELLS_MAX ? 0 : (uint32_t)cells;
}

uint32_t dbk_agg_cells(uint32_t kind, uint64_t arg)
{
	if (kind == DTRACEAGG_LQUANTIZE)
		return lquantize_cells(arg);
	if (kind == DTRACEAGG_LLQUANTIZE)
		return llquantize_cells(arg);
	switch (kind) {
#define AGG(name, kind, text, cells)                                                               \
	case kind:                                                                                 \
		return cells;
		DBK_DTRACE_AGGS(AGG)
#undef AGG
	default:
		return 0;
	}
}
