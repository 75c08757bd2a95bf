/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * maps.h - which files a process has mapped as code, and when: MAPS blocks
 *
 * What a user address of a record means is known as long as the process lives; so the kernel notes
 * it when it happens.  Blocks of one module load (ring 0) are filled one after the other.  When all
 * are full, what the oldest says of processes that live is entered again, and it is filled anew
 * under the next number.  Each block has the files that its entries name.  maps.md is the
 * specification with a worked example.
 */
#ifndef DBK_ABI_MAPS_H
#define DBK_ABI_MAPS_H

#include "abi.h"

/* X(name, kind, what follows struct dbk_map_entry) */
#define DBK_MAP_KINDS(X)                                                                           \
	X(BLOCK, 1, "struct dbk_map_block: first in each block")                                   \
	X(FILE, 2, "struct dbk_map_file, then its path")                                           \
	X(IMAGE, 3,                                                                                \
	  "struct dbk_map_image, dbk_map_namespaces: from now on no mapping but what follows")     \
	X(MAPPING, 4, "struct dbk_map_mapping: it has this one, in place of what lay there")       \
	X(EXIT, 5, "struct dbk_map_exit: the process ended")                                       \
	X(GAP, 6, "struct dbk_map_gap: what was known of processes before may hold no longer")

#define DBK_MAP_ENUM(name, kind, what) DBK_MAP_##name = kind,
enum dbk_map_kind { DBK_MAP_KINDS(DBK_MAP_ENUM) };
#undef DBK_MAP_ENUM

/* What each entry begins with; the rest is by kind, then zeros. */
struct dbk_map_entry {
	uint32_t entry_bytes; /* multiple of 8 */
	uint16_t kind;	      /* enum dbk_map_kind */
	uint16_t flags;	      /* DBK_MAP_F_ */
	uint32_t pid;	      /* of the process, as records have it; 0: of none */
	uint32_t image;	      /* which program of the process: another number after each exec */
	uint64_t born_ns;     /* CLOCK_BOOTTIME when the process began: pids are used again */
	uint64_t mono_ns;     /* CLOCK_MONOTONIC when it happened */
};

#define DBK_MAP_F_AGAIN 0x1u /* entered again, when the block with it was needed */
#define DBK_MAP_F_CUT	0x2u /* FILE: the path was longer; its end is here */
#define DBK_MAP_F_UNMAPPED                                                                         \
	0x4u /* MAPPING: what lay there was unmapped or moved away; nothing does, and no file */

struct dbk_map_block {
	uint64_t number; /* of the block, of this module load; `index` has its low 16 bits */
	uint64_t entered_before; /* entries in the blocks before it, those entered again included */
};

#define DBK_MAP_BUILD_ID_BYTES 20u
#define DBK_MAP_PATH_BYTES_MAX 1024u

struct dbk_map_file {
	uint8_t build_id[DBK_MAP_BUILD_ID_BYTES];
	uint16_t build_id_bytes; /* 0: not known */
	uint16_t path_bytes;	 /* without NUL; "[vdso]" is the kernel's own */
};

/* X(name, value, what): how an image began */
#define DBK_MAP_CAUSES(X)                                                                          \
	X(LISTED, 0, "it lived when listing began")                                                \
	X(EXEC, 1, "it executed a program")                                                        \
	X(FORK, 2, "it was forked")                                                                \
	X(SHARED, 3, "it was made sharing the memory of its parent")

#define DBK_MAP_CAUSE_ENUM(name, value, what) DBK_MAP_CAUSE_##name = value,
enum dbk_map_cause { DBK_MAP_CAUSES(DBK_MAP_CAUSE_ENUM) };
#undef DBK_MAP_CAUSE_ENUM

struct dbk_map_image {
	uint32_t cause;	     /* enum dbk_map_cause */
	uint32_t parent_pid; /* FORK, SHARED; else 0 */
};

/* After that of an image: where its paths, and its own numbers of processes, are from.  Entries of
   older writers, and where the kernel does not say, end before it. */
struct dbk_map_namespaces {
	uint32_t mount, pid; /* inode numbers as in /proc/PID/ns; 0: that of process 1 */
};

struct dbk_map_mapping {
	uint64_t begin, end; /* addresses */
	uint64_t offset;     /* of begin in the file, bytes */
	uint32_t file_at;    /* of the FILE entry, bytes from the block's start; 0: no file */
	uint32_t reserved;   /* 0 */
};

/* Files that a runtime left in /tmp are the process's if they are its user's.  Entries of older
   writers end before it. */
struct dbk_map_exit {
	uint32_t user;	   /* the process's effective one, as the first user namespace counts */
	uint32_t reserved; /* 0 */
};

struct dbk_map_gap {
	uint64_t lost;	  /* entries that found no room; 0: tracking began here */
	uint64_t from_ns; /* CLOCK_MONOTONIC of the first of them */
};

DBK_ABI_SIZE(struct dbk_map_entry, 32);
DBK_ABI_AT(struct dbk_map_entry, entry_bytes, 0);
DBK_ABI_AT(struct dbk_map_entry, kind, 4);
DBK_ABI_AT(struct dbk_map_entry, flags, 6);
DBK_ABI_AT(struct dbk_map_entry, pid, 8);
DBK_ABI_AT(struct dbk_map_entry, image, 12);
DBK_ABI_AT(struct dbk_map_entry, born_ns, 16);
DBK_ABI_AT(struct dbk_map_entry, mono_ns, 24);
DBK_ABI_SIZE(struct dbk_map_block, 16);
DBK_ABI_AT(struct dbk_map_block, number, 0);
DBK_ABI_AT(struct dbk_map_block, entered_before, 8);
DBK_ABI_SIZE(struct dbk_map_file, 24);
DBK_ABI_AT(struct dbk_map_file, build_id, 0);
DBK_ABI_AT(struct dbk_map_file, build_id_bytes, 20);
DBK_ABI_AT(struct dbk_map_file, path_bytes, 22);
DBK_ABI_SIZE(struct dbk_map_image, 8);
DBK_ABI_AT(struct dbk_map_image, cause, 0);
DBK_ABI_AT(struct dbk_map_image, parent_pid, 4);
DBK_ABI_SIZE(struct dbk_map_namespaces, 8);
DBK_ABI_AT(struct dbk_map_namespaces, mount, 0);
DBK_ABI_AT(struct dbk_map_namespaces, pid, 4);
DBK_ABI_SIZE(struct dbk_map_mapping, 32);
DBK_ABI_AT(struct dbk_map_mapping, begin, 0);
DBK_ABI_AT(struct dbk_map_mapping, end, 8);
DBK_ABI_AT(struct dbk_map_mapping, offset, 16);
DBK_ABI_AT(struct dbk_map_mapping, file_at, 24);
DBK_ABI_AT(struct dbk_map_mapping, reserved, 28);
DBK_ABI_SIZE(struct dbk_map_exit, 8);
DBK_ABI_AT(struct dbk_map_exit, user, 0);
DBK_ABI_AT(struct dbk_map_exit, reserved, 4);
DBK_ABI_SIZE(struct dbk_map_gap, 16);
DBK_ABI_AT(struct dbk_map_gap, lost, 0);
DBK_ABI_AT(struct dbk_map_gap, from_ns, 8);

#endif /* DBK_ABI_MAPS_H */
