/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * embed.h - how DOF, and what was compiled from it, lies inside daybreak.ko
 *
 * The module is built with a section that holds an empty container.  `daybreak
 * embed` gives that section new contents and a new size; the module's symbol for
 * the section's start stays where it was, so nothing else in the file changes its
 * meaning.  Images follow the header one after the other, each 8-aligned.  embed.md beside this
 * file is the specification with a worked example.
 */
#ifndef DBK_ABI_EMBED_H
#define DBK_ABI_EMBED_H

#include "abi.h"

#define DBK_EMBED_SECTION    ".rodata.daybreak_dof"
#define DBK_EMBED_MAGIC	     0x31464f444b4244ull /* "DBKDOF1" and a NUL in memory */
#define DBK_EMBED_IMAGES_MAX 32u

struct dbk_embed_header {
	uint64_t magic;	      /* DBK_EMBED_MAGIC */
	uint64_t total_bytes; /* this header, images and padding */
	uint32_t image_count; /* 0: nothing embedded; at most DBK_EMBED_IMAGES_MAX */
	uint32_t reserved;
};

/* Before each image; the next starts 8-aligned after dof_bytes. */
struct dbk_embed_image {
	uint64_t dof_bytes;
	char name[32]; /* of the enabling, NUL-terminated; becomes the ring's name */
};

/*
 * What `daybreak embed --native` linked to the module: one part for each program that was
 * translated and compiled, one after the other, zeros between them.  A part names its program by
 * the whole of its DOF, which may be embedded, lie beside the module or come by the device.
 */
#define DBK_NATIVE_SECTION ".rodata.daybreak_native"
#define DBK_NATIVE_MAGIC   0x3154414e4b4244ull /* "DBKNAT1" and a NUL in memory */

/* X(NAME, value, text): how much of a clause is native */
#define DBK_NATIVE_WAYS(X)                                                                         \
	X(INTERPRETED, 0, "interpreted")                                                           \
	X(VALUES, 1, "expressions")                                                                \
	X(WHOLE, 2, "whole")

#define DBK_NATIVE_ENUM(name, value, text) DBK_NATIVE_##name = value,
enum dbk_native_way { DBK_NATIVE_WAYS(DBK_NATIVE_ENUM) DBK_NATIVE_WAY_COUNT };
#undef DBK_NATIVE_ENUM

/* Then an enum dbk_native_way in a byte for each clause, and the DOF. */
struct dbk_native_part {
	uint64_t magic;	       /* DBK_NATIVE_MAGIC */
	uint32_t dof_bytes;    /* of the image */
	uint32_t clause_count; /* ECBDESCs in it */
};

DBK_ABI_SIZE(struct dbk_native_part, 16);
DBK_ABI_AT(struct dbk_native_part, magic, 0);
DBK_ABI_AT(struct dbk_native_part, dof_bytes, 8);
DBK_ABI_AT(struct dbk_native_part, clause_count, 12);
DBK_ABI_SIZE(struct dbk_embed_header, 24);
DBK_ABI_AT(struct dbk_embed_header, magic, 0);
DBK_ABI_AT(struct dbk_embed_header, total_bytes, 8);
DBK_ABI_AT(struct dbk_embed_header, image_count, 16);
DBK_ABI_SIZE(struct dbk_embed_image, 40);
DBK_ABI_AT(struct dbk_embed_image, dof_bytes, 0);
DBK_ABI_AT(struct dbk_embed_image, name, 8);

#endif /* DBK_ABI_EMBED_H */
