/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * segment.h - what lies in a ring, in a dump and in a trace file
 *
 * A ring is, per CPU, an array of segments of equal size.  A segment describes
 * itself, so that a reader that finds its 4 KiB-aligned magic in a heap of bytes can
 * check, place and order it with nothing else at hand.  segment.md beside this
 * file is the specification with a worked example.
 *
 *   0          64           128                    committed_bytes   segment_bytes
 *   | header   | drop slots | record | record | ... |   (old bytes)   |
 *
 * One writer (the CPU, interrupts off).  A record exists once committed_bytes,
 * stored with release order, covers it.  A reader copies, then reads sequence
 * again: unchanged means that the copy is of one segment.
 */
#ifndef DBK_ABI_SEGMENT_H
#define DBK_ABI_SEGMENT_H

#include "abi.h"
#include "drops.h"

#define DBK_SEGMENT_MAGIC	  0x534b4244u /* "DBKS" in memory */
#define DBK_SEGMENT_VERSION	  3
/* Still read, too: */
#define DBK_SEGMENT_VERSION_DIVIDED 2	/* a commit divides its firing */
#define DBK_SEGMENT_VERSION_FIRST   1	/* nothing says which records are of one firing */
#define DBK_SEGMENT_ALIGN_BYTES	  4096u /* every segment starts on a page */
#define DBK_SEGMENT_BYTES_MIN	  4096u
#define DBK_SEGMENT_BYTES_DEFAULT 16384u
#define DBK_SEGMENT_BYTES_MAX	  (1u << 20)
#define DBK_SEGMENT_DATA_OFFSET	  128u /* the first record */

/* dbk_segment_header.flags */
#define DBK_SEGMENT_F_SEALED 0x0001u /* closed, and crc32c is valid */
#define DBK_SEGMENT_F_TSC    0x0002u /* ticks are TSC ticks, else nanoseconds */
/* The bits from here on hold the lowest bits of `sequence`, or zeros; for the sealer in memory.
 */
#define DBK_SEGMENT_F_SEQUENCE_SHIFT 2

struct dbk_segment_header {
	uint32_t magic;		  /* DBK_SEGMENT_MAGIC, stored last when opened */
	uint16_t version;	  /* DBK_SEGMENT_VERSION */
	uint16_t flags;		  /* DBK_SEGMENT_F_ */
	uint32_t segment_bytes;	  /* power of two */
	uint32_t committed_bytes; /* from the segment's start, header included */
	uint64_t sequence;	  /* per ring and CPU: 1, 2, ...; 0 while reused */
	uint64_t base_ticks;	  /* what record time deltas are added to */
	uint64_t base_mono_ns;	  /* CLOCK_MONOTONIC read beside base_ticks */
	uint64_t phys_addr;	  /* its own physical address, 0 in user space */
	uint64_t boot_id;	  /* first 8 bytes of the boot's UUID */
	uint16_t cpu;
	uint16_t ring_id;
	uint32_t crc32c; /* over committed_bytes with this field 0 */
};

/* The second 64 bytes: what this CPU lost while the segment was the open one. */
struct dbk_segment_losses {
	uint64_t records_before;	/* records this CPU had committed to the ring */
	uint32_t drops[DBK_DROP_SLOTS]; /* by enum dbk_drop */
};

DBK_ABI_SIZE(struct dbk_segment_header, 64);
DBK_ABI_AT(struct dbk_segment_header, magic, 0);
DBK_ABI_AT(struct dbk_segment_header, version, 4);
DBK_ABI_AT(struct dbk_segment_header, flags, 6);
DBK_ABI_AT(struct dbk_segment_header, segment_bytes, 8);
DBK_ABI_AT(struct dbk_segment_header, committed_bytes, 12);
DBK_ABI_AT(struct dbk_segment_header, sequence, 16);
DBK_ABI_AT(struct dbk_segment_header, base_ticks, 24);
DBK_ABI_AT(struct dbk_segment_header, base_mono_ns, 32);
DBK_ABI_AT(struct dbk_segment_header, phys_addr, 40);
DBK_ABI_AT(struct dbk_segment_header, boot_id, 48);
DBK_ABI_AT(struct dbk_segment_header, cpu, 56);
DBK_ABI_AT(struct dbk_segment_header, ring_id, 58);
DBK_ABI_AT(struct dbk_segment_header, crc32c, 60);
DBK_ABI_SIZE(struct dbk_segment_losses, 64);
DBK_ABI_AT(struct dbk_segment_losses, records_before, 0);
DBK_ABI_AT(struct dbk_segment_losses, drops, 8);

