/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * exec.c - the interpreter
 *
 * Runs what verify.c decoded, and trusts it: registers exist, branches go
 * forward, the last instruction returns.  So it ends after at most insn_count
 * steps.  Comparisons keep their operands instead of flags, and a branch
 * compares them: what N, Z, V and C would say, without overflow to think about.
 *
 * The kernel is built without jump tables: a switch becomes a tree of compares.
 * The hot operations have a small tree of their own.
 */
#include "engine/memory/thread.h"
#include "engine/run/dif.h"
#include "engine/types/insn.h"

__probe_ctx static uint64_t op_load(struct dbk_cpu *cpu, uint64_t address, uint32_t arg)
{
	uint64_t value = 0;

	dbk_load(cpu, &value, address, DBK_LOAD_BYTES(arg));
	return dbk_extend(value, arg);
}

__probe_ctx static uint64_t op_load_user(struct dbk_cpu *cpu, uint64_t address, uint32_t arg)
{
	uint64_t value = 0;

	if (dbk_may_see_process(cpu) && dbk_spend(cpu, DBK_WORK_CALL) &&
	    !dbk_host_load_user(&value, address, DBK_LOAD_BYTES(arg)))
		dbk_fault(cpu, DTRACEFLT_BADADDR, address);
	return dbk_extend(value, arg);
}

/* By width: a memcpy() of a variable length is a call, in the kernel a checked one. */
__probe_ctx static void op_store(struct dbk_cpu *cpu, uint64_t address, uint64_t value,
				 uint32_t bytes)
{
	void *to = (void *)(uintptr_t)address;

	if (!dbk_may_store(cpu, address, bytes))
		dbk_fault(cpu, DTRACEFLT_BADADDR, address);
	else if ((address & (bytes - 1)) != 0) /* as in every port, whatever the machine can do */
		dbk_fault(cpu, DTRACEFLT_BADALIGN, address);
	else if (bytes == 1)
		*(uint8_t *)to = (uint8_t)value;
	else if (bytes == 2)
		__builtin_memcpy(to, &value, 2);
	else if (bytes == 4)
		__builtin_memcpy(to, &value, 4);
	else
		__builtin_memcpy(to, &value, 8);
}

/* NULL compares as the empty string: D tests an unset string this way. */
__probe_ctx static bool view_or_empty(struct dbk_cpu *cpu, uint64_t address, struct dbk_view *view)
{
	view->text = "";
	view->length = 0;
	return address == 0 || dbk_view_string(cpu, address, view);
}

__probe_ctx static int64_t op_scmp(struct dbk_cpu *cpu, uint64_t left, uint64_t right)
{
	uint32_t mark = cpu->scratch_used, i = 0;
	struct dbk_view a, b;
	int64_t difference = 0;

	if (view_or_empty(cpu, left, &a) && view_or_empty(cpu, right, &b)) {
		while (i < a.length && i < b.length && a.text[i] == b.text[i])
			i++;
		difference = (int64_t)(i < a.length ? (uint8_t)a.text[i] : 0) -
			     (int64_t)(i < b.length ? (uint8_t)b.text[i] : 0);
	}
	cpu->scratch_used = mark;
	return difference;
}

__probe_ctx static void op_push(struct dbk_cpu *cpu, const struct dbk_insn *insn,
				const uint64_t *regs)
{
	struct dbk_tuple *tuple;
	uint64_t bytes = regs[insn->r2];

	if (cpu->tuple_count == DBK_TUPLE_MAX) {
		dbk_fault(cpu, DTRACEFLT_TUPOFLOW, 0);
		return;
	}
	tuple = &cpu->tuple[cpu->tuple_count++];
	tuple->value = regs[insn->rd];
	tuple->is_string = insn->r1 == DIF_TYPE_STRING;
	tuple->by_ref = insn->op == DBK_IOP_PUSH_REF;
	tuple->bytes = bytes > 0xffffffffu ? 0xffffffffu : (uint32_t)bytes;
}

__probe_ctx static uint64_t op_uregs(struct dbk_cpu *cpu, uint64_t index)
{
	uint64_t value = 0;

	if (dbk_may_see_process(cpu) && !dbk_host_ureg(cpu->frame, index, &value))
		dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	return value;
}

/* What dbk_program_restrict() found to need a privilege that is lacking. */
__probe_ctx static uint64_t op_guarded(struct dbk_cpu *cpu, uint32_t id)
{
	bool user = id == DIF_VAR_UCALLER || id == DIF_VAR_USTACKDEPTH;

	return dbk_fault(cpu, user ? DTRACEFLT_UPRIV : DTRACEFLT_KPRIV, 0);
}

