/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dif.h - the D intermediate format: instructions, variables, subroutines, types
 *
 * DIF version 2, as published by every DTrace port; where ports disagree, the
 * numbers are Oracle's (the dialect our DOF names, see dof.h).  dif.md beside
 * this file specifies the encoding with a worked example.
 *
 * An instruction is 32 bits: op in 31..24, then r1 23..16, r2 15..8, rd 7..0.
 * A branch has a 24-bit instruction index as its label, forward only.  A
 * variable, integer, string or subroutine index sits in bits 23..8.  Register 0
 * reads 0.  A DIF object ends in its last instruction, a ret.
 */
#ifndef DBK_ABI_DIF_H
#define DBK_ABI_DIF_H

#include "abi.h"

#define DIF_VERSION   2
#define DIF_DIR_NREGS 8 /* integer registers, %r0 .. %r7 */
#define DIF_DTR_NREGS 8 /* tuple registers */
#define DIF_REG_R0    0

/*
 * Operand forms, the fourth column of DBK_DIF_OPS:
 *   NONE, RD, R1, R1_RD, R1_R2, R1_R2_RD   registers only
 *   R1_R2_RS                               the same, but the last is read
 *   LABEL                                  branch target
 *   LOAD, STORE                            [r1] -> rd, r1 -> [rd]
 *   INT_RD, STR_RD                         table index, rd
 *   VAR_RD, VAR_RS                         variable id, destination or source
 *   VAR_RI_RD                              array id in r1, index register r2, rd
 *   SUBR_RD                                subroutine id, rd
 *   PUSH                                   type r1, size register r2, value rs
 *   XLREF_RD                               translator reference, rd
 */
enum dif_form {
	DIF_FORM_NONE,
	DIF_FORM_RD,
	DIF_FORM_R1,
	DIF_FORM_R1_RD,
	DIF_FORM_R1_R2,
	DIF_FORM_R1_R2_RD,
	DIF_FORM_R1_R2_RS,
	DIF_FORM_LABEL,
	DIF_FORM_LOAD,
	DIF_FORM_STORE,
	DIF_FORM_INT_RD,
	DIF_FORM_STR_RD,
	DIF_FORM_VAR_RD,
	DIF_FORM_VAR_RS,
	DIF_FORM_VAR_RI_RD,
	DIF_FORM_SUBR_RD,
	DIF_FORM_PUSH,
	DIF_FORM_XLREF_RD,
};

