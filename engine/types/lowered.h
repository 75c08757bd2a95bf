/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * lowered.h - what the engine makes of a program, shared by its folders
 *
 *   DIF      instructions decoded and verified; expressions and predicates that need no interpreter
 *   program  its variables, ECBDESCs, actions and options
 *   plan     what an ECBDESC does when it fires, computed once
 *
 * All of it is constant once its consumer is published; see internal.h for the rest.
 */
#ifndef DBK_ENGINE_LOWERED_H
#define DBK_ENGINE_LOWERED_H

#include "engine/api/engine.h"

/* ---- lowered DIF -------------------------------------------------------------- */

/* One instruction, decoded and verified: what the interpreter runs. */
struct dbk_insn {
	uint8_t op; /* enum dbk_iop, types/insn.h */
	uint8_t r1;
	uint8_t r2;
	uint8_t rd;
	uint32_t arg; /* branch target, table index, variable, subroutine */
};

struct dbk_cpu;

/*
 * How an expression's value is found, hottest first.  Shapes that occur in
 * every program (an argument, a constant, a built-in) need no interpreter.
 * NATIVE is DIF that was translated to C ahead of time; engine/native.h.
 */
enum dbk_expr_kind {
	DBK_EXPR_ARG,	      /* argument `operand` of the firing */
	DBK_EXPR_DIF,	      /* interpreted */
	DBK_EXPR_CONST,	      /* `constant` */
	DBK_EXPR_VARIABLE,    /* built-in integer variable `operand` */
	DBK_EXPR_BINARY,      /* `left` `op` `right`, of which none can fault */
	DBK_EXPR_THREAD,      /* thread-local scalar by value, the program's variable `operand` */
	DBK_EXPR_DIVIDED,     /* `dividend`, which is ARG or of the three above, by `operand`, not 0: `op` says how */
	DBK_EXPR_NAME,	      /* string: execname or a probe name, variable `operand` */
	DBK_EXPR_LITERAL,     /* string: `text`, in the program's image, of `operand` characters */
	DBK_EXPR_SPECULATION, /* what speculation() gives; instruction `operand` calls it */
	DBK_EXPR_COPYINSTR, /* string: copyinstr() of its object's `stored`, called by `operand` */
	DBK_EXPR_NATIVE,    /* `native` computes it, with the interpreter's contract */
	DBK_EXPR_CHAIN,	    /* loads, each from what the one before loaded: `chain` */
};

struct dbk_difo;
struct dbk_consumer;

struct dbk_expr {
	uint8_t kind;  /* enum dbk_expr_kind */
	uint8_t op;    /* BINARY: enum dbk_iop, ADD to MUL; DIVIDED: SDIV to UREM */
	uint8_t left;  /* BINARY: kind of the left one, ARG, VARIABLE or THREAD; `operand` is its
			* number */
	uint8_t right; /* BINARY: of the right one, or CONST; `constant` is its number, or it */
	uint32_t operand;
	union {
		uint64_t constant;
		const char *text;
		dbk_native_value *native;
		const struct dbk_chain *chain;	 /* of its object */
		const struct dbk_expr *dividend; /* likewise */
	};
	const struct dbk_difo *difo;   /* the interpreted form; NULL: there is none */
	struct dbk_consumer *consumer; /* whose variables THREAD means, once it is known */
};

#define DBK_CHAIN_LINKS 3u /* more are interpreted: every object has room for a chain */

struct dbk_link {
	uint64_t offset; /* of what is loaded, from what the link before loaded, or from the base */
	uint32_t load;	 /* LOAD's argument */
	uint32_t pc;	 /* of that instruction, for a fault */
};

/* What `args[0]->sock->port` is: the only loads of its object, and what is done with the last. */
struct dbk_chain {
	uint8_t base_kind; /* as `left` of an expression: ARG, VARIABLE, THREAD; or CONST */
	uint8_t link_count;
	uint8_t null_at; /* the link that ends the chain with `null_value` when it loads a NULL */
	uint8_t op; /* enum dbk_iop: NOP; ADD to MUL with `constant`; CALL swaps so many bytes */
	uint64_t base; /* number of the base, or it */
	uint64_t constant;
	uint64_t null_value;
	struct dbk_consumer *consumer; /* whose variables THREAD means */
	struct dbk_link links[DBK_CHAIN_LINKS];
};