__probe_ctx static uint64_t op_args(struct dbk_cpu *cpu, uint64_t index)
{
	if (index > 0xffff)
		return dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	/* The host reads later ones from its stack; after the last argument that is other data. */
	if (index >= cpu->probe->arg_count && !dbk_spend(cpu, DBK_WORK_FAULT))
		return 0;
	if (index >= DBK_PROBE_ARGS_MAX && !dbk_may_see_kernel(cpu))
		return 0;
	return dbk_argument(cpu->probe, cpu->args, cpu->frame, (uint32_t)index);
}

__probe_ctx static uint64_t op_divide(struct dbk_cpu *cpu, uint32_t op, uint64_t a, uint64_t b)
{
	if (b == 0)
		return dbk_fault(cpu, DTRACEFLT_DIVZERO, 0);
	return dbk_quotient(op, a, b);
}

/* Variables by reference and dynamic ones. */
__probe_ctx static void op_variable(struct dbk_cpu *cpu, const struct dbk_insn *insn, uint64_t *rd)
{
	const struct dbk_var *var = &cpu->consumer->program->vars[insn->arg];
	uint8_t *globals = cpu->consumer->globals, *locals = cpu->buffer->locals;

	/* A dynamic variable is found by its key, and what it refers to is copied. */
	if (insn->op <= DBK_IOP_STORE_THREAD_ARRAY && !dbk_spend(cpu, DBK_WORK_CALL + var->bytes))
		return;
	switch (insn->op) {
	case DBK_IOP_LOAD_THREAD:
		*rd = dbk_thread_load(cpu, cpu->consumer, insn->arg);
		break;
	case DBK_IOP_LOAD_THREAD_ARRAY:
	case DBK_IOP_LOAD_ARRAY:
		*rd = dbk_dynvar_load(cpu, insn->arg, insn->op != DBK_IOP_LOAD_ARRAY);
		break;
	case DBK_IOP_STORE_THREAD:
	case DBK_IOP_STORE_THREAD_ARRAY:
	case DBK_IOP_STORE_ARRAY:
		dbk_dynvar_store(cpu, insn->arg, insn->op != DBK_IOP_STORE_THREAD,
				 insn->op != DBK_IOP_STORE_ARRAY, *rd);
		break;
	case DBK_IOP_LOAD_GLOBAL_REF:
		*rd = dbk_ref_load(globals, var);
		break;
	case DBK_IOP_LOAD_LOCAL_REF:
		*rd = dbk_ref_load(locals, var);
		break;
	case DBK_IOP_STORE_GLOBAL_REF:
		dbk_ref_store(cpu, globals, var, *rd);
		break;
	default:
		dbk_ref_store(cpu, locals, var, *rd);
		break;
	}
}

__probe_ctx uint32_t dbk_dif_exec_rest(struct dbk_exec *x, const struct dbk_insn *insn, uint32_t next)
{
	struct dbk_cpu *cpu = x->cpu;
	uint64_t *regs = x->regs, *rd = &regs[insn->rd];
	uint64_t a = regs[insn->r1], b = regs[insn->r2];

	if (insn->op <= DBK_IOP_BLEU)
		return dbk_branch_taken(insn->op, x->a, x->b) ? insn->arg : next;
	if (insn->op >= DBK_IOP_LOAD_THREAD && insn->op <= DBK_IOP_STORE_LOCAL_REF) {
		op_variable(cpu, insn, rd);
		return next;
	}
	switch (insn->op) {
	case DBK_IOP_LOAD:
		*rd = op_load(cpu, a, insn->arg);
		break;
	case DBK_IOP_LOAD_USER:
		*rd = op_load_user(cpu, a, insn->arg);
		break;
	case DBK_IOP_STORE:
		op_store(cpu, *rd, a, insn->arg);
		break;
	case DBK_IOP_SETS:
		*rd = (uint64_t)(uintptr_t)(x->difo->strings + insn->arg);
		break;
	case DBK_IOP_SCMP:
		x->a = (uint64_t)op_scmp(cpu, a, b);
		x->b = 0;
		break;
	case DBK_IOP_LOAD_GUARDED:
		*rd = op_guarded(cpu, insn->arg);
		break;
	case DBK_IOP_LOAD_ARGS:
		*rd = op_args(cpu, b);
		break;
	case DBK_IOP_LOAD_UREGS:
		*rd = op_uregs(cpu, b);
		break;
	case DBK_IOP_CALL:
		*rd = dbk_subr(cpu, insn->arg);
		break;
	case DBK_IOP_PUSH_REF:
	case DBK_IOP_PUSH_VALUE:
		op_push(cpu, insn, regs);
		break;
	case DBK_IOP_POP:
		cpu->tuple_count -= cpu->tuple_count != 0;
		break;
	case DBK_IOP_FLUSH:
		cpu->tuple_count = 0;
		break;
	case DBK_IOP_NOT:
		*rd = ~a;
		break;
	case DBK_IOP_SDIV:
	case DBK_IOP_UDIV:
	case DBK_IOP_SREM:
	case DBK_IOP_UREM:
		*rd = op_divide(cpu, insn->op, a, b);
		break;
	case DBK_IOP_ALLOCS:
		*rd = dbk_zeroed_scratch(cpu, a);
		break;
	case DBK_IOP_COPYS:
		dbk_copy(cpu, a, *rd, b);
		break;
	default: /* DBK_IOP_NOP */
		break;
	}
	return next;
}

