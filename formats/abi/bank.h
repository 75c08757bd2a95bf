/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * bank.h - reserved memory that a crash and the next boot leave alone
 *
 * A bank is memory that the kernel leaves alone.  It has two
 * halves: a boot records into one, while the other still holds the boot before.
 * What lies in a half are the blocks of rings as they lie anywhere else, segments
 * (segment.h) and metadata (meta.h); this file is the wrapping.  bank.md is the
 * specification with a worked example.
 *
 *   0        4096                    4096 + half_bytes        4096 + 2 * half_bytes
 *   | bank   | half 0                | half 1                 | (unused)
 *   | header | header | blocks | copy| header | blocks | copy |
 *
 * Firmware scribbles over memory between two boots.  So everything can be found
 * again without the header of the bank, and the header of a half is there twice.
 */
#ifndef DBK_ABI_BANK_H
#define DBK_ABI_BANK_H

#include "abi.h"

#define DBK_BANK_MAGIC	    0x424b4244u /* "DBKB" in memory */
#define DBK_BANK_HALF_MAGIC 0x484b4244u /* "DBKH" in memory */
#define DBK_BANK_VERSION    1
#define DBK_BANK_HALVES	    2u
#define DBK_BANK_PAGE_BYTES 4096u
#define DBK_BANK_BYTES_MIN  (1ull << 20)
#define DBK_BANK_BYTES_MAX  (1ull << 40)

struct dbk_bank_header {
	uint32_t magic;			       /* DBK_BANK_MAGIC */
	uint16_t version;		       /* DBK_BANK_VERSION */
	uint16_t half;			       /* that was taken last: 0 or 1 */
	uint64_t bank_bytes;		       /* of the whole, a multiple of 4096 */
	uint64_t phys_addr;		       /* of this header */
	uint64_t half_bytes;		       /* (bank_bytes - 4096) / 2, cut to whole pages */
	uint64_t half_offset[DBK_BANK_HALVES]; /* from the bank's start */
	uint64_t generation;		       /* of the half that was taken last */
	uint32_t reserved;		       /* 0 */
	uint32_t crc32c;		       /* over the 60 bytes before it */
};

/* X(name, value, what became of the one who recorded) */
#define DBK_BANK_STATES(X)                                                                         \
	X(RECORDING, 1, "it records, or died without a word")                                      \
	X(IN_ORDER, 2, "the machine went down or restarted in order")                              \
	X(UNLOADED, 3, "the module was unloaded")                                                  \
	X(PANIC, 4, "the kernel panicked")

#define DBK_BANK_STATE_ENUM(name, value, what) DBK_BANK_##name = value,
enum dbk_bank_state { DBK_BANK_STATES(DBK_BANK_STATE_ENUM) };
#undef DBK_BANK_STATE_ENUM

/* On the first and on the last page of a half. */
struct dbk_bank_half {
	uint32_t magic;	     /* DBK_BANK_HALF_MAGIC */
	uint16_t version;    /* DBK_BANK_VERSION */
	uint16_t half;	     /* 0 or 1 */
	uint64_t generation; /* 1, 2, ...: the higher is the later one */
	uint64_t phys_addr;  /* of the half */
	uint64_t half_bytes;
	uint64_t data_offset; /* of the first block, from the half's start: 4096 */
	uint64_t data_bytes;  /* room for blocks: half_bytes - 8192 */
	uint64_t boot_id;     /* first 8 bytes of boot_uuid */
	uint8_t boot_uuid[16];
	uint64_t start_mono_ns; /* CLOCK_MONOTONIC and CLOCK_REALTIME when it was taken */
	uint64_t start_wall_ns;
	char release[64];	 /* uname -r, NUL-terminated */
	char module_version[32]; /* Daybreak's */
	uint32_t reserved;	 /* 0 */
	uint32_t crc32c;	 /* over the 188 bytes before it */
	/* From here on it changes, without a checksum. */
	uint32_t state;	      /* enum dbk_bank_state */
	uint32_t state_check; /* ~state, or the state is not known */
	uint64_t used_bytes;  /* after data_offset + used_bytes no block ever was */
	uint64_t unused[6];   /* 0 */
};

DBK_ABI_SIZE(struct dbk_bank_header, 64);
DBK_ABI_AT(struct dbk_bank_header, magic, 0);
DBK_ABI_AT(struct dbk_bank_header, version, 4);
DBK_ABI_AT(struct dbk_bank_header, half, 6);
DBK_ABI_AT(struct dbk_bank_header, bank_bytes, 8);
DBK_ABI_AT(struct dbk_bank_header, phys_addr, 16);
DBK_ABI_AT(struct dbk_bank_header, half_bytes, 24);
DBK_ABI_AT(struct dbk_bank_header, half_offset, 32);
DBK_ABI_AT(struct dbk_bank_header, generation, 48);
DBK_ABI_AT(struct dbk_bank_header, reserved, 56);
DBK_ABI_AT(struct dbk_bank_header, crc32c, 60);
DBK_ABI_SIZE(struct dbk_bank_half, 256);
DBK_ABI_AT(struct dbk_bank_half, magic, 0);
DBK_ABI_AT(struct dbk_bank_half, version, 4);
DBK_ABI_AT(struct dbk_bank_half, half, 6);
DBK_ABI_AT(struct dbk_bank_half, generation, 8);
DBK_ABI_AT(struct dbk_bank_half, phys_addr, 16);
DBK_ABI_AT(struct dbk_bank_half, half_bytes, 24);
DBK_ABI_AT(struct dbk_bank_half, data_offset, 32);
DBK_ABI_AT(struct dbk_bank_half, data_bytes, 40);
DBK_ABI_AT(struct dbk_bank_half, boot_id, 48);
DBK_ABI_AT(struct dbk_bank_half, boot_uuid, 56);
DBK_ABI_AT(struct dbk_bank_half, start_mono_ns, 72);
DBK_ABI_AT(struct dbk_bank_half, start_wall_ns, 80);
DBK_ABI_AT(struct dbk_bank_half, release, 88);
DBK_ABI_AT(struct dbk_bank_half, module_version, 152);
DBK_ABI_AT(struct dbk_bank_half, reserved, 184);
DBK_ABI_AT(struct dbk_bank_half, crc32c, 188);
DBK_ABI_AT(struct dbk_bank_half, state, 192);
DBK_ABI_AT(struct dbk_bank_half, state_check, 196);
DBK_ABI_AT(struct dbk_bank_half, used_bytes, 200);
DBK_ABI_AT(struct dbk_bank_half, unused, 208);

#endif /* DBK_ABI_BANK_H */
