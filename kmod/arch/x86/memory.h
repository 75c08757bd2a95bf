/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - whose page tables are in use
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

#endif /* DBK_KMOD_ARCH_MEMORY_H */