/* X(published name, opcode, mnemonic, operand form) */
#define DBK_DIF_OPS(X)                                                                             \
	X(DIF_OP_OR, 1, "or", DIF_FORM_R1_R2_RD)                                                   \
	X(DIF_OP_XOR, 2, "xor", DIF_FORM_R1_R2_RD)                                                 \
	X(DIF_OP_AND, 3, "and", DIF_FORM_R1_R2_RD)                                                 \
	X(DIF_OP_SLL, 4, "sll", DIF_FORM_R1_R2_RD)                                                 \
	X(DIF_OP_SRL, 5, "srl", DIF_FORM_R1_R2_RD)                                                 \
	X(DIF_OP_SUB, 6, "sub", DIF_FORM_R1_R2_RD)                                                 \
	X(DIF_OP_ADD, 7, "add", DIF_FORM_R1_R2_RD)                                                 \
	X(DIF_OP_MUL, 8, "mul", DIF_FORM_R1_R2_RD)                                                 \
	X(DIF_OP_SDIV, 9, "sdiv", DIF_FORM_R1_R2_RD)                                               \
	X(DIF_OP_UDIV, 10, "udiv", DIF_FORM_R1_R2_RD)                                              \
	X(DIF_OP_SREM, 11, "srem", DIF_FORM_R1_R2_RD)                                              \
	X(DIF_OP_UREM, 12, "urem", DIF_FORM_R1_R2_RD)                                              \
	X(DIF_OP_NOT, 13, "not", DIF_FORM_R1_RD)                                                   \
	X(DIF_OP_MOV, 14, "mov", DIF_FORM_R1_RD)                                                   \
	X(DIF_OP_CMP, 15, "cmp", DIF_FORM_R1_R2)                                                   \
	X(DIF_OP_TST, 16, "tst", DIF_FORM_R1)                                                      \
	X(DIF_OP_BA, 17, "ba", DIF_FORM_LABEL)                                                     \
	X(DIF_OP_BE, 18, "be", DIF_FORM_LABEL)                                                     \
	X(DIF_OP_BNE, 19, "bne", DIF_FORM_LABEL)                                                   \
	X(DIF_OP_BG, 20, "bg", DIF_FORM_LABEL)                                                     \
	X(DIF_OP_BGU, 21, "bgu", DIF_FORM_LABEL)                                                   \
	X(DIF_OP_BGE, 22, "bge", DIF_FORM_LABEL)                                                   \
	X(DIF_OP_BGEU, 23, "bgeu", DIF_FORM_LABEL)                                                 \
	X(DIF_OP_BL, 24, "bl", DIF_FORM_LABEL)                                                     \
	X(DIF_OP_BLU, 25, "blu", DIF_FORM_LABEL)                                                   \
	X(DIF_OP_BLE, 26, "ble", DIF_FORM_LABEL)                                                   \
	X(DIF_OP_BLEU, 27, "bleu", DIF_FORM_LABEL)                                                 \
	X(DIF_OP_LDSB, 28, "ldsb", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_LDSH, 29, "ldsh", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_LDSW, 30, "ldsw", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_LDUB, 31, "ldub", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_LDUH, 32, "lduh", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_LDUW, 33, "lduw", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_LDX, 34, "ldx", DIF_FORM_LOAD)                                                    \
	X(DIF_OP_RET, 35, "ret", DIF_FORM_RD)                                                      \
	X(DIF_OP_NOP, 36, "nop", DIF_FORM_NONE)                                                    \
	X(DIF_OP_SETX, 37, "setx", DIF_FORM_INT_RD)                                                \
	X(DIF_OP_SETS, 38, "sets", DIF_FORM_STR_RD)                                                \
	X(DIF_OP_SCMP, 39, "scmp", DIF_FORM_R1_R2)                                                 \
	X(DIF_OP_LDGA, 40, "ldga", DIF_FORM_VAR_RI_RD)                                             \
	X(DIF_OP_LDGS, 41, "ldgs", DIF_FORM_VAR_RD)                                                \
	X(DIF_OP_STGS, 42, "stgs", DIF_FORM_VAR_RS)                                                \
	X(DIF_OP_LDTA, 43, "ldta", DIF_FORM_VAR_RI_RD)                                             \
	X(DIF_OP_LDTS, 44, "ldts", DIF_FORM_VAR_RD)                                                \
	X(DIF_OP_STTS, 45, "stts", DIF_FORM_VAR_RS)                                                \
	X(DIF_OP_SRA, 46, "sra", DIF_FORM_R1_R2_RD)                                                \
	X(DIF_OP_CALL, 47, "call", DIF_FORM_SUBR_RD)                                               \
	X(DIF_OP_PUSHTR, 48, "pushtr", DIF_FORM_PUSH)                                              \
	X(DIF_OP_PUSHTV, 49, "pushtv", DIF_FORM_PUSH)                                              \
	X(DIF_OP_POPTS, 50, "popts", DIF_FORM_NONE)                                                \
	X(DIF_OP_FLUSHTS, 51, "flushts", DIF_FORM_NONE)                                            \
	X(DIF_OP_LDGAA, 52, "ldgaa", DIF_FORM_VAR_RD)                                              \
	X(DIF_OP_LDTAA, 53, "ldtaa", DIF_FORM_VAR_RD)                                              \
	X(DIF_OP_STGAA, 54, "stgaa", DIF_FORM_VAR_RS)                                              \
	X(DIF_OP_STTAA, 55, "sttaa", DIF_FORM_VAR_RS)                                              \
	X(DIF_OP_LDLS, 56, "ldls", DIF_FORM_VAR_RD)                                                \
	X(DIF_OP_STLS, 57, "stls", DIF_FORM_VAR_RS)                                                \
	X(DIF_OP_ALLOCS, 58, "allocs", DIF_FORM_R1_RD)                                             \
	X(DIF_OP_COPYS, 59, "copys", DIF_FORM_R1_R2_RS)                                            \
	X(DIF_OP_STB, 60, "stb", DIF_FORM_STORE)                                                   \
	X(DIF_OP_STH, 61, "sth", DIF_FORM_STORE)                                                   \
	X(DIF_OP_STW, 62, "stw", DIF_FORM_STORE)                                                   \
	X(DIF_OP_STX, 63, "stx", DIF_FORM_STORE)                                                   \
	X(DIF_OP_ULDSB, 64, "uldsb", DIF_FORM_LOAD)                                                \
	X(DIF_OP_ULDSH, 65, "uldsh", DIF_FORM_LOAD)                                                \
	X(DIF_OP_ULDSW, 66, "uldsw", DIF_FORM_LOAD)                                                \
	X(DIF_OP_ULDUB, 67, "uldub", DIF_FORM_LOAD)                                                \
	X(DIF_OP_ULDUH, 68, "ulduh", DIF_FORM_LOAD)                                                \
	X(DIF_OP_ULDUW, 69, "ulduw", DIF_FORM_LOAD)                                                \
	X(DIF_OP_ULDX, 70, "uldx", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_RLDSB, 71, "rldsb", DIF_FORM_LOAD)                                                \
	X(DIF_OP_RLDSH, 72, "rldsh", DIF_FORM_LOAD)                                                \
	X(DIF_OP_RLDSW, 73, "rldsw", DIF_FORM_LOAD)                                                \
	X(DIF_OP_RLDUB, 74, "rldub", DIF_FORM_LOAD)                                                \
	X(DIF_OP_RLDUH, 75, "rlduh", DIF_FORM_LOAD)                                                \
	X(DIF_OP_RLDUW, 76, "rlduw", DIF_FORM_LOAD)                                                \
	X(DIF_OP_RLDX, 77, "rldx", DIF_FORM_LOAD)                                                  \
	X(DIF_OP_XLATE, 78, "xlate", DIF_FORM_XLREF_RD)                                            \
	X(DIF_OP_XLARG, 79, "xlarg", DIF_FORM_XLREF_RD)

