/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dif.h - running DIF: what the interpreter, its subroutines and the rest of run/ share
 *
 * All of it is probe context.  Memory comes in two sorts: the engine's own
 * (scratch, string tables, variables), which is range-checked and then touched
 * directly, and everything else, which only dbk_host_load*() may touch.
 *
 * A fault is noted (engine/types/work.h) and the operation returns something harmless;
 * the caller of a sequence looks at fault_set after each step that can fault.
 */
#ifndef DBK_ENGINE_DIF_H
#define DBK_ENGINE_DIF_H

#include "engine/types/insn.h"
#include "engine/types/work.h"

/** dbk_dif_exec() - runs a verified DIFO to its ret; 0 when it faults (cpu->fault_set) */
uint64_t dbk_dif_exec(struct dbk_cpu *cpu, const struct dbk_difo *difo);

/** dbk_chain_value() - the same of a chain of loads, for an ECB that was entered */
uint64_t dbk_chain_value(struct dbk_cpu *cpu, const struct dbk_chain *chain);

/* An object while it is run. */
struct dbk_exec {
	struct dbk_cpu *cpu;
	const struct dbk_difo *difo;
	uint64_t a, b; /* operands of the last comparison */
	uint64_t regs[DIF_DIR_NREGS];
};

/** dbk_exec_begin() - the object's start: what it may read before it stored something there is 0 */
static __probe_ctx_inline void dbk_exec_begin(struct dbk_exec *x, struct dbk_cpu *cpu,
					      const struct dbk_difo *difo)
{
	uint32_t i;

#if !defined(__KERNEL__) && !defined(NDEBUG)
	memset(x, 0xa5, sizeof(*x)); /* tests notice what is read all the same */
#endif
	x->cpu = cpu;
	x->difo = difo;
	x->regs[DIF_REG_R0] = 0;
	if (likely(!difo->reads_unset))
		return;
	x->a = x->b = 0;
	for (i = 0; i < DIF_DIR_NREGS; i++)
		x->regs[i] = 0;
}

/** dbk_dif_exec_rest() - runs an instruction that is not hot; returns the next one's number */
uint32_t dbk_dif_exec_rest(struct dbk_exec *x, const struct dbk_insn *insn, uint32_t next);

/** dbk_timestamp() - the variable: one reading of the clock per firing: what a clause compares and what
 * it records is the same */
static __probe_ctx_inline uint64_t dbk_timestamp(struct dbk_cpu *cpu)
{
	if (cpu->timestamp_serial != cpu->serial) {
		cpu->timestamp = dbk_host_mono_ns();
		cpu->timestamp_serial = cpu->serial;
	}
	return cpu->timestamp;
}

/** dbk_builtin() - value of a built-in integer variable, or the address of a copied string */
uint64_t dbk_builtin(struct dbk_cpu *cpu, uint32_t id);

/** dbk_name() - a built-in string in the host's memory; @length_ret: without its NUL.  execname may
 * change at any time: its copy may have a NUL before that */
const char *dbk_name(struct dbk_cpu *cpu, uint32_t id, uint32_t *length_ret);

/** dbk_subr() - runs subroutine @id on the tuple stack */
uint64_t dbk_subr(struct dbk_cpu *cpu, uint32_t id);

/** dbk_argument() - argument @index of the firing */
static __probe_ctx_inline uint64_t dbk_argument(const struct dbk_probe *probe, const uint64_t *args,
						void *frame, uint32_t index)
{
	if (likely(index < probe->arg_count))
		return args[probe->arg_word[index]];
	return dbk_host_arg(probe, frame, index);
}

/** dbk_is_early_variable() - whether a built-in is the current thread's own, and needs no dbk_cpu
 */
static inline bool dbk_is_early_variable(uint32_t id)
{
	return id == DIF_VAR_PID || id == DIF_VAR_TID || id == DIF_VAR_CURTHREAD ||
	       id == DIF_VAR_UID || id == DIF_VAR_GID;
}

/** dbk_is_simple_variable() - whether it needs no state of the firing, and cannot fault */
static inline bool dbk_is_simple_variable(uint32_t id)
{
	return dbk_is_early_variable(id) || id == DIF_VAR_TIMESTAMP || id == DIF_VAR_CPU;
}

/** dbk_is_simple() - whether an integer expression needs neither interpreter nor the firing's state
 * in the dbk_cpu, and cannot fault.  A thread-local may change that state, if it has no seat */
static inline bool dbk_is_simple(const struct dbk_expr *expr)
{
	return expr->kind == DBK_EXPR_ARG || expr->kind == DBK_EXPR_CONST ||
	       expr->kind == DBK_EXPR_BINARY || expr->kind == DBK_EXPR_THREAD ||
	       expr->kind == DBK_EXPR_DIVIDED ||
	       (expr->kind == DBK_EXPR_VARIABLE && dbk_is_simple_variable(expr->operand));
}

/** dbk_probe_text() - what probefunc, probename, probemod or probeprov @id is of the probe */
static __probe_ctx_inline const char *dbk_probe_text(const struct dbk_probe *probe, uint32_t id)
{
	if (id == DIF_VAR_PROBEFUNC)
		return probe->function;
	if (id == DIF_VAR_PROBENAME)
		return probe->name;
	return id == DIF_VAR_PROBEMOD ? probe->module : probe->provider;
}

/** dbk_binary() - what an instruction of two operands computes, ADD to MUL; like the interpreter,
 * where each has a case of its own */
