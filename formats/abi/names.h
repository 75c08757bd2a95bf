/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * names.h - how long a probe's names may be
 *
 * A function of a program may be a C++ one, whose mangled name has hundreds of bytes; provider, module
 * and name are at most DBK_PROBE_NAME_BYTES_MAX (limits.h).
 */
#ifndef DBK_ABI_NAMES_H
#define DBK_ABI_NAMES_H

#include "formats/abi/limits.h"

#define DBK_PROBE_FUNCTION_BYTES_MAX 4095u
/* Of all places of a program: 100 000 functions have 6 MiB.  The kernel copies them. */
#define DBK_PLACES_FUNCTION_BYTES_MAX (16u << 20)

#endif /* DBK_ABI_NAMES_H */
