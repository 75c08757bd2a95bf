/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * symbols.h - an object that is run on symbols, for lower.c
 *
 * Control path.  A symbol says where a value comes from: an argument, a constant, a variable, two of these
 * added.  Each run ends with what the object returns, if symbols could follow it so far; of a comparison
 * the run says which values were compared, and the next one takes another outcome.
 */
#ifndef DBK_ENGINE_LOWER_SYMBOLS_H
#define DBK_ENGINE_LOWER_SYMBOLS_H

#include "engine/types/internal.h"

enum symbol_kind {
	SYMBOL_UNKNOWN,
	SYMBOL_CONST,  /* value */
	SYMBOL_ARG,    /* argument number `value` */
	SYMBOL_VAR,    /* built-in variable `value` */
	SYMBOL_THREAD, /* thread-local scalar, number `value` of the program's variables */
	SYMBOL_BINARY, /* number `value` of the run's */
	SYMBOL_DIVIDED, /* the run's */
	SYMBOL_LINK,   /* what was loaded by number `value` of the run's links, from 1 */
	SYMBOL_SPECULATION, /* what speculation() gave, called by instruction `value` */
	SYMBOL_COPYINSTR,   /* the same of copyinstr() */
	SYMBOL_STRING, /* offset `value` in the string table */
};

struct symbol {
	enum symbol_kind kind;
	uint64_t value;
};

struct binary {
	uint32_t op; /* enum dbk_iop; CALL: of a subroutine that swaps `right` bytes */
	struct symbol left, right;
};

/* By a constant other than 0, which fits an expression's operand. */
struct divided {
	uint32_t op; /* enum dbk_iop; 0: nothing was */
	uint32_t by;
	struct symbol of; /* BINARY, or an operand */
};

/* A load; from the second on `from` is what the one before loaded. */
struct link {
	struct symbol from;
	struct dbk_link is;
};

/* Two values that are compared, and the outcome that is being tried. */
struct pair {
	struct symbol left, right;
	uint32_t outcome;
};

/* Condition codes: nothing, known operands, or those of a pair. */
enum codes_kind { CODES_UNKNOWN, CODES_CONST, CODES_TRIED, CODES_TRIED_SWAPPED };

#define BINARIES_MAX	 6u
#define JOINED_INSNS_MAX 64u  /* a longer object is run for one pair only: loading stays quick */

struct run {
	struct dbk_difo *difo;
	const struct dbk_program *program;
	struct symbol regs[DIF_DIR_NREGS];
	struct binary binaries[BINARIES_MAX]; /* of all runs */
	uint32_t binary_count;
	struct divided divided; /* likewise */
	struct link links[DBK_CHAIN_LINKS]; /* likewise */
	uint32_t link_count;
	uint32_t reached; /* number of the last link that this run came to */
	struct pair pairs[DBK_TERMS_MAX]; /* likewise */
	uint32_t pair_count;
	enum codes_kind codes;
	uint64_t a, b; /* CODES_CONST */
	uint32_t pair; /* CODES_TRIED */
	bool may_store, stored, speculated;
	bool may_copy, copied;
	uint32_t push_count;
	struct symbol pushed; /* last */
	uint32_t stored_var;
	struct symbol stored_value;
};

/** dbk_symbols_begin() - a @run of the object, before the first of its outcomes */
void dbk_symbols_begin(struct run *run, const struct dbk_program *program, struct dbk_difo *difo);

/** dbk_symbols_run() - runs to the ret; false when that is not possible on symbols */
bool dbk_symbols_run(struct run *run, struct symbol *result_ret);

#endif /* DBK_ENGINE_LOWER_SYMBOLS_H */
