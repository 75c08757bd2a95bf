/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * insn.h - the instructions as the interpreter runs them
 *
 * Decoding keeps one instruction per DIF instruction, so that a branch target
 * and a fault's offset mean the same in both.  What the verifier found out is
 * in the operation: which kind of variable a load means, and where it lies.
 * The hot ones come first: the kernel is built without jump tables, and the
 * interpreter asks for them before it asks for the rest.
 */
#ifndef DBK_ENGINE_INSN_H
#define DBK_ENGINE_INSN_H

#include "engine/types/internal.h"

enum dbk_iop {
	/* hot; arg: */
	DBK_IOP_RET,
	DBK_IOP_LOAD_ARG, /* argument index */
	DBK_IOP_LOAD_VAR, /* built-in variable id */
	DBK_IOP_SETX,	  /* integer index */
	DBK_IOP_CMP,
	DBK_IOP_BE, /* branches: target instruction */
	DBK_IOP_BNE,
	DBK_IOP_BA,
	DBK_IOP_MOV,
	DBK_IOP_TST,
	DBK_IOP_ADD,
	DBK_IOP_SUB,
	DBK_IOP_AND,
	DBK_IOP_OR,
	DBK_IOP_XOR,
	DBK_IOP_SLL,
	DBK_IOP_SRL,
	DBK_IOP_SRA,
	DBK_IOP_MUL,
	DBK_IOP_LOAD_GLOBAL, /* by value: offset in the globals */
	DBK_IOP_STORE_GLOBAL,
	DBK_IOP_LOAD_LOCAL, /* by value: offset in the locals */
	DBK_IOP_STORE_LOCAL,
	DBK_IOP_HOT_END, /* none; the others follow */

	DBK_IOP_BG = DBK_IOP_HOT_END,
	DBK_IOP_BGU,
	DBK_IOP_BGE,
	DBK_IOP_BGEU,
	DBK_IOP_BL,
	DBK_IOP_BLU,
	DBK_IOP_BLE,
	DBK_IOP_BLEU,
	DBK_IOP_LOAD,	   /* rd = memory at r1; arg: DBK_LOAD_ of width and sign */
	DBK_IOP_LOAD_USER, /* the same from the process */
	DBK_IOP_STORE,	   /* memory at rd = r1; arg: width */
	DBK_IOP_SETS,	   /* string offset */
	DBK_IOP_SCMP,
	DBK_IOP_LOAD_THREAD, /* self->x: variable index */
	DBK_IOP_STORE_THREAD,
	DBK_IOP_LOAD_ARRAY, /* x[...]: variable index */
	DBK_IOP_STORE_ARRAY,
	DBK_IOP_LOAD_THREAD_ARRAY, /* self->x[...]: variable index */
	DBK_IOP_STORE_THREAD_ARRAY,
	DBK_IOP_LOAD_GLOBAL_REF, /* by reference: variable index */
	DBK_IOP_STORE_GLOBAL_REF,
	DBK_IOP_LOAD_LOCAL_REF,
	DBK_IOP_STORE_LOCAL_REF,
	DBK_IOP_LOAD_GUARDED, /* LOAD_VAR that needs a privilege, which is lacking */
	DBK_IOP_LOAD_ARGS,    /* args[r2] */
	DBK_IOP_LOAD_UREGS,   /* uregs[r2] */
	DBK_IOP_CALL,	      /* subroutine id */
	DBK_IOP_PUSH_REF,     /* r1: type, r2: size register, rd: value register */
	DBK_IOP_PUSH_VALUE,
	DBK_IOP_POP,
	DBK_IOP_FLUSH,
	DBK_IOP_NOT,
	DBK_IOP_SDIV,
	DBK_IOP_UDIV,
	DBK_IOP_SREM,
	DBK_IOP_UREM,
	DBK_IOP_ALLOCS,
	DBK_IOP_COPYS,
	DBK_IOP_NOP,
};

/* The argument of LOAD and LOAD_USER. */
#define DBK_LOAD_BYTES(arg) ((arg)&0xfu)
#define DBK_LOAD_SIGNED	    0x10u

/** dbk_extend() - of what LOAD with this argument loaded, to 64 bits */
static __probe_ctx_inline uint64_t dbk_extend(uint64_t value, uint32_t arg)
{
	uint32_t shift = 64 - 8 * DBK_LOAD_BYTES(arg);

	if ((arg & DBK_LOAD_SIGNED) == 0)
		return value;
	return (uint64_t)((int64_t)(value << shift) >> shift);
}

/** dbk_branch_taken() - whether a conditional branch goes after a comparison of @a with @b */
static __probe_ctx_inline bool dbk_branch_taken(uint32_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case DBK_IOP_BE:
		return a == b;
	case DBK_IOP_BNE:
		return a != b;
	case DBK_IOP_BG:
		return (int64_t)a > (int64_t)b;
	case DBK_IOP_BGU:
		return a > b;
	case DBK_IOP_BGE:
		return (int64_t)a >= (int64_t)b;
	case DBK_IOP_BGEU:
		return a >= b;
	case DBK_IOP_BL:
		return (int64_t)a < (int64_t)b;
	case DBK_IOP_BLU:
		return a < b;
	case DBK_IOP_BLE:
		return (int64_t)a <= (int64_t)b;
	default: /* DBK_IOP_BLEU */
		return a <= b;
	}
}

#endif /* DBK_ENGINE_INSN_H */