/*
 * A predicate, hottest kinds first.  Comparisons of one value with a constant
 * are found by trying all outcomes (lower/lower.c).  `simple` ones need nothing of
 * the firing but its arguments, and are asked before anything else is set up; see
 * docs/design/0061-predicates-asked-early.md.
 */
enum dbk_predicate_kind {
	DBK_PREDICATE_NONE,
	DBK_PREDICATE_EQUAL_ARG, /* argument `left.operand` == constant */
	DBK_PREDICATE_EQUAL_PID, /* pid == constant */
	DBK_PREDICATE_EXECNAME,	 /* execname is (or, inverted, is not) a literal */
	DBK_PREDICATE_OUTCOME,	 /* the outcome of comparing left with constant is in the mask */
	DBK_PREDICATE_EXPR,	 /* left != 0 */
	DBK_PREDICATE_ALL,	 /* all `terms` hold or, inverted, not all */
};

#define DBK_TERMS_MAX 3u /* comparisons that a predicate may join: a && b && c, a || b || c */

/* Outcomes of comparing two u64: all that a branch can tell apart. */
#define DBK_OUTCOME_EQUAL	0
#define DBK_OUTCOME_LESS	1 /* signed and unsigned */
#define DBK_OUTCOME_GREATER	2 /* signed and unsigned */
#define DBK_OUTCOME_LESS_SIGNED 3 /* signed less, unsigned greater */
#define DBK_OUTCOME_LESS_UNSIGN 4 /* unsigned less, signed greater */
#define DBK_OUTCOMES		5

struct dbk_predicate {
	uint8_t kind;	  /* enum dbk_predicate_kind */
	uint8_t inverted; /* EXECNAME, ALL */
	uint8_t outcomes; /* OUTCOME: bit per DBK_OUTCOME_ for which it holds */
	uint8_t term_count;
	bool simple;
	bool early; /* and nothing of the CPU either: it is asked before the firing begins */
	const struct dbk_predicate *terms; /* ALL: in the DIFO, each of them simple */
	struct dbk_expr left;
	uint64_t constant;
	uint64_t name[2]; /* EXECNAME: the literal, and the bytes of it that count */
	uint64_t name_mask[2];
};

/* A DIF object: one compiled expression. */
struct dbk_difo {
	struct dbk_insn *insns; /* owned */
	uint32_t insn_count;
	uint32_t integer_count;
	uint64_t *integers;  /* owned: a copy, the image need not be aligned */
	const char *strings; /* in the program's image; ends in a NUL */
	uint32_t string_bytes;
	uint32_t section;     /* of its DIFOHDR, for messages */
	struct dif_type type; /* of what it returns; a string's size is strsize */
	uint32_t tuple_bytes; /* most key bytes that it builds for a dynamic variable */
	uint32_t work;	      /* of all its instructions, in DBK_WORK_ */
	bool uses_locals;     /* reads or writes a clause-local variable */
	bool heavy;	      /* may take long; load/cost.c */
	bool reads_unset;     /* a register, or a comparison's operands, before anything was stored there: zeros */
	bool relocated;	      /* its integers have addresses of the kernel that loaded it */
	struct dbk_expr expr; /* the lowered form */
	bool stores;	      /* all that it does is to store `stored` into a thread-local scalar */
	uint32_t stored_var;  /* index in the program's variables */
	struct dbk_expr stored;		/* or the address of a COPYINSTR */
	struct dbk_expr dividend;	/* of a DIVIDED, of which it has one */
	struct dbk_chain chain;		/* of its expression, or of its predicate */
	struct dbk_predicate predicate; /* and what it is as a predicate */
	struct dbk_predicate terms[DBK_TERMS_MAX];
};

/* ---- work ------------------------------------------------------------------------- */

/*
 * What a firing may cost, counted in units of about one instruction of the machine, and rather more
 * than too few: docs/design/0028.  The kinds of work whose amount the program decides are charged
 * before, or as they are done; tests/perf/worst-firing compares with what the machine counts.
 */
#define DBK_WORK_FIRING (1u << 20) /* of one consumer's clauses in one firing */
#define DBK_WORK_ERROR	(1u << 18) /* of its ERROR clauses, besides */
#define DBK_WORK_FAULT	4000u	   /* a fault: the processor's exception, and the ERROR probe; or a
				    * host's reading that may meet one and says nothing of it */