#define DBK_DIF_OP_ENUM(name, op, mnemonic, form) name = op,
enum dif_op { DBK_DIF_OPS(DBK_DIF_OP_ENUM) };
#undef DBK_DIF_OP_ENUM

#define DIF_INSTR_OP(i)	     (((i) >> 24) & 0xffu)
#define DIF_INSTR_R1(i)	     (((i) >> 16) & 0xffu)
#define DIF_INSTR_R2(i)	     (((i) >> 8) & 0xffu)
#define DIF_INSTR_RD(i)	     ((i)&0xffu)
#define DIF_INSTR_RS(i)	     ((i)&0xffu)
#define DIF_INSTR_LABEL(i)   ((i)&0xffffffu)
#define DIF_INSTR_VAR(i)     (((i) >> 8) & 0xffffu)
#define DIF_INSTR_INTEGER(i) (((i) >> 8) & 0xffffu)
#define DIF_INSTR_STRING(i)  (((i) >> 8) & 0xffffu)
#define DIF_INSTR_SUBR(i)    (((i) >> 8) & 0xffffu)
#define DIF_INSTR_TYPE(i)    (((i) >> 16) & 0xffu)

#define DIF_INSTR_FMT(op, r1, r2, rd)                                                              \
	(((uint32_t)(op) << 24) | ((uint32_t)(r1) << 16) | ((uint32_t)(r2) << 8) | (uint32_t)(rd))
