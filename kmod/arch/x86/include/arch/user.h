/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.h - functions of 64-bit programs: their arguments
 */
#ifndef DBK_KMOD_USER_H
#define DBK_KMOD_USER_H

#include "engine/api/engine.h"
#include "arch/registers.h"

/* Where in struct pt_regs, by words, the first arguments of a function are. */
#define DBK_USER_ARGUMENT_WORDS                                                                    \
	{                                                                                          \
		DBK_REGISTER_WORD(di), DBK_REGISTER_WORD(si), DBK_REGISTER_WORD(dx),               \
			DBK_REGISTER_WORD(cx), DBK_REGISTER_WORD(r8), DBK_REGISTER_WORD(r9),       \
	}

/* A register of struct dbk_operand, as engine/arch/operands_x86_64.c numbers them. */
static __probe_ctx_inline u64 dbk_user_register(const struct pt_regs *regs, u8 number)
{
	static const u8 words[] = {
		DBK_REGISTER_WORD(ax),	DBK_REGISTER_WORD(bx),	DBK_REGISTER_WORD(cx),
		DBK_REGISTER_WORD(dx),	DBK_REGISTER_WORD(si),	DBK_REGISTER_WORD(di),
		DBK_REGISTER_WORD(bp),	DBK_REGISTER_WORD(sp),	DBK_REGISTER_WORD(r8),
		DBK_REGISTER_WORD(r9),	DBK_REGISTER_WORD(r10), DBK_REGISTER_WORD(r11),
		DBK_REGISTER_WORD(r12), DBK_REGISTER_WORD(r13), DBK_REGISTER_WORD(r14),
		DBK_REGISTER_WORD(r15), DBK_REGISTER_WORD(ip),
	};

	return number < ARRAY_SIZE(words) ? dbk_register(regs, words[number]) : 0;
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

#endif /* DBK_KMOD_USER_H */