#define DBK_WORK_HOT	16u	   /* an instruction that the interpreter asks for first */
#define DBK_WORK_INSN	64u	   /* any other */
#define DBK_WORK_CALL	300u	   /* of a subroutine, or of the host */
#define DBK_WORK_CHAR	12u	   /* a character of a string: its end is found, and it is used */
#define DBK_WORK_FRAME	400u	   /* a frame of a stack */
#define DBK_WORK_WALK	16000u	   /* a walk that the host does: at most 120 parents, 24 frames */

#define DBK_ARGS_AT_HAND 6u /* arguments from this one on the host may read from its stack */

/* Clauses that a consumer may have on one probe: the quickest of them are not charged. */
#define DBK_PROBE_ECBS_MAX 4096u

/* ---- variables ------------------------------------------------------------------- */

#define DBK_VARS_MAX	    4096u  /* of one program */
#define DBK_VAR_BYTES_MAX   16384u /* a static variable of other ports */
#define DBK_TUPLE_MAX	    DIF_DTR_NREGS
#define DBK_KEY_BYTES_MAX   4096u      /* of a dynamic variable's serialised key */
#define DBK_SCRATCH_BYTES   32768u     /* per CPU: strings and allocations of one clause */
#define DBK_INSNS_MAX	    65536u     /* of a DIFO: 256 KiB, as other ports */
#define DBK_PROGRAM_INSNS   (1u << 20) /* of a program, sections used twice counted twice */
#define DBK_PROGRAM_VARS    (1u << 18) /* entries of all its variable tables, likewise */
#define DBK_PROGRAM_SYMBOLS 256u       /* of the kernel, that it names; each is looked up once */
#define DBK_PROGRAM_RELOCS  16384u     /* places that they are put */
#define DBK_PROGRAM_BYTES   (48u << 20) /* of memory, its image included */
#define DBK_ACTIONS_MAX	    16384u     /* of an enabling, as other ports */
#define DBK_PROGRAM_ACTIONS (1u << 18)
#define DBK_SECTIONS_MAX    65536u
#define DBK_ECBDESCS_MAX    65536u
#define DBK_OPTIONS_MAX	    256u
#define DBK_FIELDS_MAX	    16384u
#define DBK_AGG_CELLS_MAX   (1u << 17) /* 65535 levels of lquantize() are the most D can ask for */

struct dbk_var {
	uint32_t id;
	uint8_t scope; /* DIFV_SCOPE_ */
	uint8_t kind;  /* DIFV_KIND_ARRAY: associative */
	bool by_ref;
	bool is_string;
	uint32_t bytes;	 /* of the value: 8, or by reference its room */
	uint32_t offset; /* scalar: in the globals or locals; by reference: of the data, after a
			  * u64 that is 1 when NULL was assigned */
};

/* ---- programs ---------------------------------------------------------------------- */

struct dbk_actdesc {
	const struct dbk_difo *difo; /* NULL: none */
	uint32_t kind;		     /* DTRACEACT_, DTRACEAGG_ */
	uint32_t tuple_count;
	uint64_t arg;
	const char *text; /* `arg` as a string of the program's image; NULL: it is none */
};

struct dbk_ecbdesc {
	uint32_t section;		  /* index of the ECBDESC in the DOF */
	uint32_t probedesc;		  /* index in the program's */
	const struct dbk_difo *predicate; /* NULL: always */
	struct dbk_actdesc *actions;	  /* in the program's table */
	uint32_t action_count;
};

struct dbk_option {
	uint32_t id;
	uint64_t value;
};

