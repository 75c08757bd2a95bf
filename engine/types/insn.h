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

/* What the engine knows of an operation, beside what it does. */
enum {
	DBK_OP_WRITES = 0x1,	    /* stores into rd */
	DBK_OP_COMPARES = 0x2,	    /* sets what branches compare */
	DBK_OP_BRANCH = 0x4,	    /* arg: target instruction */
	DBK_OP_COMPUTES = 0x8,	    /* rd = r1 op r2, as dbk_binary() does */
	DBK_OP_COMMUTES = 0x10,
	DBK_OP_SIGNED = 0x20,	    /* its operands are */
	DBK_OP_THROUGH_R1 = 0x40,   /* reads memory where r1 leads */
	DBK_OP_THROUGH_R2 = 0x80,
	DBK_OP_THROUGH_RD = 0x100,  /* RET: if the object's value is by reference */
	DBK_OP_LEADS = 0x200,	    /* rd then leads to memory that is there, the engine's own */
	DBK_OP_KEEPS = 0x400,	    /* rd then leads where r1 or r2 did */
	DBK_OP_OUTSIDE = 0x800,	    /* what is in rd then comes from outside the expression */
	DBK_OP_EITHER = 0x1000,	    /* a variable by reference, which LEADS and is read THROUGH, or by value, from OUTSIDE */
	DBK_OP_PLACED = 0x2000,	    /* arg: variable index, from dbk_vars_layout() on its offset in the storage */
	DBK_OP_IN_C = 0x4000,	    /* a translated object has it in C, as hot ones and branches; not by dbk_dif_exec_rest() */
	DBK_OP_DIVIDES = 0x8000,    /* rd = r1 op r2, as dbk_quotient() does; a fault if r2 is 0 */
};

/*
 * X(name, DIF instruction, operator, facts)     the comment: what is in arg, or else
 *
 * The DIF instruction is the one that always becomes this operation; 0: load/verify.c chooses among several. The operator
 * is C's, between r1 and r2 or between what was compared. Rows keep their order: run/exec.c asks for ranges of them.
 * A new instruction is a row here, one of DBK_DIF_OPS (formats/abi/dif.h), and what it does in run/exec.c.
 */
#define DBK_IOPS_HOT(X)                                                                                            \
	X(RET, DIF_OP_RET, "", DBK_OP_THROUGH_RD)                                                                  \
	X(LOAD_ARG, 0, "", DBK_OP_WRITES | DBK_OP_OUTSIDE) /* argument index */                                    \
	X(LOAD_VAR, 0, "", DBK_OP_WRITES) /* built-in variable id */                                               \
	X(SETX, DIF_OP_SETX, "", DBK_OP_WRITES) /* integer index */                                                \
	X(CMP, DIF_OP_CMP, "", DBK_OP_COMPARES)                                                                    \
	X(BE, DIF_OP_BE, "==", DBK_OP_BRANCH) /* branches: target instruction */                                   \
	X(BNE, DIF_OP_BNE, "!=", DBK_OP_BRANCH)                                                                    \
	X(BA, DIF_OP_BA, "", DBK_OP_BRANCH)                                                                        \
	X(MOV, DIF_OP_MOV, "", DBK_OP_WRITES | DBK_OP_KEEPS)                                                       \
	X(TST, DIF_OP_TST, "", DBK_OP_COMPARES)                                                                    \
	X(ADD, DIF_OP_ADD, "+", DBK_OP_WRITES | DBK_OP_COMPUTES | DBK_OP_COMMUTES | DBK_OP_KEEPS)                  \
	X(SUB, DIF_OP_SUB, "-", DBK_OP_WRITES | DBK_OP_COMPUTES)                                                   \
	X(AND, DIF_OP_AND, "&", DBK_OP_WRITES | DBK_OP_COMPUTES | DBK_OP_COMMUTES)                                 \
	X(OR, DIF_OP_OR, "|", DBK_OP_WRITES | DBK_OP_COMPUTES | DBK_OP_COMMUTES)                                   \
	X(XOR, DIF_OP_XOR, "^", DBK_OP_WRITES | DBK_OP_COMPUTES | DBK_OP_COMMUTES)                                 \
	X(SLL, DIF_OP_SLL, "<<", DBK_OP_WRITES | DBK_OP_COMPUTES)                                                  \
	X(SRL, DIF_OP_SRL, ">>", DBK_OP_WRITES | DBK_OP_COMPUTES)                                                  \
	X(SRA, DIF_OP_SRA, ">>", DBK_OP_WRITES | DBK_OP_COMPUTES | DBK_OP_SIGNED)                                  \
	X(MUL, DIF_OP_MUL, "*", DBK_OP_WRITES | DBK_OP_COMPUTES | DBK_OP_COMMUTES)                                 \
	X(LOAD_GLOBAL, 0, "", DBK_OP_WRITES | DBK_OP_OUTSIDE | DBK_OP_PLACED) /* by value */                       \
	X(STORE_GLOBAL, 0, "", DBK_OP_PLACED)                                                                      \
	X(LOAD_LOCAL, 0, "", DBK_OP_WRITES | DBK_OP_OUTSIDE | DBK_OP_PLACED)                                       \
	X(STORE_LOCAL, 0, "", DBK_OP_PLACED)

