/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * drops.h - why data was not stored
 *
 * Every cause has a slot in each segment header (how often since that segment
 * was opened, on that CPU) and in the CPU counters (how often since the ring
 * was made).  The first ten are DTrace's, with its texts, but for 8; 3 and 4 of them never happen here
 * (docs/design/0020). The rest are Daybreak's own.  Slots are part of the format: append only.  There are no
 * more than 14, so WORK has that of a cause that no writer ever had (STKSTROVERFLOW).
 */
#ifndef DBK_ABI_DROPS_H
#define DBK_ABI_DROPS_H

/* X(name, slot, -xdroptags tag, text of the message) */
#define DBK_DROPS(X)                                                                               \
	X(PRINCIPAL, 0, "PRINCIPAL", "drop")                                                       \
	X(AGGREGATION, 1, "AGGREGATION", "aggregation drop")                                       \
	X(DYNAMIC, 2, "DYNAMIC", "dynamic variable drop")                                          \
	X(DYNRINSE, 3, "DYNRINSE", "dynamic variable drop with non-empty rinsing list")            \
	X(DYNDIRTY, 4, "DYNDIRTY", "dynamic variable drop with non-empty dirty list")              \
	X(SPEC, 5, "SPEC", "speculative drop")                                                     \
	X(SPECBUSY, 6, "SPECBUSY", "failed speculation (available buffer still busy)")             \
	X(SPECUNAVAIL, 7, "SPECUNAVAIL", "failed speculation (no speculative buffer available)")   \
	X(WORK, 8, "WORK", "clause given up at the work limit")                                    \
	X(DBLERROR, 9, "DBLERROR", "error in ERROR probe enabling")                                \
	X(NESTED, 10, "NESTED", "probe fired inside another probe")                                \
	X(TOOBIG, 11, "TOOBIG", "record larger than a segment")                                    \
	X(FILLED, 12, "FILLED", "record after the fill buffer was full")                           \
	X(MISSED, 13, "MISSED", "firing missed")

#define DBK_DROP_ENUM(name, slot, tag, text) DBK_DROP_##name = slot,
enum dbk_drop { DBK_DROPS(DBK_DROP_ENUM) };
#undef DBK_DROP_ENUM

/* 14: fills the second 64 bytes of a segment header beside records_before. */
#define DBK_DROP_SLOTS 14

#endif /* DBK_ABI_DROPS_H */
