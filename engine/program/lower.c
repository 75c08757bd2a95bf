/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * lower.c - recognises DIF objects that need no interpreter
 *
 * Control path.  Most expressions of real programs are an argument, a constant
 * or a built-in variable; most predicates compare one of those with a constant.
 * A compiler may write these in many ways, so nothing is matched literally: the
 * object is run on symbols.  For a predicate it is run once for each outcome
 * that the comparison can have; if all runs end in a constant, the set of
 * outcomes for which it is true is all there is to know.  That lowered and
 * interpreted agree is a property test.
 */
#include "engine/dif/dif.h"
#include "engine/dif/insn.h"
#include "engine/program/program.h"

enum symbol_kind {
	SYMBOL_UNKNOWN,
	SYMBOL_CONST,  /* value */
	SYMBOL_ARG,    /* argument number `value` */
	SYMBOL_VAR,    /* built-in variable `value` */
	SYMBOL_STRING, /* offset `value` in the string table */
};

struct symbol {
	enum symbol_kind kind;
	uint64_t value;
};

/* Condition codes: nothing, known operands, or the outcome that is being tried. */
enum codes_kind { CODES_UNKNOWN, CODES_CONST, CODES_TRIED, CODES_TRIED_SWAPPED };

struct run {
	const struct dbk_difo *difo;
	struct symbol regs[DIF_DIR_NREGS];
	enum codes_kind codes;
	uint64_t a, b;		   /* CODES_CONST */
	uint32_t outcome;	   /* the one tried */
	struct symbol left, right; /* what was compared; SYMBOL_UNKNOWN: nothing yet */
};

/* Operands that have the outcome. */
static const uint64_t outcome_operands[DBK_OUTCOMES][2] = {
	[DBK_OUTCOME_EQUAL] = {0, 0},		[DBK_OUTCOME_LESS] = {0, 1},
	[DBK_OUTCOME_GREATER] = {1, 0},		[DBK_OUTCOME_LESS_SIGNED] = {~0ull, 0},
	[DBK_OUTCOME_LESS_UNSIGN] = {0, ~0ull},
};

static bool is_branch(uint32_t op)
{
	return op == DBK_IOP_BA || op == DBK_IOP_BE || op == DBK_IOP_BNE ||
	       (op >= DBK_IOP_BG && op <= DBK_IOP_BLEU);
}

static bool same_symbol(struct symbol a, struct symbol b)
{
	return a.kind == b.kind && a.value == b.value;
}

static bool is_left(struct symbol s)
{
	return s.kind == SYMBOL_ARG || s.kind == SYMBOL_VAR;
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
	if (run->left.kind == SYMBOL_UNKNOWN) {
		run->left = a;
		run->right = b;
	}
	run->codes = swapped ? CODES_TRIED_SWAPPED : CODES_TRIED;
	return same_symbol(run->left, a) && same_symbol(run->right, b);
}

