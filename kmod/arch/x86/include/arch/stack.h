/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack.h - stacks, callers and registers
 */
#ifndef DBK_KMOD_ARCH_STACK_H
#define DBK_KMOD_ARCH_STACK_H

/** dbk_stack_init() - learns where the module's own text is, to leave it out of stacks */
void dbk_stack_init(void);

#endif /* DBK_KMOD_ARCH_STACK_H */
