/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * callable.h - functions of the kernel that are not exported, and are called through a pointer
 */
#ifndef DBK_KMOD_ARCH_CALLABLE_H
#define DBK_KMOD_ARCH_CALLABLE_H

/* Defined by hand: all calls go through trampolines, to try them where the processor needs none. */
#if defined(CONFIG_X86_KERNEL_IBT) || defined(DBK_CALLS_BY_TRAMPOLINE)
#define DBK_HAS_TRAMPOLINES
#endif
/* 32: twice as many as functions that are called so. */
#define DBK_TRAMPOLINES 32

#ifndef __ASSEMBLY__
/** dbk_callable() - what may be called through a pointer and calls the kernel's function at @address
 *
 * Context: init, or [S].
 * Return: NULL: @address is 0, or there are too many.
 */
void *dbk_callable(unsigned long address);
#endif

#endif /* DBK_KMOD_ARCH_CALLABLE_H */
