/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * lower.c - recognises DIF objects that need no interpreter
 *
 * Control path.  Most expressions of real programs are an argument, a constant, a
 * built-in variable, or two of them added; most predicates compare such values
 * with constants, and join a few comparisons by && or ||.
 * A compiler may write these in many ways, so nothing is matched literally: the
 * object is run on symbols.  For a predicate it is run once for each combination
 * of outcomes that its comparisons can have; if all runs end in a constant, the
 * combinations for which it is true are all there is to know.  That lowered and
 * interpreted agree is a property test.
 */
#include "engine/lower/lower.h"
#include "engine/lower/symbols.h"
#include "engine/run/dif.h"
#include "engine/types/insn.h"

#define COMBINATIONS_MAX 125u /* DBK_OUTCOMES to the power of DBK_TERMS_MAX */

static bool is_name(uint64_t var)
{
	return var == DIF_VAR_EXECNAME || (var >= DIF_VAR_PROBEPROV && var <= DIF_VAR_PROBENAME);
}

static bool is_text(uint32_t expr_kind)
{
	return expr_kind == DBK_EXPR_NAME || expr_kind == DBK_EXPR_LITERAL;
}

/* A literal, unless it is long: then its end is not looked for either. */
static bool literal_of_symbol(const char *text, struct dbk_expr *expr)
{
	uint32_t length = 0; /* a table of strings ends in a NUL */

	while (text[length] != '\0' && length <= DBK_SIMPLE_TEXT_MAX)
		length++;
	if (length > DBK_SIMPLE_TEXT_MAX)
		return false;
	expr->kind = DBK_EXPR_LITERAL;
	expr->text = text;
	expr->operand = length;
	return true;
}

static enum dbk_expr_kind operand_kind(struct symbol s)
{
	return s.kind == SYMBOL_ARG	 ? DBK_EXPR_ARG
	       : s.kind == SYMBOL_VAR	 ? DBK_EXPR_VARIABLE
	       : s.kind == SYMBOL_THREAD ? DBK_EXPR_THREAD
					 : DBK_EXPR_CONST;
}

/* All loads of the object, if @s is the last one's value: any of them may fault. */
static bool chain_of_symbol(const struct run *run, struct symbol s, struct dbk_expr *expr)
{
	struct dbk_chain *chain = &run->difo->chain;
	const struct symbol *base = &run->links[0].from;
	uint32_t i;

	chain->op = DBK_IOP_NOP;
	chain->null_at = DBK_CHAIN_LINKS;
	if (s.kind == SYMBOL_BINARY) {
		chain->op = (uint8_t)run->binaries[s.value].op;
		chain->constant = run->binaries[s.value].right.value;
		s = run->binaries[s.value].left;
	}
	if (s.kind != SYMBOL_LINK || s.value != run->link_count)
		return false;
	chain->base_kind = (uint8_t)operand_kind(*base);
	chain->base = base->value;
	chain->link_count = (uint8_t)run->link_count;
	for (i = 0; i < run->link_count; i++)
		chain->links[i] = run->links[i].is;
	expr->kind = DBK_EXPR_CHAIN;
	expr->chain = chain;
	return true;
}

static bool expr_of_symbol(const struct run *run, struct symbol s, struct dbk_expr *expr)
{
	if (run->link_count != 0)
		return chain_of_symbol(run, s, expr);
	if (s.kind == SYMBOL_BINARY) {
		const struct binary *binary = &run->binaries[s.value];

		expr->kind = DBK_EXPR_BINARY;
		expr->op = (uint8_t)binary->op;
		expr->left = (uint8_t)operand_kind(binary->left);
		expr->right = (uint8_t)operand_kind(binary->right);
		expr->operand = (uint32_t)binary->left.value;
		expr->constant = binary->right.value;
		return true;
	}
	if (s.kind == SYMBOL_DIVIDED) {
		expr->kind = DBK_EXPR_DIVIDED;
		expr->op = (uint8_t)run->divided.op;
		expr->operand = run->divided.by;
		expr->dividend = &run->difo->dividend;
		return expr_of_symbol(run, run->divided.of, &run->difo->dividend);
	}
	if (s.kind == SYMBOL_ARG) {
		expr->kind = DBK_EXPR_ARG;
	} else if (s.kind == SYMBOL_THREAD) {
		expr->kind = DBK_EXPR_THREAD;
	} else if (s.kind == SYMBOL_SPECULATION) {
		expr->kind = DBK_EXPR_SPECULATION;
	} else if (s.kind == SYMBOL_VAR && is_name(s.value)) {
		expr->kind = DBK_EXPR_NAME;
	} else if (s.kind == SYMBOL_VAR && s.value != DIF_VAR_ZONENAME) {
		expr->kind = DBK_EXPR_VARIABLE;
	} else if (s.kind == SYMBOL_CONST) {
		expr->kind = DBK_EXPR_CONST;
		expr->constant = s.value;
		return true;
	} else if (s.kind == SYMBOL_STRING) {
		return literal_of_symbol(run->difo->strings + s.value, expr);
	} else {
		return false;
	}
	expr->operand = (uint32_t)s.value;
	return true;
}