#define DIF_INSTR_BRANCH(op, label) (((uint32_t)(op) << 24) | (uint32_t)(label))
#define DIF_INSTR_INDEX(op, index, rd)                                                             \
	(((uint32_t)(op) << 24) | ((uint32_t)(index) << 8) | (uint32_t)(rd))

/* The tuple push's type: an integer or address by value, or a string. */
#define DIF_TYPE_CTF	0
#define DIF_TYPE_STRING 1
#define DIF_TF_BYREF	0x1u /* the value is an address of `size` bytes */

/* Variable ids: arrays below 0x100, scalars and associative arrays above. */
#define DIF_VAR_ARRAY_MIN   0x0000
#define DIF_VAR_ARRAY_UBASE 0x0080
#define DIF_VAR_ARRAY_MAX   0x00ff
#define DIF_VAR_OTHER_MIN   0x0100
#define DIF_VAR_OTHER_UBASE 0x0500
#define DIF_VAR_OTHER_MAX   0xffff

/* X(published name, id, D name): the built-in variables */
#define DBK_DIF_VARS(X)                                                                            \
	X(DIF_VAR_ARGS, 0x0000, "args")                                                            \
	X(DIF_VAR_REGS, 0x0001, "regs")                                                            \
	X(DIF_VAR_UREGS, 0x0002, "uregs")                                                          \
	X(DIF_VAR_CURTHREAD, 0x0100, "curthread")                                                  \
	X(DIF_VAR_TIMESTAMP, 0x0101, "timestamp")                                                  \
	X(DIF_VAR_VTIMESTAMP, 0x0102, "vtimestamp")                                                \
	X(DIF_VAR_IPL, 0x0103, "ipl")                                                              \
	X(DIF_VAR_EPID, 0x0104, "epid")                                                            \
	X(DIF_VAR_ID, 0x0105, "id")                                                                \
	X(DIF_VAR_ARG0, 0x0106, "arg0")                                                            \
	X(DIF_VAR_ARG1, 0x0107, "arg1")                                                            \
	X(DIF_VAR_ARG2, 0x0108, "arg2")                                                            \
	X(DIF_VAR_ARG3, 0x0109, "arg3")                                                            \
	X(DIF_VAR_ARG4, 0x010a, "arg4")                                                            \
	X(DIF_VAR_ARG5, 0x010b, "arg5")                                                            \
	X(DIF_VAR_ARG6, 0x010c, "arg6")                                                            \
	X(DIF_VAR_ARG7, 0x010d, "arg7")                                                            \
	X(DIF_VAR_ARG8, 0x010e, "arg8")                                                            \
	X(DIF_VAR_ARG9, 0x010f, "arg9")                                                            \
	X(DIF_VAR_STACKDEPTH, 0x0110, "stackdepth")                                                \
	X(DIF_VAR_CALLER, 0x0111, "caller")                                                        \
	X(DIF_VAR_PROBEPROV, 0x0112, "probeprov")                                                  \
	X(DIF_VAR_PROBEMOD, 0x0113, "probemod")                                                    \
	X(DIF_VAR_PROBEFUNC, 0x0114, "probefunc")                                                  \
	X(DIF_VAR_PROBENAME, 0x0115, "probename")                                                  \
	X(DIF_VAR_PID, 0x0116, "pid")                                                              \
	X(DIF_VAR_TID, 0x0117, "tid")                                                              \
	X(DIF_VAR_EXECNAME, 0x0118, "execname")                                                    \
	X(DIF_VAR_ZONENAME, 0x0119, "zonename")                                                    \
	X(DIF_VAR_WALLTIMESTAMP, 0x011a, "walltimestamp")                                          \
	X(DIF_VAR_USTACKDEPTH, 0x011b, "ustackdepth")                                              \
	X(DIF_VAR_UCALLER, 0x011c, "ucaller")                                                      \
	X(DIF_VAR_PPID, 0x011d, "ppid")                                                            \
	X(DIF_VAR_UID, 0x011e, "uid")                                                              \
	X(DIF_VAR_GID, 0x011f, "gid")                                                              \
	X(DIF_VAR_ERRNO, 0x0120, "errno")                                                          \
	X(DIF_VAR_CURCPU, 0x0121, "curcpu")                                                        \
	X(DIF_VAR_CPU, 0x0200, "cpu")

