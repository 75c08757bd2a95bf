/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.h - functions of 64-bit programs: their arguments, results and instructions
 */
#ifndef DBK_KMOD_USER_H
#define DBK_KMOD_USER_H

#include <linux/stddef.h>
#include <asm/insn.h>
#include <asm/ptrace.h>

#include "engine/api/platform.h"

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
