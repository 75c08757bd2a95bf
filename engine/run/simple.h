/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * simple.h - values, predicates and clauses that cannot fault; see fire.h
 *
 * Probe context.  They need the arguments, the thread and two fields of the dbk_cpu, and nothing of it
 * set up, so that a clause of them is one straight way (docs/design/0067-tiers.md).  All of
 * it is inlined into fire.c: of each there are few callers, and a call costs as much as a step.
 */
#ifndef DBK_ENGINE_FIRE_SIMPLE_H
#define DBK_ENGINE_FIRE_SIMPLE_H

#include "engine/api/words.h"
#include "engine/arch/count.h"
#include "engine/memory/thread.h"
#include "engine/run/fire.h"

/* ---- values --------------------------------------------------------------------------- */

/** dbk_early_variable() - of which dbk_is_early_variable() is true */
static __probe_ctx_inline uint64_t dbk_early_variable(uint32_t id)
{
	if (id == DIF_VAR_PID)
		return dbk_host_pid();
	if (id == DIF_VAR_UID)
		return dbk_host_uid();
	if (id == DIF_VAR_TID)
		return dbk_host_tid();
	return id == DIF_VAR_GID ? dbk_host_gid() : dbk_host_curthread();
}

/** dbk_simple_variable() - of which dbk_is_simple_variable() is true */
static __probe_ctx_inline uint64_t dbk_simple_variable(struct dbk_cpu *cpu, uint32_t id)
{
	if (id == DIF_VAR_TIMESTAMP)
		return dbk_timestamp(cpu);
	return id == DIF_VAR_CPU ? cpu->index : dbk_early_variable(id);
}

/** dbk_thread_value() - of a thread-local.  Not inlined: other values shall not pay for its registers */
uint64_t dbk_thread_value(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint32_t var);

/* @number: of the argument or the variable, or the constant. */
static __probe_ctx_inline uint64_t dbk_operand_value(struct dbk_cpu *cpu, uint32_t kind,
						     uint64_t number,
						     struct dbk_consumer *consumer,
						     const struct dbk_probe *probe,
						     const uint64_t *args, void *frame)
{
	if (kind == DBK_EXPR_ARG)
		return dbk_argument(probe, args, frame, (uint32_t)number);
	if (kind == DBK_EXPR_CONST)
		return number;
	if (kind == DBK_EXPR_VARIABLE)
		return dbk_simple_variable(cpu, (uint32_t)number);
	return dbk_thread_value(cpu, consumer, (uint32_t)number);
}

/** dbk_composed_value() - of an expression of kind BINARY, THREAD or DIVIDED.  One function: each
 * that is called costs other values some registers */
uint64_t dbk_composed_value(struct dbk_cpu *cpu, const struct dbk_expr *expr,
			    const struct dbk_probe *probe, const uint64_t *args, void *frame);

/** dbk_simple_value() - of an expression that dbk_is_simple(); @cpu is not looked at for an early
 * one */
static __probe_ctx_inline uint64_t dbk_simple_value(struct dbk_cpu *cpu,
						    const struct dbk_expr *expr,
						    const struct dbk_probe *probe,
						    const uint64_t *args, void *frame)
{
	if (expr->kind == DBK_EXPR_ARG)
		return dbk_argument(probe, args, frame, expr->operand);
	if (expr->kind == DBK_EXPR_VARIABLE)
		return dbk_simple_variable(cpu, expr->operand);
	if (expr->kind >= DBK_EXPR_BINARY) /* or THREAD, or DIVIDED */
		return dbk_composed_value(cpu, expr, probe, args, frame);
	return expr->constant;
}

/* ---- chains of loads ---------------------------------------------------------------------- */