#define DBK_DIF_VAR_ENUM(name, id, text) name = id,
enum dif_var { DBK_DIF_VARS(DBK_DIF_VAR_ENUM) };
#undef DBK_DIF_VAR_ENUM

/* X(published name, id, D name): the subroutines; ids from 44 are dialect, from 46 on Daybreak's */
#define DBK_DIF_SUBRS(X)                                                                           \
	X(DIF_SUBR_RAND, 0, "rand")                                                                \
	X(DIF_SUBR_MUTEX_OWNED, 1, "mutex_owned")                                                  \
	X(DIF_SUBR_MUTEX_OWNER, 2, "mutex_owner")                                                  \
	X(DIF_SUBR_MUTEX_TYPE_ADAPTIVE, 3, "mutex_type_adaptive")                                  \
	X(DIF_SUBR_MUTEX_TYPE_SPIN, 4, "mutex_type_spin")                                          \
	X(DIF_SUBR_RW_READ_HELD, 5, "rw_read_held")                                                \
	X(DIF_SUBR_RW_WRITE_HELD, 6, "rw_write_held")                                              \
	X(DIF_SUBR_RW_ISWRITER, 7, "rw_iswriter")                                                  \
	X(DIF_SUBR_COPYIN, 8, "copyin")                                                            \
	X(DIF_SUBR_COPYINSTR, 9, "copyinstr")                                                      \
	X(DIF_SUBR_SPECULATION, 10, "speculation")                                                 \
	X(DIF_SUBR_PROGENYOF, 11, "progenyof")                                                     \
	X(DIF_SUBR_STRLEN, 12, "strlen")                                                           \
	X(DIF_SUBR_COPYOUT, 13, "copyout")                                                         \
	X(DIF_SUBR_COPYOUTSTR, 14, "copyoutstr")                                                   \
	X(DIF_SUBR_ALLOCA, 15, "alloca")                                                           \
	X(DIF_SUBR_BCOPY, 16, "bcopy")                                                             \
	X(DIF_SUBR_COPYINTO, 17, "copyinto")                                                       \
	X(DIF_SUBR_MSGDSIZE, 18, "msgdsize")                                                       \
	X(DIF_SUBR_MSGSIZE, 19, "msgsize")                                                         \
	X(DIF_SUBR_GETMAJOR, 20, "getmajor")                                                       \
	X(DIF_SUBR_GETMINOR, 21, "getminor")                                                       \
	X(DIF_SUBR_DDI_PATHNAME, 22, "ddi_pathname")                                               \
	X(DIF_SUBR_STRJOIN, 23, "strjoin")                                                         \
	X(DIF_SUBR_LLTOSTR, 24, "lltostr")                                                         \
	X(DIF_SUBR_BASENAME, 25, "basename")                                                       \
	X(DIF_SUBR_DIRNAME, 26, "dirname")                                                         \
	X(DIF_SUBR_CLEANPATH, 27, "cleanpath")                                                     \
	X(DIF_SUBR_STRCHR, 28, "strchr")                                                           \
	X(DIF_SUBR_STRRCHR, 29, "strrchr")                                                         \
	X(DIF_SUBR_STRSTR, 30, "strstr")                                                           \
	X(DIF_SUBR_STRTOK, 31, "strtok")                                                           \
	X(DIF_SUBR_SUBSTR, 32, "substr")                                                           \
	X(DIF_SUBR_INDEX, 33, "index")                                                             \
	X(DIF_SUBR_RINDEX, 34, "rindex")                                                           \
	X(DIF_SUBR_HTONS, 35, "htons")                                                             \
	X(DIF_SUBR_HTONL, 36, "htonl")                                                             \
	X(DIF_SUBR_HTONLL, 37, "htonll")                                                           \
	X(DIF_SUBR_NTOHS, 38, "ntohs")                                                             \
	X(DIF_SUBR_NTOHL, 39, "ntohl")                                                             \
	X(DIF_SUBR_NTOHLL, 40, "ntohll")                                                           \
	X(DIF_SUBR_INET_NTOP, 41, "inet_ntop")                                                     \
	X(DIF_SUBR_INET_NTOA, 42, "inet_ntoa")                                                     \
	X(DIF_SUBR_INET_NTOA6, 43, "inet_ntoa6")                                                   \
	X(DIF_SUBR_D_PATH, 44, "d_path")                                                           \
	X(DIF_SUBR_LINK_NTOP, 45, "link_ntop")                                                     \
	X(DIF_SUBR_TOUPPER, 46, "toupper")                                                         \
	X(DIF_SUBR_TOLOWER, 47, "tolower")                                                         \
	X(DIF_SUBR_STRTOLL, 48, "strtoll")                                                         \
	X(DIF_SUBR_COPYINARGS, 49, "copyinargs")                                                   \
	X(DIF_SUBR_PLACE, 50, "place")