static bool take_branch(struct run *run, const struct dbk_insn *insn, uint32_t *pc)
{
	const uint64_t *operands = outcome_operands[run->outcome];
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

/* Runs one instruction that is not a branch; false when symbols cannot follow it. */
static bool step(struct run *run, const struct dbk_insn *insn)
{
	struct symbol *regs = run->regs;
	struct symbol zero = {SYMBOL_CONST, 0};
	struct symbol s = {SYMBOL_UNKNOWN, 0};

	switch (insn->op) {
	case DBK_IOP_NOP:
		return true;
	case DBK_IOP_LOAD_ARG:
		s.kind = SYMBOL_ARG;
		s.value = insn->arg;
		break;
	case DBK_IOP_LOAD_VAR:
		s.kind = SYMBOL_VAR;
		s.value = insn->arg;
		break;
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
		return compare(run, regs[insn->r1], zero, SYMBOL_CONST);
	case DBK_IOP_SCMP:
		return compare(run, regs[insn->r1], regs[insn->r2], SYMBOL_STRING);
	default:
		return false;
	}
	regs[insn->rd] = s;
	return true;
}

/* Runs to the ret; false when that is not possible on symbols. */
static bool run_symbols(struct run *run, struct symbol *result_ret)
{
	const struct dbk_insn *insn;
	uint32_t pc = 0, i;

	for (i = 0; i < DIF_DIR_NREGS; i++) {
		run->regs[i].kind = SYMBOL_CONST; /* the interpreter starts with zeros, too */
		run->regs[i].value = 0;
	}
	run->codes = CODES_UNKNOWN;
	/* Ends: every step goes forward, and the last instruction is a ret. */
	for (;;) {
		insn = &run->difo->insns[pc];
		if (insn->op == DBK_IOP_RET) {
			*result_ret = run->regs[insn->rd];
			return true;
		}
		if (is_branch(insn->op)) {
			if (!take_branch(run, insn, &pc))
				return false;
			continue;
		}
		if (!step(run, insn))
			return false;
		pc++;
	}
}

static bool is_name(uint64_t var)
{
	return var == DIF_VAR_EXECNAME || (var >= DIF_VAR_PROBEPROV && var <= DIF_VAR_PROBENAME);
}

static bool expr_of_symbol(struct symbol s, struct dbk_expr *expr)
{
	if (s.kind == SYMBOL_ARG) {
		expr->kind = DBK_EXPR_ARG;
	} else if (s.kind == SYMBOL_VAR && is_name(s.value)) {
		expr->kind = DBK_EXPR_NAME;
	} else if (s.kind == SYMBOL_VAR && s.value != DIF_VAR_ZONENAME &&
		   s.value != DIF_VAR_STACKDEPTH && s.value != DIF_VAR_USTACKDEPTH) {
		/* A depth may fault, and then the interpreter says at which instruction. */
		expr->kind = DBK_EXPR_VARIABLE;
	} else if (s.kind == SYMBOL_CONST) {
		expr->kind = DBK_EXPR_CONST;
		expr->constant = s.value;
		return true;
	} else {
		return false;
	}
	expr->operand = (uint32_t)s.value;
	return true;
}

static void lower_expression(struct dbk_difo *difo)
{
	struct symbol result;
	struct run run;
	bool wants_string = difo->type.kind == DIF_TYPE_STRING;

	memset(&run, 0, sizeof(run));
	run.difo = difo;
	difo->expr.kind = DBK_EXPR_DIF;
	difo->expr.difo = difo;
	/* A comparison makes run.left known: then the result may depend on its outcome. */
	if (!run_symbols(&run, &result) || run.left.kind != SYMBOL_UNKNOWN)
		return;
	expr_of_symbol(result, &difo->expr);
	/* A name is a string and nothing else is; an address of one stays interpreted. */
	if ((difo->expr.kind == DBK_EXPR_NAME) != wants_string)
		difo->expr.kind = DBK_EXPR_DIF;
	/* What lies after an address is read in one place, dbk_dif_exec()'s callers. */
	if (!wants_string && (difo->type.flags & DIF_TF_BYREF) != 0)
		difo->expr.kind = DBK_EXPR_DIF;
}

static bool lower_execname(const struct run *run, uint32_t holds, struct dbk_predicate *predicate)
{
	uint32_t less = (holds >> DBK_OUTCOME_LESS_SIGNED) & 1;
	uint32_t greater = (holds >> DBK_OUTCOME_GREATER) & 1;
	uint32_t equal = (holds >> DBK_OUTCOME_EQUAL) & 1;
	const char *literal = run->difo->strings + run->right.value;
	uint8_t bytes[DBK_EXECNAME_BYTES], mask[DBK_EXECNAME_BYTES];
	uint32_t i;

	if (run->left.kind != SYMBOL_VAR || run->left.value != DIF_VAR_EXECNAME ||
	    less != greater || less == equal)
		return false;
	memset(bytes, 0, sizeof(bytes));
	memset(mask, 0, sizeof(mask));
	for (i = 0; i < DBK_EXECNAME_BYTES; i++) {
		bytes[i] = (uint8_t)literal[i];
		mask[i] = 0xff;
		if (literal[i] == '\0')
			break;
	}
	if (i == DBK_EXECNAME_BYTES)
		return false; /* too long to be a name: rare, and the interpreter knows */
	memcpy(predicate->name, bytes, sizeof(bytes));
	memcpy(predicate->name_mask, mask, sizeof(mask));
	predicate->kind = DBK_PREDICATE_EXECNAME;
	predicate->simple = true;
	predicate->inverted = (uint8_t)!equal;
	return true;
}

static bool lower_integer(const struct run *run, uint32_t holds, struct dbk_predicate *predicate)
{
	if (!expr_of_symbol(run->left, &predicate->left) || predicate->left.kind == DBK_EXPR_NAME)
		return false;
	predicate->left.difo = NULL;
	predicate->constant = run->right.value;
	predicate->outcomes = (uint8_t)holds;
	predicate->simple = dbk_is_simple(&predicate->left);
	predicate->kind = DBK_PREDICATE_OUTCOME;
	if (holds != (1u << DBK_OUTCOME_EQUAL))
		return true;
	if (predicate->left.kind == DBK_EXPR_ARG)
		predicate->kind = DBK_PREDICATE_EQUAL_ARG;
	else if (predicate->left.operand == DIF_VAR_PID)
		predicate->kind = DBK_PREDICATE_EQUAL_PID;
	return true;
}

/* Runs the object for every outcome; false when one run does not end in a constant. */
static bool try_outcomes(struct run *run, uint32_t *holds_ret)
{
	struct symbol result;
	uint32_t holds = 0;

	for (run->outcome = 0; run->outcome < DBK_OUTCOMES; run->outcome++) {
		if (!run_symbols(run, &result) || result.kind != SYMBOL_CONST)
			return false;
		if (result.value != 0)
			holds |= 1u << run->outcome;
	}
	*holds_ret = holds;
	return run->left.kind != SYMBOL_UNKNOWN;
}

void dbk_predicate_lower(const struct dbk_difo *difo, struct dbk_predicate *predicate_ret)
{
	struct run run;
	uint32_t holds = 0;

	memset(predicate_ret, 0, sizeof(*predicate_ret));
	if (difo == NULL)
		return;
	memset(&run, 0, sizeof(run));
	run.difo = difo;
	if (try_outcomes(&run, &holds)) {
		if (run.right.kind == SYMBOL_STRING && lower_execname(&run, holds, predicate_ret))
			return;
		if (run.right.kind == SYMBOL_CONST && lower_integer(&run, holds, predicate_ret))
			return;
	}
	memset(predicate_ret, 0, sizeof(*predicate_ret));
	predicate_ret->kind = DBK_PREDICATE_EXPR;
	predicate_ret->left = difo->expr;
	/* A string as a predicate is its address, which only the interpreter has. */
	if (difo->expr.kind == DBK_EXPR_NAME)
		predicate_ret->left.kind = DBK_EXPR_DIF;
	predicate_ret->simple = dbk_is_simple(&predicate_ret->left);
}

void dbk_difo_lower(struct dbk_difo *difo)
{
	lower_expression(difo);
	dbk_predicate_lower(difo, &difo->predicate);
}