struct dbk_program {
	uint8_t *image; /* owned copy of the DOF, file_bytes long */
	uint32_t image_bytes;
	uint32_t memory_bytes; /* all that it takes, the image included */
	uint32_t section_count;
	struct dbk_difo **difos; /* by section index; NULL: no DIFOHDR */
	struct dbk_ecbdesc *ecbdescs;
	uint32_t ecbdesc_count;
	struct dbk_probedesc *probedescs;
	uint32_t probedesc_count;
	struct dbk_place *places; /* in files */
	uint32_t place_count;
	uint8_t *heavy; /* by probedesc: whether a firing may take long; cost.c */
	struct dbk_actdesc *actions; /* of all ECBDESCs */
	uint32_t action_count;
	struct dbk_option options[DBK_OPTIONS_MAX];
	uint32_t option_count;
	struct dbk_var *vars;
	uint32_t var_count;
	uint32_t strsize;	     /* characters of a string; a NUL after them is extra */
	uint32_t globals_bytes;	     /* storage of global scalars */
	uint32_t locals_bytes;	     /* storage of clause-local scalars, per CPU */
	uint32_t local_value_bytes;  /* the first part of it: by-value slots */
	uint32_t locals_work;	     /* to clear it */
	uint32_t dynamic_data_bytes; /* largest value of a dynamic variable, 0: none */
	uint32_t dynamic_key_bytes;  /* largest key */
	const char *target_release;
	uint8_t target_btf_id[16];
	bool has_target;
	bool target_typed;
	bool has_end;		/* names dtrace:::END, perhaps by a glob */
	bool calls_speculation; /* some expression calls speculation() */
	uint32_t lacks;		/* DBK_LACKS_: privileges that its owner has not */
	uint32_t args_given;	/* args[] that every firing has; 0: not known */
};

/* ---- plans ----------------------------------------------------------------------------- */

/* What an action does in probe context, hottest first. */
enum dbk_step_kind {
	DBK_STEP_STORE,	    /* integer of 1, 2, 4, 8 bytes into the fixed part */
	DBK_STEP_EVALUATE,  /* side effects only */
	DBK_STEP_EXECNAME,  /* execname into the tail, whole whatever it is */
	DBK_STEP_TEXT,	    /* string into the tail: a literal, a probe's name, or recorded text */
	DBK_STEP_STRING,    /* any other */
	DBK_STEP_BYTES,	    /* `bytes` bytes from an address into the fixed part */
	DBK_STEP_CHAIN,	    /* STORE of a chain of loads: each may fault */
	DBK_STEP_THREAD,    /* into the thread-local scalar `bytes`, an index in the variables */
	DBK_STEP_STACK,	    /* kernel program counters into the tail */
	DBK_STEP_USTACK,    /* process id and user program counters into the tail */
	DBK_STEP_PID_VALUE, /* usym and kin: process id, then the value */
	DBK_STEP_EXIT,	    /* stores, and stops the consumer */
	DBK_STEP_AGGREGATE, /* aggregate=engine: counts with the key built before */
	DBK_STEP_KEY_BEGIN, /* aggregate=engine: the next steps build a key */
	DBK_STEP_SNAPSHOT,  /* enters a trigger, stores its sequence number */
	DBK_STEP_ACT,	    /* destructive: raise(), stop(), chill(), breakpoint(), panic() */
	DBK_STEP_SPECULATE, /* from here on the record is built in a speculation's buffer */
	DBK_STEP_COMMIT,
	DBK_STEP_DISCARD,
};

/* Where and how one action's value goes. */
struct dbk_step {
	uint8_t kind; /* enum dbk_step_kind */
	uint8_t size; /* STORE, CHAIN: 1, 2, 4, 8 */
	uint16_t action;
	uint32_t offset; /* from the start of the record, or of the key */
	uint32_t bytes;	 /* BYTES, STRING, TEXT: at most; STACK, USTACK: words at most; ACT: kind;
			  * THREAD: variable */
	/* AGGREGATE, KEY_BEGIN: index into the plan's aggregations; SNAPSHOT: into the consumer's
	 * triggers; USTACK: bytes of the stack itself, at most */
	uint32_t aggregation;
	/* STORE, CHAIN, EXECNAME: not 0 if what is stored is the first of its 8 bytes, and then the bits that
	 * are its own: they are stored as one word, and what follows in it is zero until it comes. */
	uint64_t word_mask;
	struct dbk_expr expr;
};

/** dbk_step_text_most() - characters of a TEXT at most */
static inline uint32_t dbk_step_text_most(const struct dbk_step *step)
{
	uint32_t most = step->expr.kind == DBK_EXPR_LITERAL ? step->expr.operand
			: step->expr.kind == DBK_EXPR_NAME  ? DBK_PROBE_NAME_BYTES_MAX
							    : step->bytes;

	return most < step->bytes ? most : step->bytes - 1;
}

/* An aggregating action of aggregate=engine. */
struct dbk_aggregation {
	uint32_t kind; /* DTRACEAGG_ */
	uint16_t action;
	uint16_t key_fixed_bytes; /* multiple of 8 */
	uint32_t key_bytes_max;
	uint32_t cell_count;
	uint32_t classic_bytes; /* of an entry in DTrace's layout; see account.h */
	uint32_t class_id;	/* equal for actions whose entries may be one */
	uint32_t variable_id;	/* of the D aggregation, from 1 */
	bool has_increment;
	uint64_t arg;
	struct dbk_expr value;
	struct dbk_expr increment;
};