__probe_ctx static uint64_t *value_slot(uint8_t *storage, uint32_t offset)
{
	return (uint64_t *)(storage + offset);
}

__probe_ctx uint64_t dbk_dif_exec(struct dbk_cpu *cpu, const struct dbk_difo *difo)
{
	struct dbk_exec x;
	uint64_t *regs = x.regs;
	uint32_t pc = 0;

	if (unlikely(!dbk_spend(cpu, difo->work))) {
		cpu->fault_pc = 0;
		return 0;
	}
	cpu->tuple_count = 0;
	dbk_exec_begin(&x, cpu, difo);
	for (;;) {
		const struct dbk_insn *insn = &difo->insns[pc++];

		dbk_probe_assert(pc <= difo->insn_count);
		if (unlikely(insn->op >= DBK_IOP_HOT_END)) {
			pc = dbk_dif_exec_rest(&x, insn, pc);
			if (unlikely(cpu->fault_set))
				goto fault;
			continue;
		}
		switch (insn->op) {
		case DBK_IOP_RET:
			return regs[insn->rd];
		case DBK_IOP_LOAD_ARG:
			regs[insn->rd] = dbk_argument(cpu->probe, cpu->args, cpu->frame, insn->arg);
			break;
		case DBK_IOP_LOAD_VAR:
			regs[insn->rd] = dbk_builtin(cpu, insn->arg);
			if (unlikely(cpu->fault_set))
				goto fault;
			break;
		case DBK_IOP_SETX:
			regs[insn->rd] = difo->integers[insn->arg];
			break;
		case DBK_IOP_CMP:
			x.a = regs[insn->r1];
			x.b = regs[insn->r2];
			break;
		case DBK_IOP_TST:
			x.a = regs[insn->r1];
			x.b = 0;
			break;
		case DBK_IOP_BE:
			pc = x.a == x.b ? insn->arg : pc;
			break;
		case DBK_IOP_BNE:
			pc = x.a != x.b ? insn->arg : pc;
			break;
		case DBK_IOP_BA:
			pc = insn->arg;
			break;
		case DBK_IOP_MOV:
			regs[insn->rd] = regs[insn->r1];
			break;
		case DBK_IOP_ADD:
			regs[insn->rd] = regs[insn->r1] + regs[insn->r2];
			break;
		case DBK_IOP_SUB:
			regs[insn->rd] = regs[insn->r1] - regs[insn->r2];
			break;
		case DBK_IOP_AND:
			regs[insn->rd] = regs[insn->r1] & regs[insn->r2];
			break;
		case DBK_IOP_OR:
			regs[insn->rd] = regs[insn->r1] | regs[insn->r2];
			break;
		case DBK_IOP_XOR:
			regs[insn->rd] = regs[insn->r1] ^ regs[insn->r2];
			break;
		/* Shifts beyond 63 are what the machine does: the count wraps. */
		case DBK_IOP_SLL:
			regs[insn->rd] = regs[insn->r1] << (regs[insn->r2] & 63);
			break;
		case DBK_IOP_SRL:
			regs[insn->rd] = regs[insn->r1] >> (regs[insn->r2] & 63);
			break;
		case DBK_IOP_SRA:
			regs[insn->rd] =
				(uint64_t)((int64_t)regs[insn->r1] >> (regs[insn->r2] & 63));
			break;
		case DBK_IOP_MUL:
			regs[insn->rd] = regs[insn->r1] * regs[insn->r2];
			break;
		case DBK_IOP_LOAD_GLOBAL:
			regs[insn->rd] =
				dbk_load_relaxed(value_slot(cpu->consumer->globals, insn->arg));
			break;
		case DBK_IOP_STORE_GLOBAL:
			dbk_store_relaxed(value_slot(cpu->consumer->globals, insn->arg),
					  regs[insn->rd]);
			break;
		case DBK_IOP_LOAD_LOCAL:
			regs[insn->rd] = *value_slot(cpu->buffer->locals, insn->arg);
			break;
		default: /* DBK_IOP_STORE_LOCAL */
			*value_slot(cpu->buffer->locals, insn->arg) = regs[insn->rd];
			break;
		}
	}
fault:
	cpu->fault_pc = pc - 1;
	return 0;
}