static __probe_ctx_inline uint64_t dbk_chain_end(const struct dbk_chain *chain, uint64_t value)
{
	if (chain->op == DBK_IOP_NOP)
		return value;
	if (chain->op != DBK_IOP_CALL)
		return dbk_binary(chain->op, value, chain->constant);
	if (chain->constant == 2)
		return __builtin_bswap16((uint16_t)value);
	return chain->constant == 4 ? __builtin_bswap32((uint32_t)value) : __builtin_bswap64(value);
}

/** dbk_follow() - from the base's value to the chain's; false: a load faults.  @entered: a constant, the
 * ECB was entered, so that the fault can be noted as the interpreter would; else nothing is said of it */
static __probe_ctx_inline bool dbk_follow(struct dbk_cpu *cpu, const struct dbk_chain *chain,
					  bool entered, uint64_t *value)
{
	const struct dbk_link *link = chain->links, *end = link + chain->link_count;

	do {
		uint64_t address = *value + link->offset, loaded = 0;
		uint32_t bytes = DBK_LOAD_BYTES(link->load);

		if (unlikely(!(entered ? dbk_load(cpu, &loaded, address, bytes)
				       : dbk_host_peek(&loaded, address, bytes)))) {
			if (entered)
				cpu->fault_pc = link->pc;
			return false;
		}
		*value = dbk_extend(loaded, link->load);
		if (unlikely(*value == 0) && link == &chain->links[chain->null_at]) {
			*value = chain->null_value;
			return true;
		}
	} while (++link != end);
	*value = dbk_chain_end(chain, *value);
	return true;
}

/* ---- execname ----------------------------------------------------------------------------- */