#define DBK_DIF_SUBR_ENUM(name, id, text) name = id,
enum dif_subr { DBK_DIF_SUBRS(DBK_DIF_SUBR_ENUM) };
#undef DBK_DIF_SUBR_ENUM
#define DIF_SUBR_MAX 50

/* What a DIF object returns, or a variable holds. */
struct dif_type {
	uint8_t kind;  /* DIF_TYPE_ */
	uint8_t ckind; /* DIF_CK_, of the C type */
	uint8_t flags; /* DIF_TF_ */
	uint8_t pad;
	uint32_t size; /* bytes; of a string: strsize */
};

#define DIF_CK_UNKNOWN	0
#define DIF_CK_INTEGER	1
#define DIF_CK_FLOAT	2
#define DIF_CK_POINTER	3
#define DIF_CK_ARRAY	4
#define DIF_CK_FUNCTION 5
#define DIF_CK_STRUCT	6
#define DIF_CK_UNION	7
#define DIF_CK_ENUM	8
#define DIF_CK_FORWARD	9
#define DIF_CK_TYPEDEF	10
#define DIF_CK_VOLATILE 11
#define DIF_CK_CONST	12
#define DIF_CK_RESTRICT 13
#define DIF_CK_SIGNED	0x80 /* ours, beside DIF_CK_INTEGER: prints with its sign, however short */

/* An entry of a DIF object's variable table. */
struct dif_var_entry {
	uint32_t name; /* offset in the object's own string table */
	uint32_t id;
	uint8_t kind;	/* DIFV_KIND_ */
	uint8_t scope;	/* DIFV_SCOPE_ */
	uint16_t flags; /* DIFV_F_ */
	struct dif_type type;
};

#define DIFV_KIND_ARRAY	  0
#define DIFV_KIND_SCALAR  1
#define DIFV_SCOPE_GLOBAL 0
#define DIFV_SCOPE_THREAD 1
#define DIFV_SCOPE_LOCAL  2
#define DIFV_F_REF	  0x1
#define DIFV_F_MOD	  0x2

DBK_ABI_SIZE(struct dif_type, 8);
DBK_ABI_AT(struct dif_type, kind, 0);
DBK_ABI_AT(struct dif_type, ckind, 1);
DBK_ABI_AT(struct dif_type, flags, 2);
DBK_ABI_AT(struct dif_type, pad, 3);
DBK_ABI_AT(struct dif_type, size, 4);
DBK_ABI_SIZE(struct dif_var_entry, 20);
DBK_ABI_AT(struct dif_var_entry, name, 0);
DBK_ABI_AT(struct dif_var_entry, id, 4);
DBK_ABI_AT(struct dif_var_entry, kind, 8);
DBK_ABI_AT(struct dif_var_entry, scope, 9);
DBK_ABI_AT(struct dif_var_entry, flags, 10);
DBK_ABI_AT(struct dif_var_entry, type, 12);

#endif /* DBK_ABI_DIF_H */
