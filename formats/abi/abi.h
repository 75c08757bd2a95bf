/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * abi.h - the ground rules of every byte shared by two programs
 *
 * The headers of this folder are the only description of bytes that leave a
 * process or outlive it: DIF and DOF, ring segments, metadata blocks, the
 * device's ioctls.  They compile as kernel C, as C11 and as C++20.  All fields
 * are little-endian, of fixed width, and explicitly padded; padding is zero.
 * A struct pins its own size with DBK_ABI_SIZE and each field with DBK_ABI_AT,
 * so a compiler that lays one out differently does not get past this file.
 */
#ifndef DBK_ABI_ABI_H
#define DBK_ABI_ABI_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
#define DBK_ABI_ASSERT(cond, text) static_assert(cond, text)
#else
#define DBK_ABI_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/** DBK_ABI_SIZE() - fails the build unless @type is exactly @bytes long */
#define DBK_ABI_SIZE(type, bytes)                                                                  \
	DBK_ABI_ASSERT(sizeof(type) == (bytes), #type " must be " #bytes " bytes")

/** DBK_ABI_AT() - fails the build unless @field of @type starts at @offset */
#define DBK_ABI_AT(type, field, offset)                                                            \
	DBK_ABI_ASSERT(offsetof(type, field) == (offset), #type "." #field " must be at " #offset)

#endif /* DBK_ABI_ABI_H */
