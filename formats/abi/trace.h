/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * trace.h - the blocks of a trace file
 *
 * A trace file (.dbrk) is a row of blocks, each on an 8-byte boundary: this
 * header, the payload (one zstd frame, two of a COLUMNS block), zeros up to the
 * next boundary.  It is only ever appended to.  formats/trace/trace.md is the
 * specification, and columns.md beside it that of the payload of a COLUMNS block.
 */
#ifndef DBK_ABI_TRACE_H
#define DBK_ABI_TRACE_H

#include "abi.h"

#define DBK_TRACE_MAGIC		0x544b4244u /* "DBKT" in the file */
#define DBK_TRACE_VERSION	1
#define DBK_TRACE_STATES_VERSION 2 /* of a STATES block: 2 has addresses of processes in keys */
#define DBK_TRACE_COLUMNS_VERSION 3	   /* of a COLUMNS block */
#define DBK_TRACE_COLUMNS_VERSION_OLDEST 2 /* the oldest that is still read */
#define DBK_TRACE_ALIGN_BYTES	8u
#define DBK_TRACE_RAW_BYTES_MAX (64u << 20) /* of one payload, unpacked */
#define DBK_TRACE_ROWS_BYTES_MAX (8u << 20) /* of the pieces of one COLUMNS block */

/* X(name, type, what the payload is) */
#define DBK_TRACE_BLOCKS(X)                                                                        \
	X(SCHEMA, 1, "text of the Cap'n Proto schema of the messages below")                       \
	X(HEADER, 2, "message: recorder, host, clocks, modules")                                   \
	X(SYMBOLS, 3, "message: a stretch of the kernel's symbols")                                \
	X(DATA, 4, "segments, metadata blocks, aggregation snapshots, each 8-aligned")             \
	X(INDEX, 5, "message: what time each data block is from")                                  \
	X(SUMMARY, 6, "message: completeness as the recorder saw it")                              \
	X(END, 7, "message: nothing was cut off")                                                  \
	X(SKIPPED, 8, "message: segments that the recorder did not write, and why")                \
	X(COLUMNS, 9, "what a DATA block has, by columns")                                         \
	X(SORTED_SYMBOLS, 10, "a stretch of the kernel's symbols, sorted by name: symbols.md")     \
	X(SHARED_SYMBOLS, 11, "message: which symbols of the file beside it are this one's")       \
	X(WINDOW, 12, "message: the window that the file was cut to, and what it left out")        \
	X(CONTENTS, 13, "message: what the index blocks of the file have, and where the rest is")  \
	X(PART, 14, "message: what partial states are of (formats/aggstate/aggstate.md)")          \
	X(STATES, 15, "message: partial states, or names for their addresses")                     \
	X(JIT_NAMES, 16, "a process, and the names that its runtime gave to code that it made")

#define DBK_TRACE_ENUM(name, type, what) DBK_TRACE_##name = type,
enum dbk_trace_type { DBK_TRACE_BLOCKS(DBK_TRACE_ENUM) };
#undef DBK_TRACE_ENUM

#define DBK_TRACE_TYPE_MAX DBK_TRACE_JIT_NAMES

struct dbk_trace_block {
	uint32_t magic;		 /* DBK_TRACE_MAGIC */
	uint16_t version;	 /* DBK_TRACE_VERSION */
	uint16_t type;		 /* enum dbk_trace_type; unknown ones are skipped */
	uint32_t number;	 /* of the block in its file: 0, 1, ... */
	uint32_t stored_bytes;	 /* of the payload as it follows, without padding */
	uint32_t raw_bytes;	 /* of the payload unpacked */
	uint32_t payload_crc32c; /* over the stored bytes */
	uint32_t rows_bytes;	 /* COLUMNS: of the pieces that it stands for; else 0 */
	uint32_t header_crc32c;	 /* over the 28 bytes before it */
};

DBK_ABI_SIZE(struct dbk_trace_block, 32);
DBK_ABI_AT(struct dbk_trace_block, magic, 0);
DBK_ABI_AT(struct dbk_trace_block, version, 4);
DBK_ABI_AT(struct dbk_trace_block, type, 6);
DBK_ABI_AT(struct dbk_trace_block, number, 8);
DBK_ABI_AT(struct dbk_trace_block, stored_bytes, 12);
DBK_ABI_AT(struct dbk_trace_block, raw_bytes, 16);
DBK_ABI_AT(struct dbk_trace_block, payload_crc32c, 20);
DBK_ABI_AT(struct dbk_trace_block, rows_bytes, 24);
DBK_ABI_AT(struct dbk_trace_block, header_crc32c, 28);

#endif /* DBK_ABI_TRACE_H */