/* An object that loads a pointer, returns a constant where that is NULL, and goes on with it where it is not:
 * *result_ret is what it returns then. */
static bool tests_null(struct run *run, struct symbol *result_ret, uint64_t *null_value_ret)
{
	struct pair *pair = run->pairs;
	struct symbol s;
	uint32_t outcome;

	if (run->pair_count != 1 || pair->left.kind != SYMBOL_LINK ||
	    pair->right.kind != SYMBOL_CONST || pair->right.value != 0)
		return false;
	for (outcome = 0; outcome < DBK_OUTCOMES; outcome++) {
		pair->outcome = outcome;
		if (!dbk_symbols_run(run, &s) || run->pair_count != 1)
			return false;
		if (outcome == DBK_OUTCOME_EQUAL) {
			if (s.kind != SYMBOL_CONST || run->reached > pair->left.value)
				return false;
			*null_value_ret = s.value;
		} else if (outcome == DBK_OUTCOME_EQUAL + 1) {
			*result_ret = s;
		} else if (s.kind != result_ret->kind || s.value != result_ret->value) {
			return false;
		}
	}
	return true;
}

static void lower_expression(const struct dbk_program *program, struct dbk_difo *difo)
{
	struct symbol result;
	struct run run;
	uint64_t null_value = 0; /* for GCC 13: set where it is used */
	bool wants_string = difo->type.kind == DIF_TYPE_STRING;

	dbk_symbols_begin(&run, program, difo);
	difo->expr.kind = DBK_EXPR_DIF;
	difo->expr.difo = difo;
	/* With a comparison the result may depend on its outcome. */
	if (!dbk_symbols_run(&run, &result) ||
	    (run.pair_count != 0 && !tests_null(&run, &result, &null_value)))
		return;
	if (expr_of_symbol(&run, result, &difo->expr) && run.pair_count != 0) {
		difo->chain.null_at = (uint8_t)(run.pairs[0].left.value - 1);
		difo->chain.null_value = null_value;
	}
	/* A name or a literal is a string, and besides only what is at an argument that is given;
	 * an address of one stays interpreted. */
	if (wants_string && difo->expr.kind == DBK_EXPR_ARG && program->args_given != 0)
		return;
	if (is_text(difo->expr.kind) != wants_string)
		difo->expr.kind = DBK_EXPR_DIF;
	/* What lies after an address is read in one place, dbk_dif_exec()'s callers. */
	if (!wants_string && (difo->type.flags & DIF_TF_BYREF) != 0)
		difo->expr.kind = DBK_EXPR_DIF;
}

/* self->x = value, where the value is simple or speculation(). */
static void lower_store(const struct dbk_program *program, struct dbk_difo *difo)
{
	struct symbol result;
	struct run run;

	dbk_symbols_begin(&run, program, difo);
	run.may_store = true;
	memset(&difo->stored, 0, sizeof(difo->stored));
	difo->stores = dbk_symbols_run(&run, &result) && run.pair_count == 0 && run.stored &&
		       expr_of_symbol(&run, run.stored_value, &difo->stored) &&
		       (run.speculated ? difo->stored.kind == DBK_EXPR_SPECULATION
				       : dbk_is_simple(&difo->stored));
	difo->stored_var = run.stored_var;
}

/* copyinstr(address), where the address is simple: a string of the process that goes where it is
 * recorded, and nowhere else before. */
static void lower_copyinstr(const struct dbk_program *program, struct dbk_difo *difo)
{
	struct symbol result;
	struct run run;

	if (difo->type.kind != DIF_TYPE_STRING || difo->expr.kind != DBK_EXPR_DIF)
		return;
	dbk_symbols_begin(&run, program, difo);
	run.may_copy = true;
	if (!dbk_symbols_run(&run, &result) || run.pair_count != 0 || result.kind != SYMBOL_COPYINSTR ||
	    !expr_of_symbol(&run, run.pushed, &difo->stored) || !dbk_is_simple(&difo->stored))
		return;
	difo->expr.kind = DBK_EXPR_COPYINSTR;
	difo->expr.operand = (uint32_t)result.value;
}

