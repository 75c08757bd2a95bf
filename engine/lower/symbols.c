/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* symbols.c - what the instructions of an object do to symbols; see symbols.h */
#include "engine/lower/symbols.h"
#include "engine/run/dif.h"
#include "engine/types/insn.h"

/* Operands that have the outcome. */
static const uint64_t outcome_operands[DBK_OUTCOMES][2] = {
	[DBK_OUTCOME_EQUAL] = {0, 0},		[DBK_OUTCOME_LESS] = {0, 1},
	[DBK_OUTCOME_GREATER] = {1, 0},		[DBK_OUTCOME_LESS_SIGNED] = {~0ull, 0},
	[DBK_OUTCOME_LESS_UNSIGN] = {0, ~0ull},
};

static bool same_symbol(struct symbol a, struct symbol b)
{
	return a.kind == b.kind && a.value == b.value;
}

static bool is_left(struct symbol s)
{
	return s.kind == SYMBOL_ARG || s.kind == SYMBOL_VAR || s.kind == SYMBOL_THREAD ||
	       s.kind == SYMBOL_BINARY || s.kind == SYMBOL_LINK;
}

/* The number of the pair, which may be a new one; DBK_TERMS_MAX: there are too many. */
static uint32_t find_pair(struct run *run, struct symbol left, struct symbol right)
{
	uint32_t i, most = run->difo->insn_count > JOINED_INSNS_MAX ? 1 : DBK_TERMS_MAX;

	for (i = 0; i < run->pair_count; i++)
		if (same_symbol(run->pairs[i].left, left) &&
		    same_symbol(run->pairs[i].right, right))
			return i;
	if (i == most)
		return DBK_TERMS_MAX;
	run->pairs[i].left = left;
	run->pairs[i].right = right;
	run->pairs[i].outcome = 0;
	run->pair_count++;
	return i;
}

/* Sets the codes for a comparison; false when it is none that can be tried. */
static bool compare(struct run *run, struct symbol a, struct symbol b, enum symbol_kind right)
{
	bool swapped = false;

	if (right == SYMBOL_CONST && a.kind == SYMBOL_CONST && b.kind == SYMBOL_CONST) {
		run->codes = CODES_CONST;
		run->a = a.value;
		run->b = b.value;
		return true;
	}
	if (a.kind == right && is_left(b)) {
		struct symbol s = a;

		a = b;
		b = s;
		swapped = true;
	}
	if (!is_left(a) || b.kind != right)
		return false;
	run->codes = swapped ? CODES_TRIED_SWAPPED : CODES_TRIED;
	run->pair = find_pair(run, a, b);
	return run->pair != DBK_TERMS_MAX;
}

/* Whether it can be an operand: a value that is found without a fault. */
static bool is_operand(struct symbol s)
{
	return s.kind == SYMBOL_CONST || s.kind == SYMBOL_ARG || s.kind == SYMBOL_THREAD ||
	       (s.kind == SYMBOL_VAR && dbk_is_simple_variable((uint32_t)s.value));
}

/* The same, or a value that was loaded. */
static bool is_known(struct symbol s)
{
	return is_operand(s) || s.kind == SYMBOL_LINK;
}

/* The result of an instruction of two operands; SYMBOL_UNKNOWN when it has no symbol. */
static struct symbol combine(struct run *run, uint32_t op, struct symbol a, struct symbol b)
{
	struct symbol result = {SYMBOL_UNKNOWN, 0};
	struct binary *binary = run->binaries;

	if (!is_known(a) || !is_known(b))
		return result;
	if (a.kind == SYMBOL_CONST && b.kind == SYMBOL_CONST) {
		result.kind = SYMBOL_CONST;
		result.value = dbk_binary(op, a.value, b.value);
		return result;
	}
	if (a.kind == SYMBOL_CONST) {
		struct symbol s = a;

		if ((dbk_iop_facts(op) & DBK_OP_COMMUTES) == 0)
			return result;
		a = b;
		b = s;
	}
	if ((a.kind == SYMBOL_LINK || b.kind == SYMBOL_LINK) && b.kind != SYMBOL_CONST)
		return result;
	for (; result.value < run->binary_count; result.value++, binary++)
		if (binary->op == op && same_symbol(binary->left, a) &&
		    same_symbol(binary->right, b))
			break;
	if (result.value == BINARIES_MAX)
		return result;
	if (result.value == run->binary_count) {
		binary->op = op;
		binary->left = a;
		binary->right = b;
		run->binary_count++;
	}
	result.kind = SYMBOL_BINARY;
	return result;
}

/* The same of a division.  A divisor beyond 32 bits, and thus a negative one, is rare, and the
 * interpreter knows. */
static struct symbol divide(struct run *run, uint32_t op, struct symbol a, struct symbol b)
{
	struct divided *divided = &run->divided;
	struct symbol result = {SYMBOL_UNKNOWN, 0};