#define DBK_IOPS_REST(X)                                                                                           \
	X(BG, DIF_OP_BG, ">", DBK_OP_BRANCH | DBK_OP_SIGNED)                                                       \
	X(BGU, DIF_OP_BGU, ">", DBK_OP_BRANCH)                                                                     \
	X(BGE, DIF_OP_BGE, ">=", DBK_OP_BRANCH | DBK_OP_SIGNED)                                                    \
	X(BGEU, DIF_OP_BGEU, ">=", DBK_OP_BRANCH)                                                                  \
	X(BL, DIF_OP_BL, "<", DBK_OP_BRANCH | DBK_OP_SIGNED)                                                       \
	X(BLU, DIF_OP_BLU, "<", DBK_OP_BRANCH)                                                                     \
	X(BLE, DIF_OP_BLE, "<=", DBK_OP_BRANCH | DBK_OP_SIGNED)                                                    \
	X(BLEU, DIF_OP_BLEU, "<=", DBK_OP_BRANCH)                                                                  \
	X(LOAD, 0, "", DBK_OP_WRITES | DBK_OP_THROUGH_R1 | DBK_OP_KEEPS) /* rd = memory at r1; DBK_LOAD_ of width and sign */ \
	X(LOAD_USER, 0, "", DBK_OP_WRITES) /* the same from the process */                                         \
	X(STORE, 0, "", 0) /* memory at rd = r1; width */                                                          \
	X(SETS, DIF_OP_SETS, "", DBK_OP_WRITES | DBK_OP_LEADS | DBK_OP_IN_C) /* string offset */                   \
	X(SCMP, DIF_OP_SCMP, "", DBK_OP_COMPARES | DBK_OP_THROUGH_R1 | DBK_OP_THROUGH_R2)                          \
	X(LOAD_THREAD, 0, "", DBK_OP_WRITES | DBK_OP_EITHER | DBK_OP_LEADS | DBK_OP_OUTSIDE | DBK_OP_IN_C) /* self->x: variable index, as all that follow */ \
	X(STORE_THREAD, 0, "", DBK_OP_EITHER | DBK_OP_THROUGH_RD)                                                  \
	X(LOAD_ARRAY, 0, "", DBK_OP_WRITES | DBK_OP_EITHER | DBK_OP_LEADS | DBK_OP_OUTSIDE) /* x[...] */           \
	X(STORE_ARRAY, 0, "", DBK_OP_EITHER | DBK_OP_THROUGH_RD)                                                   \
	X(LOAD_THREAD_ARRAY, 0, "", DBK_OP_WRITES | DBK_OP_EITHER | DBK_OP_LEADS | DBK_OP_OUTSIDE) /* self->x[...] */ \
	X(STORE_THREAD_ARRAY, 0, "", DBK_OP_EITHER | DBK_OP_THROUGH_RD)                                            \
	X(LOAD_GLOBAL_REF, 0, "", DBK_OP_WRITES | DBK_OP_LEADS) /* by reference */                                 \
	X(STORE_GLOBAL_REF, 0, "", DBK_OP_THROUGH_RD)                                                              \
	X(LOAD_LOCAL_REF, 0, "", DBK_OP_WRITES | DBK_OP_LEADS)                                                     \
	X(STORE_LOCAL_REF, 0, "", DBK_OP_THROUGH_RD)                                                               \
	X(LOAD_GUARDED, 0, "", DBK_OP_WRITES) /* LOAD_VAR that needs a privilege, which is lacking */              \
	X(LOAD_ARGS, 0, "", DBK_OP_WRITES | DBK_OP_OUTSIDE) /* args[r2] */                                         \
	X(LOAD_UREGS, 0, "", DBK_OP_WRITES) /* uregs[r2] */                                                        \
	X(CALL, DIF_OP_CALL, "", DBK_OP_WRITES | DBK_OP_LEADS) /* subroutine id; most give a string of the engine's */ \
	X(PUSH_REF, DIF_OP_PUSHTR, "", DBK_OP_THROUGH_RD) /* r1: type, r2: size register, rd: value register */    \
	X(PUSH_VALUE, DIF_OP_PUSHTV, "", 0)                                                                        \
	X(POP, DIF_OP_POPTS, "", 0)                                                                                \
	X(FLUSH, DIF_OP_FLUSHTS, "", 0)                                                                            \
	X(NOT, DIF_OP_NOT, "", DBK_OP_WRITES | DBK_OP_IN_C)                                                        \
	X(SDIV, DIF_OP_SDIV, "/", DBK_OP_WRITES | DBK_OP_DIVIDES | DBK_OP_SIGNED)                                  \
	X(UDIV, DIF_OP_UDIV, "/", DBK_OP_WRITES | DBK_OP_DIVIDES)                                                  \
	X(SREM, DIF_OP_SREM, "%", DBK_OP_WRITES | DBK_OP_DIVIDES | DBK_OP_SIGNED)                                  \
	X(UREM, DIF_OP_UREM, "%", DBK_OP_WRITES | DBK_OP_DIVIDES)                                                  \
	X(ALLOCS, DIF_OP_ALLOCS, "", DBK_OP_WRITES | DBK_OP_LEADS)                                                 \
	X(COPYS, DIF_OP_COPYS, "", DBK_OP_THROUGH_R1) /* r2 bytes from r1 to rd */                                 \
	X(NOP, DIF_OP_NOP, "", DBK_OP_IN_C)

#define DBK_IOPS(X) DBK_IOPS_HOT(X) DBK_IOPS_REST(X)

#define DBK_IOP_ENUM(name, dif, text, facts) DBK_IOP_##name,
enum dbk_iop {
	DBK_IOPS_HOT(DBK_IOP_ENUM)
	DBK_IOP_HOT_END,
	DBK_IOP_HOT_LAST = DBK_IOP_HOT_END - 1, /* the next row's number follows this one's */
	DBK_IOPS_REST(DBK_IOP_ENUM)
};
#undef DBK_IOP_ENUM

/** dbk_iop_facts() - DBK_OP_ bits of an operation */
static inline uint32_t dbk_iop_facts(uint32_t op)
{
#define DBK_IOP_FACTS(name, dif, text, facts) facts,
	static const uint16_t facts_of[] = {DBK_IOPS(DBK_IOP_FACTS)};
#undef DBK_IOP_FACTS

	return facts_of[op];
}

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