static bool lower_execname(const struct run *run, const struct pair *pair, uint32_t holds,
			   struct dbk_predicate *predicate)
{
	uint32_t less = (holds >> DBK_OUTCOME_LESS_SIGNED) & 1;
	uint32_t greater = (holds >> DBK_OUTCOME_GREATER) & 1;
	uint32_t equal = (holds >> DBK_OUTCOME_EQUAL) & 1;
	const char *literal = run->difo->strings + pair->right.value;
	uint8_t bytes[DBK_EXECNAME_BYTES], mask[DBK_EXECNAME_BYTES];
	uint32_t i;

	if (pair->left.kind != SYMBOL_VAR || pair->left.value != DIF_VAR_EXECNAME ||
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
	predicate->simple = predicate->early = true;
	predicate->inverted = (uint8_t)!equal;
	return true;
}

/* A thread-local that has no seat is looked for within the firing: as an operand it is not early. */
static bool is_early_operand(uint32_t kind, uint64_t number)
{
	return kind != DBK_EXPR_THREAD &&
	       (kind != DBK_EXPR_VARIABLE || dbk_is_early_variable((uint32_t)number));
}

/* Of the one value of a predicate. */
static bool is_early(const struct dbk_expr *expr)
{
	if (expr->kind == DBK_EXPR_THREAD)
		return true;
	if (expr->kind == DBK_EXPR_DIVIDED)
		return false;
	if (expr->kind != DBK_EXPR_BINARY)
		return dbk_is_simple(expr) && is_early_operand(expr->kind, expr->operand);
	return is_early_operand(expr->left, expr->operand) &&
	       is_early_operand(expr->right, expr->constant);
}

static bool lower_integer(const struct run *run, const struct pair *pair, uint32_t holds,
			  struct dbk_predicate *predicate)
{
	if (!expr_of_symbol(run, pair->left, &predicate->left) || is_text(predicate->left.kind))
		return false;
	predicate->left.difo = NULL;
	predicate->constant = pair->right.value;
	predicate->outcomes = (uint8_t)holds;
	predicate->simple = dbk_is_simple(&predicate->left);
	predicate->early = is_early(&predicate->left);
	predicate->kind = DBK_PREDICATE_OUTCOME;
	if (holds != (1u << DBK_OUTCOME_EQUAL))
		return true;
	if (predicate->left.kind == DBK_EXPR_ARG)
		predicate->kind = DBK_PREDICATE_EQUAL_ARG;
	else if (predicate->left.kind == DBK_EXPR_VARIABLE &&
		 predicate->left.operand == DIF_VAR_PID)
		predicate->kind = DBK_PREDICATE_EQUAL_PID;
	return true;
}

static bool lower_term(const struct run *run, const struct pair *pair, uint32_t holds,
		       struct dbk_predicate *term)
{
	memset(term, 0, sizeof(*term));
	return pair->right.kind == SYMBOL_STRING ? lower_execname(run, pair, holds, term)
						 : lower_integer(run, pair, holds, term);
}

/* ---- outcomes: a combination has a digit for each pair, the first one's the lowest ---- */

static uint32_t combinations(uint32_t pairs)
{
	uint32_t count = 1;

	while (pairs-- > 0)
		count *= DBK_OUTCOMES;
	return count;
}

static uint32_t digit(uint32_t combination, uint32_t pair)
{
	return combination / combinations(pair) % DBK_OUTCOMES;
}

/* Runs the object for every combination; false when one run does not end in a constant. */
static bool try_outcomes(struct run *run, bool *holds)
{
	struct symbol result;
	uint32_t i = 0, j, pairs;

	while (i < combinations(run->pair_count)) {
		pairs = run->pair_count;
		for (j = 0; j < pairs; j++)
			run->pairs[j].outcome = digit(i, j);
		if (!dbk_symbols_run(run, &result) || result.kind != SYMBOL_CONST)
			return false;
		holds[i] = result.value != 0;
		/* With one more pair there are other combinations. */
		i = run->pair_count == pairs ? i + 1 : 0;
	}
	return run->pair_count != 0;
}

/* Whether the predicate is @truth when, and only when, each pair's outcome is one of its own: those
 * go to @masks. */
static bool is_conjunction(const struct run *run, const bool *holds, bool truth, uint32_t *masks)
{
	uint32_t count = combinations(run->pair_count), i, j;

	memset(masks, 0, DBK_TERMS_MAX * sizeof(*masks));
	for (i = 0; i < count; i++)
		for (j = 0; j < run->pair_count && holds[i] == truth; j++)
			masks[j] |= 1u << digit(i, j);
	for (i = 0; i < count; i++) {
		bool all = true;

		for (j = 0; j < run->pair_count; j++)
			all = all && ((masks[j] >> digit(i, j)) & 1) != 0;
		if (all != (holds[i] == truth))
			return false;
	}
	return true;
}

/* Of several comparisons, all of them simple; a || b is the opposite of !a && !b. */
static bool lower_terms(const struct run *run, const bool *holds, struct dbk_predicate *terms,
			struct dbk_predicate *predicate)
{
	uint32_t masks[DBK_TERMS_MAX], i;
	bool truth = true;