	if (b.kind != SYMBOL_CONST || b.value == 0 || b.value >> 32 != 0 ||
	    a.kind == SYMBOL_CONST || (a.kind != SYMBOL_BINARY && !is_operand(a)))
		return result;
	if (divided->op == 0) {
		divided->op = op;
		divided->by = (uint32_t)b.value;
		divided->of = a;
	}
	if (divided->op == op && divided->by == b.value && same_symbol(divided->of, a))
		result.kind = SYMBOL_DIVIDED;
	return result;
}

static bool take_branch(struct run *run, const struct dbk_insn *insn, uint32_t *pc)
{
	const uint64_t *operands = outcome_operands[run->pairs[run->pair].outcome];
	bool taken;

	if (insn->op == DBK_IOP_BA)
		taken = true;
	else if (run->codes == CODES_CONST)
		taken = dbk_branch_taken(insn->op, run->a, run->b);
	else if (run->codes == CODES_TRIED)
		taken = dbk_branch_taken(insn->op, operands[0], operands[1]);
	else if (run->codes == CODES_TRIED_SWAPPED)
		taken = dbk_branch_taken(insn->op, operands[1], operands[0]);
	else
		return false;
	*pc = taken ? insn->arg : *pc + 1;
	return true;
}

/* A thread-local scalar, which only its own thread changes: until the object itself stores, it has
 * one value, however often it is loaded. */
static bool load_thread(const struct run *run, uint32_t var, struct symbol *s)
{
	s->kind = SYMBOL_THREAD;
	s->value = var;
	return !run->stored && !run->program->vars[var].by_ref;
}

/* args[@index]: that argument, where it is at hand or every firing has it. */
static bool load_args(const struct run *run, struct symbol index, struct symbol *s)
{
	s->kind = SYMBOL_ARG;
	s->value = index.value;
	return index.kind == SYMBOL_CONST && (index.value < DBK_ARGS_AT_HAND ||
					      index.value < run->program->args_given);
}

/* What an address is counted from, and how far it is from there. */
static bool base_of(const struct run *run, struct symbol address, struct symbol *from,
		    uint64_t *offset)
{
	*from = address;
	*offset = 0;
	if (address.kind == SYMBOL_BINARY) {
		const struct binary *binary = &run->binaries[address.value];

		if (binary->right.kind != SYMBOL_CONST ||
		    (binary->op != DBK_IOP_ADD && binary->op != DBK_IOP_SUB))
			return false;
		*from = binary->left;
		*offset = binary->op == DBK_IOP_ADD ? binary->right.value : 0 - binary->right.value;
	}
	return is_known(*from);
}

/* A load that goes on from the last one, or that was made before, maybe in another run. */
static bool load(struct run *run, const struct dbk_insn *insn, struct symbol *s)
{
	struct symbol from;
	struct link *link = run->links;
	uint64_t offset;
	uint32_t count = run->link_count;

	if (!base_of(run, run->regs[insn->r1], &from, &offset))
		return false;
	s->kind = SYMBOL_LINK;
	for (s->value = 1; s->value <= count; s->value++, link++)
		if (same_symbol(link->from, from) && link->is.offset == offset &&
		    link->is.load == insn->arg)
			break;
	if (s->value > run->reached)
		run->reached = (uint32_t)s->value;
	if (s->value <= count)
		return true;
	if (count == DBK_CHAIN_LINKS || (from.kind == SYMBOL_LINK ? from.value : 0) != count)
		return false;
	link->from = from;
	link->is.offset = offset;
	link->is.load = insn->arg;
	link->is.pc = (uint32_t)(insn - run->difo->insns);
	run->link_count++;
	return true;
}

/* The one store that an object may make. */
static bool store_thread(struct run *run, uint32_t var, struct symbol value)
{
	if (!run->may_store || run->stored || run->program->vars[var].by_ref)
		return false;
	run->stored = true;
	run->stored_var = var;
	run->stored_value = value;
	return true;
}

/* How many bytes a subroutine puts into the opposite order; 0: it is another. */
static uint64_t swapped_bytes(uint32_t subroutine)
{
	switch (subroutine) {
	case DIF_SUBR_NTOHS:
	case DIF_SUBR_HTONS:
		return 2;
	case DIF_SUBR_NTOHL:
	case DIF_SUBR_HTONL:
		return 4;
	case DIF_SUBR_NTOHLL:
	case DIF_SUBR_HTONLL:
		return 8;
	default:
		return 0;
	}
}

/* The calls that have a symbol: a swap of what was loaded; and two of them once, a speculation's number that is
 * stored, and a string of the process that the object returns. */
