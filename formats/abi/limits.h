/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * limits.h - what a program may ask for
 *
 * The engine refuses more.  A compiler says so before, in the program's own words.
 */
#ifndef DBK_ABI_LIMITS_H
#define DBK_ABI_LIMITS_H

/* Of each of a probe's four names: a module may be a path, a function a mangled C++ name. */
#define DBK_PROBE_NAME_BYTES_MAX 4095u
/* Of all places of a program, as the kernel copies them: 100 000 functions have 6 MiB.  What a place shares with
 * the one before it is counted once. */
#define DBK_PLACES_TEXT_BYTES_MAX (16u << 20)
#define DBK_STRSIZE_DEFAULT	 256u
#define DBK_STRSIZE_MIN		 2u
#define DBK_STRSIZE_MAX		 8192u
#define DBK_STACKFRAMES_MAX	 512u
#define DBK_USTACKBYTES_MAX	 32768u /* half of what a record can have */
#define DBK_CLEANRATE_MIN_NS	 200000ull
#define DBK_CLEANRATE_MAX_NS	 60000000000ull

#endif /* DBK_ABI_LIMITS_H */
