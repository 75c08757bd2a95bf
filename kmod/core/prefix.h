/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prefix.h - included before everything else in each file of the module
 *
 * What the kernel offers (compat/configure), and how a line in the log starts.
 */
#ifndef DBK_KMOD_PREFIX_H
#define DBK_KMOD_PREFIX_H

#include "kmod/compat/autoconf.h"

#define pr_fmt(text) "daybreak: " text

#endif /* DBK_KMOD_PREFIX_H */