	if (!is_conjunction(run, holds, true, masks)) {
		truth = false;
		if (!is_conjunction(run, holds, false, masks))
			return false;
	}
	predicate->early = true;
	for (i = 0; i < run->pair_count; i++) {
		if (!lower_term(run, &run->pairs[i], masks[i], &terms[i]) || !terms[i].simple)
			return false;
		predicate->early = predicate->early && terms[i].early &&
				   terms[i].left.kind != DBK_EXPR_THREAD;
	}
	predicate->kind = DBK_PREDICATE_ALL;
	predicate->simple = true;
	predicate->inverted = (uint8_t)!truth;
	predicate->term_count = (uint8_t)run->pair_count;
	predicate->terms = terms;
	return true;
}

static bool lower_comparisons(struct run *run, struct dbk_predicate *terms,
			      struct dbk_predicate *predicate)
{
	bool holds[COMBINATIONS_MAX];
	uint32_t masks[DBK_TERMS_MAX];

	if (!try_outcomes(run, holds))
		return false;
	if (run->pair_count > 1)
		return lower_terms(run, holds, terms, predicate);
	is_conjunction(run, holds, true, masks);
	return lower_term(run, &run->pairs[0], masks[0], predicate);
}

/* The predicate is whether the object's value is not 0. */
static void take_value(struct dbk_difo *difo)
{
	struct dbk_predicate *predicate = &difo->predicate;

	memset(predicate, 0, sizeof(*predicate));
	predicate->kind = DBK_PREDICATE_EXPR;
	predicate->left = difo->expr;
	/* A string as a predicate is its address, which only the interpreter has. */
	if (is_text(difo->expr.kind) || difo->expr.kind == DBK_EXPR_COPYINSTR)
		predicate->left.kind = DBK_EXPR_DIF;
	predicate->simple = dbk_is_simple(&predicate->left);
	predicate->early = is_early(&predicate->left);
}

static void lower_predicate(const struct dbk_program *program, struct dbk_difo *difo)
{
	struct run run;

	memset(&difo->predicate, 0, sizeof(difo->predicate));
	dbk_symbols_begin(&run, program, difo);
	if (!lower_comparisons(&run, difo->terms, &difo->predicate))
		take_value(difo);
}

static bool compares_execname(const struct dbk_predicate *predicate)
{
	uint32_t i;

	for (i = 0; i < predicate->term_count; i++)
		if (predicate->terms[i].kind == DBK_PREDICATE_EXECNAME)
			return true;
	return predicate->kind == DBK_PREDICATE_EXECNAME;
}

void dbk_difo_lower(const struct dbk_program *program, struct dbk_difo *difo)
{
	lower_expression(program, difo);
	lower_store(program, difo);
	lower_copyinstr(program, difo);
	lower_predicate(program, difo);
}

static bool loads_args(const struct dbk_difo *difo)
{
	uint32_t i = 0;

	while (i < difo->insn_count && difo->insns[i].op != DBK_IOP_LOAD_ARGS)
		i++;
	return i < difo->insn_count;
}

void dbk_program_give_args(struct dbk_program *program, uint32_t count)
{
	uint32_t i;

	program->args_given = count;
	for (i = 0; i < program->section_count; i++)
		if (program->difos[i] != NULL && loads_args(program->difos[i]))
			dbk_difo_lower(program, program->difos[i]);
}

void dbk_program_bind(struct dbk_program *program, struct dbk_consumer *consumer)
{
	uint32_t i, j;

	for (i = 0; i < program->section_count; i++) {
		struct dbk_difo *difo = program->difos[i];

		if (difo == NULL)
			continue;
		/* Lowered, whole names are compared; strings are of strsize characters only. */
		if (consumer->strsize + 1 < DBK_EXECNAME_BYTES &&
		    compares_execname(&difo->predicate))
			take_value(difo);
		difo->expr.consumer = consumer;
		difo->stored.consumer = consumer;
		difo->dividend.consumer = consumer;
		difo->chain.consumer = consumer;
		difo->predicate.left.consumer = consumer;
		for (j = 0; j < DBK_TERMS_MAX; j++)
			difo->terms[j].left.consumer = consumer;
	}
}
