/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * registers.h - struct pt_regs, where what the kernel has for all machines does not do
 */
#ifndef DBK_KMOD_REGISTERS_H
#define DBK_KMOD_REGISTERS_H

#include <linux/ptrace.h>
#include <linux/stddef.h>

#include "engine/api/platform.h"

/* Where in it, by words, a register is. */
#define DBK_REGISTER_WORD(name) (offsetof(struct pt_regs, name) / sizeof(unsigned long))

static __probe_ctx_inline unsigned long dbk_register(const struct pt_regs *regs, unsigned int word)
{
	return ((const unsigned long *)regs)[word];
}

/** dbk_register_caller() - where a function, at whose entry they are, was called from.  Probe context */
static __probe_ctx_inline unsigned long dbk_register_caller(const struct pt_regs *regs)
{
	return *(const unsigned long *)regs->sp;
}

#endif /* DBK_KMOD_REGISTERS_H */