/* Both words of the process's name: each is read once, for another thread may be changing it. */
static __probe_ctx_inline void dbk_execname_words(uint64_t *low, uint64_t *high)
{
	const char *name = dbk_host_execname();

	__builtin_memcpy(low, name, 8);
	__builtin_memcpy(high, name + 8, 8);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/** dbk_copy_execname() - the process's name by words to @to, which has 16 bytes; with zeros from its
 * NUL to the end of the word.  Returns its length. */
static __probe_ctx_inline uint32_t dbk_copy_execname(uint64_t *to)
{
	uint64_t low, high, first;

	dbk_execname_words(&low, &high);
	first = dbk_nul_bit(low);
	if (first != 0) {
		to[0] = low & ((first >> 7) - 1);
		return dbk_nul_at(first);
	}
	to[0] = low;
	high &= ~0ull >> 8; /* the last byte is a NUL at any time */
	first = dbk_nul_bit(high);
	to[1] = high & ((first >> 7) - 1);
	return 8 + dbk_nul_at(first);
}

/* ---- predicates --------------------------------------------------------------------------- */

static __probe_ctx_inline uint32_t dbk_outcome(uint64_t a, uint64_t b)
{
	if (a == b)
		return DBK_OUTCOME_EQUAL;
	if ((int64_t)a < (int64_t)b)
		return a < b ? DBK_OUTCOME_LESS : DBK_OUTCOME_LESS_SIGNED;
	return a < b ? DBK_OUTCOME_LESS_UNSIGN : DBK_OUTCOME_GREATER;
}

/** dbk_value_holds() - whether a predicate of one value holds for it */
static __probe_ctx_inline bool dbk_value_holds(const struct dbk_predicate *predicate,
					       uint64_t value)
{
	if (predicate->kind == DBK_PREDICATE_EXPR)
		return value != 0;
	return ((predicate->outcomes >> dbk_outcome(value, predicate->constant)) & 1) != 0;
}

/** dbk_execname_holds() - of kind EXECNAME.  Two words: a name of the host has 16 readable bytes, and
 * bytes after its NUL do not count. */
static __probe_ctx_inline bool dbk_execname_holds(const struct dbk_predicate *predicate)
{
	uint64_t low, high;
	bool same;

	dbk_execname_words(&low, &high);
	same = (((low ^ predicate->name[0]) & predicate->name_mask[0]) |
		((high ^ predicate->name[1]) & predicate->name_mask[1])) == 0;
	return same != (bool)predicate->inverted;
}

static __probe_ctx_inline bool dbk_term_holds(struct dbk_cpu *cpu,
					      const struct dbk_predicate *predicate,
					      const struct dbk_probe *probe, const uint64_t *args,
					      void *frame)
{
	if (predicate->kind == DBK_PREDICATE_EXECNAME)
		return dbk_execname_holds(predicate);
	return dbk_value_holds(predicate,
			       dbk_simple_value(cpu, &predicate->left, probe, args, frame));
}

/** dbk_simple_holds() - a predicate that is simple; for an early one @cpu is not looked at */
static __probe_ctx_inline bool dbk_simple_holds(struct dbk_cpu *cpu,
						const struct dbk_predicate *predicate,
						const struct dbk_probe *probe, const uint64_t *args,
						void *frame)
{
	uint32_t i = 0;

	if (predicate->kind != DBK_PREDICATE_ALL)
		return dbk_term_holds(cpu, predicate, probe, args, frame);
	while (i < predicate->term_count &&
	       dbk_term_holds(cpu, &predicate->terms[i], probe, args, frame))
		i++;
	return (i == predicate->term_count) != (bool)predicate->inverted;
}

/* ---- clauses ----------------------------------------------------------------------------------- */

/* An integer where it belongs; see dbk_step.word_mask. */
static __probe_ctx_inline void dbk_store_step(const struct dbk_step *step, uint8_t *base,
					      uint64_t value)
{
	uint8_t *to = base + step->offset;

	if (likely(step->word_mask != 0))
		*(uint64_t *)to = value & step->word_mask;
	else
		dbk_store_integer(to, value, step->size);
}

/** dbk_store_tail() - where the text of @length is that was stored at @base + @used; returns the
 * end of the tail */
static __probe_ctx_inline uint32_t dbk_store_tail(const struct dbk_step *step, uint8_t *base,
						  uint32_t used, uint32_t length)
{
	dbk_store_step(step, base, used | length << 16); /* struct dbk_tail_ref */
	return used + ((length + 7) & ~7u);
}

/** dbk_simple_aggregate() - an AGGREGATE step of a simple plan, with the key that was built */
void dbk_simple_aggregate(struct dbk_cpu *cpu, const struct dbk_step *step, uint32_t key_bytes,
			  const uint64_t *args, void *frame);

/** dbk_simple_chain() - a CHAIN step into @base; false: a load faults, and nothing was said of it */
bool dbk_simple_chain(struct dbk_cpu *cpu, const struct dbk_step *step, uint8_t *base,
		      const uint64_t *args, void *frame);

/** dbk_text_of() - copies the text of a TEXT step to @to, with zeros up to a multiple of 8 bytes.
 * Returns its length, or -1: it is not at hand, and nothing was said of it */
static __probe_ctx_inline int32_t dbk_text_of(const struct dbk_ecb *ecb,
					      const struct dbk_step *step, uint64_t *to,
					      const uint64_t *args, void *frame)
{
	const struct dbk_probe *probe = ecb->probe;
	const struct dbk_expr *expr = &step->expr;
	uint32_t most = step->bytes - 1, length = expr->operand;
	const char *text = expr->text;
	uint64_t address, bytes;

	if (expr->kind == DBK_EXPR_ARG) {
		address = dbk_argument(probe, args, frame, expr->operand);
		bytes = dbk_host_readable(address);
		if (unlikely(bytes == 0))
			return -1;
		return (int32_t)dbk_text_take_padded(to, (const char *)(uintptr_t)address,
						     bytes < most ? bytes : most);
	}
	if (expr->kind == DBK_EXPR_NAME) {
		length = ecb->name_bytes[expr->operand - DIF_VAR_PROBEPROV];
		text = dbk_probe_text(probe, expr->operand);
	}
	return (int32_t)dbk_text_copy_padded(to, text, length < most ? length : most);
}

/** dbk_simple_rest() - a CHAIN step, or THREAD; then false: no room, a DYNAMIC drop */
bool dbk_simple_rest(struct dbk_cpu *cpu, const struct dbk_step *step, uint8_t *base,
		     const uint64_t *args, void *frame);

/* All steps, one at least, of a simple plan; returns how many bytes the record at @record has.
 * Where its steps end is read at each: a register for that is one less for the rest. */
static __probe_ctx_inline uint32_t dbk_simple_steps(struct dbk_cpu *cpu, const struct dbk_ecb *ecb,
						    uint8_t *record, const uint64_t *args,
						    void *frame)
{
	const struct dbk_step *step = ecb->plan->steps;
	uint32_t used = ecb->plan->fixed_bytes;

	do {
		if (likely(step->kind == DBK_STEP_STORE))
			dbk_store_step(step, record,
				       dbk_simple_value(cpu, &step->expr, ecb->probe, args, frame));
		else
			used = dbk_store_tail(step, record, used,
					      dbk_copy_execname((uint64_t *)(record + used)));
	} while (++step != ecb->plan->steps_end);
	return used;
}

/* The same with texts, loads, thread-locals, keys and cells; 0: a load faults, a text is not at
 * hand, or a thread-local found no room, which ends the clause. */
static __probe_ctx_inline uint32_t dbk_cells_steps(struct dbk_cpu *cpu, const struct dbk_ecb *ecb,
						   uint8_t *record, const uint64_t *args,
						   void *frame)
{
	const struct dbk_plan *plan = ecb->plan;
	const struct dbk_step *step = plan->steps;
	uint32_t used = plan->fixed_bytes, record_bytes = used;
	uint8_t *base = record;

	do {
		if (likely(step->kind == DBK_STEP_STORE)) {
			dbk_store_step(step, base,
				       dbk_simple_value(cpu, &step->expr, ecb->probe, args, frame));
		} else if (step->kind <= DBK_STEP_TEXT) {
			uint64_t *to = (uint64_t *)(base + used);
			int32_t length;

			if (step->kind == DBK_STEP_EXECNAME) {
				used = dbk_store_tail(step, base, used, dbk_copy_execname(to));
				continue;
			}
			length = dbk_text_of(ecb, step, to, args, frame);
			if (unlikely(length < 0))
				return 0;
			used = dbk_store_tail(step, base, used, (uint32_t)length);
		} else if (step->kind == DBK_STEP_KEY_BEGIN) {
			record_bytes = used;
			base = cpu->buffer->key;
			used = plan->aggregations[step->aggregation].key_fixed_bytes;
		} else if (step->kind == DBK_STEP_AGGREGATE) {
			dbk_simple_aggregate(cpu, step, used, args, frame);
			base = record;
			used = record_bytes;
		} else if (unlikely(!dbk_simple_rest(cpu, step, base, args, frame))) {
			return 0;
		}
	} while (++step != plan->steps_end);
	return used;
}

/* Whether records of the ECB have their length: its plan's `variable`, where that is not a constant. */
#define DBK_VARIABLE_ASK 2u

static __probe_ctx_inline bool dbk_is_variable(const struct dbk_ecb *ecb, uint32_t variable)
{
	return variable == DBK_VARIABLE_ASK ? ecb->plan->variable : variable != 0;
}

/* Where a record is built that has its header; NULL: there is no room for it, or its time has no base.
 * @variable: a constant, as dbk_is_variable() has it; @alone: a constant, the firing has no other */
static __probe_ctx_inline uint8_t *dbk_begin_simple(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
						    const struct dbk_ecb *ecb, uint64_t now,
						    uint32_t variable, bool alone)
{
	uint32_t start = buffer->used_bytes;
	uint64_t delta = now - buffer->base_ticks;
	uint8_t *record;

	if (unlikely(start + ecb->record_bytes > dbk_load_relaxed(&buffer->room_bytes) ||
		     (delta >> 32) != 0))
		return NULL;
	record = buffer->segment + start;
	/* So that the compiler knows that the caller need not look. */
	if (record == NULL)
		__builtin_unreachable();
	/* struct dbk_record_header in one store: the EPID is its low half. */
	*(uint64_t *)record = delta << 32 | ecb->epid | (alone ? 0 : cpu->same_firing);
	if (!alone)
		cpu->same_firing = DBK_RECORD_F_SAME_FIRING;
	if (dbk_is_variable(ecb, variable))
		((uint64_t *)record)[1] = 0;
	return record;
}

/* What it needs is read again: to keep it from the beginning would cost more. */
static __probe_ctx_inline void dbk_commit_simple(struct dbk_buffer *buffer,
						 const struct dbk_ecb *ecb, uint32_t bytes,
						 uint32_t variable)
{
	struct dbk_segment_header *segment = (struct dbk_segment_header *)buffer->segment;
	struct dbk_meta_cpu *counters = buffer->counters;
	uint32_t start = buffer->used_bytes, end = start + bytes;

	dbk_probe_assert(bytes % 8 == 0 && bytes <= ecb->record_bytes && end <= buffer->segment_bytes);
	if (dbk_is_variable(ecb, variable))
		*(uint32_t *)((uint8_t *)segment + start + sizeof(struct dbk_record_header)) =
			bytes;
	buffer->used_bytes = end;
	dbk_store_release(&segment->committed_bytes, end);
	counters->records++;
	counters->bytes += bytes;
}

/* Of a record that there will not be: the next one is what this one would have been. */
static __probe_ctx_inline void dbk_withdraw_simple(struct dbk_cpu *cpu, const uint8_t *record)
{
	cpu->same_firing = *(const uint32_t *)record & DBK_RECORD_F_SAME_FIRING;
}

/** dbk_run_simple() - a clause of tier SIMPLE, if its record has room and its time @now a base in the
 * open segment; false: nothing was done.  @alone: a constant, it is the whole firing, and counted as one */
static __probe_ctx_inline bool dbk_run_simple(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
					      const struct dbk_ecb *ecb, const uint64_t *args,
					      void *frame, uint64_t now, bool alone)
{
	uint8_t *record = dbk_begin_simple(cpu, buffer, ecb, now, DBK_VARIABLE_ASK, alone);

	if (unlikely(record == NULL))
		return false;
	if (alone)
		dbk_count(&buffer->counters->firings, 1);
	dbk_commit_simple(buffer, ecb, dbk_simple_steps(cpu, ecb, record, args, frame),
			  DBK_VARIABLE_ASK);
	return true;
}

/** dbk_run_cells() - the same of tier CELLS, which need not have a record; false as well: a load faults, or a
 * text is not at hand */
static __probe_ctx_inline bool dbk_run_cells(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
					     const struct dbk_ecb *ecb, const uint64_t *args,
					     void *frame, bool alone)
{
	uint8_t *record = NULL;
	uint32_t bytes;

	if (ecb->record_bytes != 0) {
		record = dbk_begin_simple(cpu, buffer, ecb, dbk_host_ticks(), DBK_VARIABLE_ASK,
					  alone);
		if (unlikely(record == NULL))
			return false;
	}
	cpu->ecb = ecb;
	cpu->buffer = buffer;
	bytes = dbk_cells_steps(cpu, ecb, record, args, frame);
	if (unlikely(bytes == 0)) {
		if (!alone && record != NULL)
			dbk_withdraw_simple(cpu, record);
		/* Then there are no thread-locals, and nothing was done. */
		if (ecb->plan->may_fail)
			return false;
	} else if (ecb->record_bytes != 0) {
		dbk_commit_simple(buffer, ecb, bytes, DBK_VARIABLE_ASK);
	}
	if (alone)
		dbk_count(&buffer->counters->firings, 1);
	return true;
}

#endif /* DBK_ENGINE_FIRE_SIMPLE_H */