static bool call(struct run *run, const struct dbk_insn *insn, struct symbol *s)
{
	const struct symbol bytes = {SYMBOL_CONST, swapped_bytes(insn->arg)};

	if (bytes.value != 0 && run->push_count == 1 && run->pushed.kind == SYMBOL_LINK) {
		*s = combine(run, DBK_IOP_CALL, run->pushed, bytes);
		return s->kind == SYMBOL_BINARY;
	}
	s->value = (uint64_t)(insn - run->difo->insns);
	if (run->may_store && !run->speculated && insn->arg == DIF_SUBR_SPECULATION) {
		run->speculated = true;
		s->kind = SYMBOL_SPECULATION;
		return true;
	}
	if (run->may_copy && !run->copied && insn->arg == DIF_SUBR_COPYINSTR &&
	    run->push_count == 1) {
		run->copied = true;
		s->kind = SYMBOL_COPYINSTR;
		return true;
	}
	return false;
}

static bool push(struct run *run, struct symbol value)
{
	run->pushed = value;
	run->push_count++;
	return (run->may_copy && !run->copied) ||
	       (value.kind == SYMBOL_LINK && run->push_count == 1);
}

/* Runs one instruction that is not a branch; false when symbols cannot follow it. */
static bool step(struct run *run, const struct dbk_insn *insn)
{
	struct symbol *regs = run->regs;
	struct symbol s = {SYMBOL_UNKNOWN, 0};

	switch (insn->op) {
	case DBK_IOP_FLUSH:
		run->push_count = 0;
		return true;
	case DBK_IOP_NOP:
		return true;
	case DBK_IOP_PUSH_VALUE:
		return push(run, regs[insn->rd]);
	case DBK_IOP_LOAD_ARG:
		s.kind = SYMBOL_ARG;
		s.value = insn->arg;
		break;
	case DBK_IOP_LOAD_ARGS:
		if (!load_args(run, regs[insn->r2], &s))
			return false;
		break;
	case DBK_IOP_LOAD:
		if (!load(run, insn, &s))
			return false;
		break;
	case DBK_IOP_LOAD_VAR:
		/* May fault, used or not: the interpreter says at which instruction. */
		if (insn->arg == DIF_VAR_STACKDEPTH || insn->arg == DIF_VAR_USTACKDEPTH)
			return false;
		s.kind = SYMBOL_VAR;
		s.value = insn->arg;
		break;
	case DBK_IOP_LOAD_THREAD:
		if (!load_thread(run, insn->arg, &s))
			return false;
		break;
	case DBK_IOP_CALL:
		if (!call(run, insn, &s))
			return false;
		break;
	case DBK_IOP_STORE_THREAD:
		return store_thread(run, insn->arg, regs[insn->rd]);
	case DBK_IOP_SETX:
		s.kind = SYMBOL_CONST;
		s.value = run->difo->integers[insn->arg];
		break;
	case DBK_IOP_SETS:
		s.kind = SYMBOL_STRING;
		s.value = insn->arg;
		break;
	case DBK_IOP_MOV:
		s = regs[insn->r1];
		break;
	case DBK_IOP_CMP:
		return compare(run, regs[insn->r1], regs[insn->r2], SYMBOL_CONST);
	case DBK_IOP_TST:
		return compare(run, regs[insn->r1], (struct symbol){SYMBOL_CONST, 0}, SYMBOL_CONST);
	case DBK_IOP_SCMP:
		return compare(run, regs[insn->r1], regs[insn->r2], SYMBOL_STRING);
	default:
		if ((dbk_iop_facts(insn->op) & DBK_OP_DIVIDES) != 0)
			s = divide(run, insn->op, regs[insn->r1], regs[insn->r2]);
		else if ((dbk_iop_facts(insn->op) & DBK_OP_COMPUTES) != 0)
			s = combine(run, insn->op, regs[insn->r1], regs[insn->r2]);
		if (s.kind == SYMBOL_UNKNOWN)
			return false;
		break;
	}
	regs[insn->rd] = s;
	return true;
}

bool dbk_symbols_run(struct run *run, struct symbol *result_ret)
{
	const struct dbk_insn *insn;
	uint32_t pc = 0, i;

	for (i = 0; i < DIF_DIR_NREGS; i++) {
		run->regs[i].kind = SYMBOL_CONST; /* the interpreter starts with zeros, too */
		run->regs[i].value = 0;
	}
	run->codes = CODES_UNKNOWN;
	run->pair = 0;
	run->reached = 0;
	/* Ends: every step goes forward, and the last instruction is a ret. */
	for (;;) {
		insn = &run->difo->insns[pc];
		if (insn->op == DBK_IOP_RET) {
			*result_ret = run->regs[insn->rd];
			return true;
		}
		if ((dbk_iop_facts(insn->op) & DBK_OP_BRANCH) != 0) {
			if (!take_branch(run, insn, &pc))
				return false;
			continue;
		}
		if (!step(run, insn))
			return false;
		pc++;
	}
}

void dbk_symbols_begin(struct run *run, const struct dbk_program *program, struct dbk_difo *difo)
{
	memset(run, 0, sizeof(*run));
	run->difo = difo;
	run->program = program;
}