/*
 * A record: header, then the fields of its ECB (meta.h, struct dbk_meta_field)
 * at fixed offsets from the record's start; a record starts at, and its length
 * is, a multiple of DBK_RECORD_ALIGN_BYTES.
 *
 * When the ECB has a field of varying length (a string, a stack), the u32 after
 * the header is the record's whole length, and each such field is a
 * struct dbk_tail_ref to bytes after the fixed part.
 */
#define DBK_RECORD_ALIGN_BYTES 8u
#define DBK_RECORD_BYTES_MAX   65528u /* a tail reference counts in 16 bits */

/* In the word of the EPID: of the same firing as the record before it that this CPU put into the
 * same place (the ring, or the speculation that held it). */
#define DBK_RECORD_F_SAME_FIRING 0x80000000u
/* In a speculation, unless that: its firing made a record before it in the ring. */
#define DBK_RECORD_F_FIRING_ELSEWHERE 0x40000000u
#define DBK_EPID_MAX		 0x3fffffffu

/* A reader takes what a firing has beyond these as another firing. */
#define DBK_FIRING_RECORDS_MAX 8192u

struct dbk_record_header {
	uint32_t epid;	      /* with DBK_RECORD_F_ bits; 0: a control record */
	uint32_t delta_ticks; /* time since the last base */
};

struct dbk_tail_ref {
	uint16_t offset; /* bytes from the record's start */
	uint16_t bytes;	 /* a string's has no terminating NUL */
};

/* A control record stands where a record could; unknown kinds are skipped. */
struct dbk_control_header {
	uint32_t epid;	/* 0 */
	uint16_t kind;	/* DBK_CONTROL_ */
	uint16_t bytes; /* whole record, multiple of DBK_RECORD_ALIGN_BYTES */
};

#define DBK_CONTROL_TIME_BASE 1 /* u64: later deltas start at these ticks */

struct dbk_control_time_base {
	struct dbk_control_header header;
	uint64_t base_ticks;
};

/*
 * The next covered_bytes of the segment are records that a speculation held
 * until commit(), and control records between them; the first is a TIME_BASE.  Their
 * times are those of their firings, before commit_ticks.
 */
#define DBK_CONTROL_COMMIT 2

struct dbk_control_commit {
	struct dbk_control_header header;
	uint64_t commit_ticks;	/* when they were put here */
	uint32_t covered_bytes; /* multiple of DBK_RECORD_ALIGN_BYTES */
	uint32_t speculation;	/* its number, from 1 */
};

DBK_ABI_SIZE(struct dbk_record_header, 8);
DBK_ABI_SIZE(struct dbk_tail_ref, 4);
DBK_ABI_SIZE(struct dbk_control_header, 8);
DBK_ABI_SIZE(struct dbk_control_time_base, 16);
DBK_ABI_AT(struct dbk_record_header, epid, 0);
DBK_ABI_AT(struct dbk_record_header, delta_ticks, 4);
DBK_ABI_AT(struct dbk_tail_ref, offset, 0);
DBK_ABI_AT(struct dbk_tail_ref, bytes, 2);
DBK_ABI_AT(struct dbk_control_header, epid, 0);
DBK_ABI_AT(struct dbk_control_header, kind, 4);
DBK_ABI_AT(struct dbk_control_header, bytes, 6);
DBK_ABI_AT(struct dbk_control_time_base, base_ticks, 8);
DBK_ABI_SIZE(struct dbk_control_commit, 24);
DBK_ABI_AT(struct dbk_control_commit, commit_ticks, 8);
DBK_ABI_AT(struct dbk_control_commit, covered_bytes, 16);
DBK_ABI_AT(struct dbk_control_commit, speculation, 20);

/*
 * An aggregation buffer (aggregate=engine): the same idea with another magic.
 * Two per CPU; one is counted into while a reader takes the other.  After the
 * header lie entries, each a multiple of 8 bytes:
 *
 *   struct dbk_agg_entry | key fields as in a record's fixed part and tail | cells
 */
#define DBK_AGGBUF_MAGIC 0x414b4244u /* "DBKA" in memory */

struct dbk_agg_entry {
	uint32_t entry_bytes; /* this header, key and cells */
	uint32_t epid;	      /* an ECB with this aggregating action */
	uint16_t action;      /* index of that action in the ECB */
	uint16_t key_bytes;   /* multiple of 8; tail offsets count from the key */
	uint32_t cell_count;  /* u64 cells after the key */
};

DBK_ABI_SIZE(struct dbk_agg_entry, 16);
DBK_ABI_AT(struct dbk_agg_entry, entry_bytes, 0);
DBK_ABI_AT(struct dbk_agg_entry, epid, 4);
DBK_ABI_AT(struct dbk_agg_entry, action, 8);
DBK_ABI_AT(struct dbk_agg_entry, key_bytes, 10);
DBK_ABI_AT(struct dbk_agg_entry, cell_count, 12);

#endif /* DBK_ABI_SEGMENT_H */
