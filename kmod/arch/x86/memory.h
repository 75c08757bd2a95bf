/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - whose page tables are in use, and what the firmware says is memory
 */
#ifndef DBK_KMOD_ARCH_MEMORY_H
#define DBK_KMOD_ARCH_MEMORY_H

#include <linux/mm.h>
#include <asm/e820/api.h>
#include <asm/special_insns.h>

#include "engine/api/platform.h"

/** dbk_memory_is_loaded() - whether this CPU's page tables are those of @mm.  Probe context */
static __probe_ctx_inline bool dbk_memory_is_loaded(const struct mm_struct *mm)
{
	return mm->pgd == __va(read_cr3_pa());
}

/** dbk_memory_is_kernels() - whether the kernel has some of it as its memory */
static inline bool dbk_memory_is_kernels(u64 start, u64 end)
{
	return e820__mapped_any(start, end, E820_TYPE_RAM);
}

/** dbk_memory_is_firmwares() - whether the firmware calls some of it memory */
static inline bool dbk_memory_is_firmwares(u64 start, u64 end)
{
	return e820__mapped_raw_any(start, end, E820_TYPE_RAM);
}

#endif /* DBK_KMOD_ARCH_MEMORY_H */