/*
 * How a clause is run: decided once, for its plan (SIMPLE or GENERAL) and then for its ECB
 * on a probe (control/ecbs.c); run/fire.c runs it.  The order has a meaning: up to MEMBERS a clause
 * that is the only one of its probe needs no serial of the firing, and run_alone() counts for it.
 */
enum dbk_tier {
	DBK_TIER_ARGUMENTS, /* a record of nothing but arguments at hand, 8 bytes each; ECBs only */
	DBK_TIER_MEMBERS,   /* a record of arguments at hand, and of chains of loads from such;
			     * ECBs only */
	DBK_TIER_SIMPLE,    /* a record of integers that are simple, and of execname */
	DBK_TIER_CELLS,	  /* the same, maybe without a record, with texts, chains of loads or stores
			   * into thread-locals, and with keys and cells of aggregate=engine; ECBs
			   * only */
	DBK_TIER_NATIVE,  /* by a function that was translated from all of it; ECBs only */
	DBK_TIER_GENERAL, /* anything, by dbk_run_plan() */
	DBK_TIERS,
};

/* The first clauses of a consumer on a probe that are simple are not charged, if none is more work
 * than that: together they are a quarter of DBK_WORK_FIRING. */
#define DBK_SIMPLE_WORK_MAX 2048u
#define DBK_SIMPLE_TEXT_MAX 512u /* bytes of a text in such a clause */
#define DBK_SIMPLE_ECBS_MAX 128u
#define DBK_CHAIN_ECBS_MAX  16u /* that load, and so may meet a fault: as much again as 32 others */

/* All that an ECBDESC does, computed once: shared by its ECBs. */
struct dbk_plan {
	struct dbk_predicate predicate;
	uint8_t tier; /* enum dbk_tier: SIMPLE or GENERAL */
	bool has_record;
	bool variable; /* records carry their length */
	bool uses_locals;
	bool stores_threads;	/* it has THREAD steps */
	bool speculates;	/* its record, if any, goes to a speculation */
	bool zero_fixed;	/* the fixed part has padding, which must be zero */
	bool waits;		/* no probe matched it when the enabling was enabled */
	uint32_t fixed_bytes;	/* header and fixed part, multiple of 8 */
	uint32_t simple_bytes;	/* SIMPLE: with most of a tail; 0: no record */
	uint32_t most_bytes;	/* of a record in the ring; 0: none goes there */
	uint32_t classic_bytes; /* of a record in DTrace's layout; see account.h */
	uint32_t classic_align;
	uint32_t work;		/* of its steps, without their expressions; DBK_WORK_ */
	dbk_native_clause *native; /* predicate that is not simple, and steps; NULL: interpreted */
	dbk_native_firing *native_firing; /* the same where it is alone on its probe */
	bool cells;	    /* it has more than integers and execname: not simple, but cells */
	bool loads;	    /* it has CHAIN steps */
	bool may_fail;	    /* it loads, or has recorded texts: then the general way does it all */
	bool native_pays;   /* it is charged, as it would be without */
	uint8_t native_way; /* enum dbk_native_way */
	uint8_t own_gates;  /* DBK_GATE_ of the engine's own probes that it is for */
	uint32_t step_count;
	struct dbk_step *steps, *steps_end;   /* owned */
	struct dbk_aggregation *aggregations; /* owned */
	uint32_t aggregation_count;
	struct dbk_meta_field *fields; /* owned: what META_ECBS publishes */
	uint32_t field_count;
	const struct dbk_ecbdesc *desc;
};

/** dbk_plan_asks() - whether its predicate needs the firing set up */
static inline bool dbk_plan_asks(const struct dbk_plan *plan)
{
	return plan->predicate.kind != DBK_PREDICATE_NONE && !plan->predicate.simple;
}

/** dbk_plan_is_simple() - whether it needs nothing of the firing set up, its predicate neither */
static inline bool dbk_plan_is_simple(const struct dbk_plan *plan)
{
	return plan->tier == DBK_TIER_SIMPLE && !dbk_plan_asks(plan);
}

#endif /* DBK_ENGINE_LOWERED_H */
