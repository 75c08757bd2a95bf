/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * instruction.h - instructions: their length, and the breakpoints that are probes at them
 */
#ifndef DBK_KMOD_INSTRUCTION_H
#define DBK_KMOD_INSTRUCTION_H

#include <linux/preempt.h>
#include <asm/cpu_entry_area.h>
#include <asm/insn.h>

#include "arch/registers.h"

#define DBK_INSTRUCTION_BYTES_MAX MAX_INSN_SIZE

/* kinst's arguments, where they are in struct pt_regs: as a function is called with, then the others that matter. */
#define DBK_INSTRUCTION_ARGUMENT_WORDS                                                             \
	{                                                                                          \
		DBK_REGISTER_WORD(di), DBK_REGISTER_WORD(si), DBK_REGISTER_WORD(dx),               \
			DBK_REGISTER_WORD(cx), DBK_REGISTER_WORD(r8), DBK_REGISTER_WORD(r9),       \
			DBK_REGISTER_WORD(ax), DBK_REGISTER_WORD(sp), DBK_REGISTER_WORD(bp),       \
			DBK_REGISTER_WORD(bx),                                                     \
	}

/** dbk_instruction_bytes() - length of the instruction that @code begins with; 0: it is none
 * @insn_decode: the kernel's, which modules have to look for; 0: not found */
static inline u32 dbk_instruction_bytes(unsigned long insn_decode, const u8 *code, u32 bytes)
{
	int (*decode)(struct insn *insn, const void *code, int bytes, enum insn_mode mode) =
		(void *)insn_decode;
	struct insn insn;

	return decode && decode(&insn, code, bytes, INSN_MODE_64) >= 0 ? insn.length : 0;
}

/** dbk_trap_count() - what a breakpoint's trap has added to the preemption count; 0: this is none
 *
 * Its handler counts as an NMI whatever it interrupted (exc_int3()); one that is called by a
 * jump or ftrace does not.  An NMI of the kernel's has a stack of its own, in the CPU's entry area.
 * Probe context. */
static __probe_ctx_inline unsigned int dbk_trap_count(void)
{
	return in_nmi() && current_stack_pointer - CPU_ENTRY_AREA_BASE >= P4D_SIZE ?
		       NMI_OFFSET + HARDIRQ_OFFSET :
		       0;
}

#endif /* DBK_KMOD_INSTRUCTION_H */
