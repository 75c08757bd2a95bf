/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prefix.h - included before everything else in each file of the module
 *
 * What the kernel offers (compat/configure), and how a line in the log starts.
 */
#ifndef DBK_KMOD_PREFIX_H
#define DBK_KMOD_PREFIX_H

#include "kmod/compat/autoconf.h"

/* As on a kernel without BTF, for a test of the build; such a module does not load. */
#ifdef DBK_WITHOUT_BTF
#undef CONFIG_DEBUG_INFO_BTF
#undef CONFIG_DEBUG_INFO_BTF_MODULES
#endif

#define pr_fmt(text) "daybreak: " text

#endif /* DBK_KMOD_PREFIX_H */