static __probe_ctx_inline uint64_t dbk_binary(uint32_t op, uint64_t a, uint64_t b)
{
	if (op == DBK_IOP_ADD)
		return a + b;
	if (op == DBK_IOP_SUB)
		return a - b;
	if (op == DBK_IOP_AND)
		return a & b;
	if (op == DBK_IOP_OR)
		return a | b;
	if (op == DBK_IOP_XOR)
		return a ^ b;
	if (op == DBK_IOP_SLL)
		return a << (b & 63);
	if (op == DBK_IOP_SRL)
		return a >> (b & 63);
	if (op == DBK_IOP_SRA)
		return (uint64_t)((int64_t)a >> (b & 63));
	return a * b;
}

/** dbk_quotient() - what SDIV to UREM compute; @b is not 0 */
static __probe_ctx_inline uint64_t dbk_quotient(uint32_t op, uint64_t a, uint64_t b)
{
	if (op == DBK_IOP_UDIV)
		return a / b;
	if (op == DBK_IOP_UREM)
		return a % b;
	/* The one quotient that does not fit would trap. */
	if ((int64_t)b == -1)
		return op == DBK_IOP_SDIV ? 0 - a : 0;
	return (uint64_t)(op == DBK_IOP_SDIV ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

/* ---- privileges --------------------------------------------------------------- */

/** dbk_may_see_kernel() - whether the program may look into the kernel; false after a KPRIV fault
 */
static __probe_ctx_inline bool dbk_may_see_kernel(struct dbk_cpu *cpu)
{
	if (likely((cpu->consumer->program->lacks & DBK_LACKS_KERNEL) == 0))
		return true;
	dbk_fault(cpu, DTRACEFLT_KPRIV, 0);
	return false;
}

/** dbk_may_see_process() - the same for the current process; false after a UPRIV fault */
static __probe_ctx_inline bool dbk_may_see_process(struct dbk_cpu *cpu)
{
	if (likely((cpu->consumer->program->lacks & DBK_LACKS_PROC) == 0))
		return true;
	dbk_fault(cpu, DTRACEFLT_UPRIV, 0);
	return false;
}

/* ---- memory ------------------------------------------------------------------ */

/** dbk_own_bytes() - how many bytes at @address are the engine's to read, 0: none */
uint64_t dbk_own_bytes(const struct dbk_cpu *cpu, uint64_t address);

/** dbk_may_store() - whether D may write there: allocated scratch, variables by reference */
bool dbk_may_store(const struct dbk_cpu *cpu, uint64_t address, uint64_t bytes);

/** dbk_load() - copies @bytes from anywhere; false after a BADADDR or KPRIV fault */
bool dbk_load(struct dbk_cpu *cpu, void *to, uint64_t address, uint32_t bytes);

/** dbk_copy() - the same to D's memory at @to; BADADDR as well when D may not write there */
void dbk_copy(struct dbk_cpu *cpu, uint64_t from, uint64_t to, uint64_t bytes);

/** dbk_scratch() - @bytes of scratch, 8-aligned; NULL after a NOSCRATCH fault */
void *dbk_scratch(struct dbk_cpu *cpu, uint64_t bytes);

/** dbk_zeroed_scratch() - the address of @bytes of scratch that are 0; 0 after a fault */
uint64_t dbk_zeroed_scratch(struct dbk_cpu *cpu, uint64_t bytes);

/* A string wherever it lies: @text has @length bytes and need not end in a NUL. */
struct dbk_view {
	const char *text;
	uint32_t length;
};

/** dbk_view_string() - reads the string at @address, at most strsize bytes of it; one that is
 * not ours is copied into scratch.  false after a fault */
bool dbk_view_string(struct dbk_cpu *cpu, uint64_t address, struct dbk_view *view_ret);

/** dbk_copy_string() - copies the string at @address to @to, which has @room bytes, at least 1;
 * returns its length without NUL, or -1 after a fault.  What does not fit is cut. */
int32_t dbk_copy_string(struct dbk_cpu *cpu, char *to, uint64_t address, uint32_t room);

/** dbk_new_string() - a copy in scratch with a NUL, cut to strsize; its address, or 0 after a fault
 */
uint64_t dbk_new_string(struct dbk_cpu *cpu, const char *text, uint32_t length);

/* ---- variables ---------------------------------------------------------------- */

/** dbk_locals_clear() - at the first clause of a firing that uses them */
void dbk_locals_clear(struct dbk_cpu *cpu);

/** dbk_ref_load() - address of a by-reference scalar's data in @storage, 0 when it is NULL */
uint64_t dbk_ref_load(uint8_t *storage, const struct dbk_var *var);

/** dbk_ref_store() - copies what is at @address into a by-reference scalar; 0 makes it NULL */
void dbk_ref_store(struct dbk_cpu *cpu, uint8_t *storage, const struct dbk_var *var,
		   uint64_t address);

/** dbk_dynvar_load() - value of an array's element, the tuple stack its key, or address of its
 * data; 0 when there is none */
uint64_t dbk_dynvar_load(struct dbk_cpu *cpu, uint32_t var, bool thread);

/** dbk_dynvar_store() - stores, with @tuple an array's element, else a thread-local scalar; 0
 * frees.  No room is a DYNAMIC drop, not a fault */
void dbk_dynvar_store(struct dbk_cpu *cpu, uint32_t var, bool tuple, bool thread, uint64_t value);

#endif /* DBK_ENGINE_DIF_H */
