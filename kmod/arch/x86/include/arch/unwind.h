/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.h - the module's own unwind tables
 */
#ifndef DBK_KMOD_ARCH_UNWIND_H
#define DBK_KMOD_ARCH_UNWIND_H

/** dbk_unwind_init() - makes stacks that the module is on known to the kernel.  At init, first. */
void dbk_unwind_init(void);

#endif /* DBK_KMOD_ARCH_UNWIND_H */
