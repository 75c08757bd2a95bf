/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - whose page tables are in use, and which addresses are the kernel's
 */
#ifndef DBK_KMOD_ARCH_MEMORY_H
#define DBK_KMOD_ARCH_MEMORY_H

#include <linux/mm.h>
#include <asm/special_insns.h>

#include "engine/api/platform.h"

/** dbk_memory_is_loaded() - whether this CPU's page tables are those of @mm.  Probe context */
static __probe_ctx_inline bool dbk_memory_is_loaded(const struct mm_struct *mm)
{
	return mm->pgd == __va(read_cr3_pa());
}

/* Where page tables of four levels begin to be the kernel's, those of five do before; the last 16 MiB have the page
 * of vsyscall, a fault in which is not a kernel's. */
#define DBK_MEMORY_KERNEL_FROM 0xffff800000000000ull
#define DBK_MEMORY_KERNEL_END  0xffffffffff000000ull

/** dbk_memory_is_kernels() - whether some bytes at @address may be read with nothing but a table of exceptions:
 * what is not mapped there is an ordinary fault.  Probe context */
static __probe_ctx_inline bool dbk_memory_is_kernels(uint64_t address)
{
	return address - DBK_MEMORY_KERNEL_FROM <
	       DBK_MEMORY_KERNEL_END - DBK_MEMORY_KERNEL_FROM;
}

#endif /* DBK_KMOD_ARCH_MEMORY_H */
