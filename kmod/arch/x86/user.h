/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.h - functions of 64-bit programs: their arguments, results and instructions
 */
#ifndef DBK_KMOD_USER_H
#define DBK_KMOD_USER_H

#include <linux/stddef.h>
#include <asm/insn.h>
#include <asm/ptrace.h>

#include "engine/api/engine.h"

#define DBK_REGISTER_WORD(name) (offsetof(struct pt_regs, name) / sizeof(unsigned long))

/* Where in struct pt_regs, by words, the first arguments of a function are. */
#define DBK_USER_ARGUMENT_WORDS                                                                    \
	{                                                                                          \
		DBK_REGISTER_WORD(di), DBK_REGISTER_WORD(si), DBK_REGISTER_WORD(dx),               \
			DBK_REGISTER_WORD(cx), DBK_REGISTER_WORD(r8), DBK_REGISTER_WORD(r9),       \
	}

#define DBK_INSTRUCTION_BYTES_MAX MAX_INSN_SIZE

/** dbk_user_result() - what the function that has just returned returns */
static __probe_ctx_inline u64 dbk_user_result(const struct pt_regs *regs)
{
	return regs->ax;
}

/* A register of struct dbk_operand. */
static __probe_ctx_inline u64 dbk_user_register(const struct pt_regs *regs, u8 number)
{
	static const u8 words[16] = {
		DBK_REGISTER_WORD(ax),	DBK_REGISTER_WORD(bx),	DBK_REGISTER_WORD(cx),
		DBK_REGISTER_WORD(dx),	DBK_REGISTER_WORD(si),	DBK_REGISTER_WORD(di),
		DBK_REGISTER_WORD(bp),	DBK_REGISTER_WORD(sp),	DBK_REGISTER_WORD(r8),
		DBK_REGISTER_WORD(r9),	DBK_REGISTER_WORD(r10), DBK_REGISTER_WORD(r11),
		DBK_REGISTER_WORD(r12), DBK_REGISTER_WORD(r13), DBK_REGISTER_WORD(r14),
		DBK_REGISTER_WORD(r15),
	};

	return number < ARRAY_SIZE(words) ? ((const unsigned long *)regs)[words[number]] : 0;
}

/** dbk_user_operand() - the value of a mark's argument; 0: it cannot be read */
static __probe_ctx_inline u64 dbk_user_operand(const struct pt_regs *regs,
					       const struct dbk_operand *operand)
{
	u32 unused_bits = 64 - 8 * operand->bytes;
	u64 value = operand->value;

	if (operand->kind == DBK_OPERAND_NONE)
		return 0;
	if (operand->kind == DBK_OPERAND_REGISTER)
		value = dbk_user_register(regs, operand->base);
	if (operand->kind == DBK_OPERAND_MEMORY) {
		u64 address = value + dbk_user_register(regs, operand->base) +
			      dbk_user_register(regs, operand->index) * operand->scale;

		value = 0;
		dbk_host_load_user(&value, address, operand->bytes);
	}
	value <<= unused_bits;
	return operand->is_signed ? (u64)((s64)value >> unused_bits) : value >> unused_bits;
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

#endif /* DBK_KMOD_USER_H */
