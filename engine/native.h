/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * native.h - all that code may use which engine/translate makes of a program
 *
 * Probe context.  A program is translated to C as it was verified and lowered, never
 * from unchecked DOF, into two kinds of functions:
 *
 *   value   one DIFO, in the interpreter's place (DBK_EXPR_NATIVE).  It is charged, faults and
 *           calls as dbk_dif_exec() does; instructions that are not hot are run by the
 *           interpreter's own function for them.
 *   clause  a whole ECBDESC (DBK_TIER_NATIVE), if none of it can fault: predicate, record, keys
 *           and cells in one straight way.  It does nothing before it knows that all of it can
 *           be done; what cannot (no room, no work left) is interpreted from the start.
 *   firing  that clause and what is around it, for a probe that is enabled once.
 *
 * So records are the same whichever ran; META_ECBS says which clauses were native.  The decision:
 * docs/design/0082-native-programs.md.
 */
#ifndef DBK_ENGINE_NATIVE_H
#define DBK_ENGINE_NATIVE_H

#include "engine/run/dif.h"
#include "engine/run/simple.h"

/* A firing, as a translated function sees it. */
struct dbk_native {
	struct dbk_cpu *cpu;
	const struct dbk_ecb *ecb;
	struct dbk_buffer *buffer;
	const uint64_t *args;
	void *frame;
	uint32_t work; /* of a clause that is charged: to be taken from the firing at its end */
	bool quick; /* a constant: the clock is quick, and the probe has all arguments at hand */
};

/* ---- values ------------------------------------------------------------------------------ */

/** dbk_native_entered() - the firing of the ECB that was entered */
static __probe_ctx_inline struct dbk_native dbk_native_entered(struct dbk_cpu *cpu)
{
	struct dbk_native n = {cpu, cpu->ecb, cpu->buffer, cpu->args, cpu->frame, 0, false};

	return n;
}

/** dbk_native_paid() - what a DIFO costs, and an empty tuple stack, before its first instruction;
 * false after a WORK fault */
static __probe_ctx_inline bool dbk_native_paid(struct dbk_cpu *cpu, const struct dbk_difo *difo)
{
	if (unlikely(!dbk_spend(cpu, difo->work))) {
		cpu->fault_pc = 0;
		return false;
	}
	cpu->tuple_count = 0;
	return true;
}

/** dbk_native_faulted() - whether instruction @pc did */
static __probe_ctx_inline bool dbk_native_faulted(struct dbk_cpu *cpu, uint32_t pc)
{
	if (likely(!cpu->fault_set))
		return false;
	cpu->fault_pc = pc;
	return true;
}

static __probe_ctx_inline uint64_t dbk_native_arg(const struct dbk_native *n, uint32_t index)
{
	const struct dbk_probe *probe = n->ecb->probe;

	return n->quick && index < DBK_PROBE_ARGS_MAX
		       ? n->args[probe->arg_word[index]]
		       : dbk_argument(probe, n->args, n->frame, index);
}

/** dbk_native_variable() - a built-in that dbk_is_simple_variable() */
static __probe_ctx_inline uint64_t dbk_native_variable(const struct dbk_native *n, uint32_t id)
{
	return dbk_simple_variable(n->cpu, id);
}

/** dbk_native_builtin() - any other; it may fault */
static __probe_ctx_inline uint64_t dbk_native_builtin(const struct dbk_native *n, uint32_t id)
{
	return dbk_builtin(n->cpu, id);
}

/** dbk_native_string() - the address of a literal */
static __probe_ctx_inline uint64_t dbk_native_string(const struct dbk_difo *difo, uint32_t offset)
{
	return (uint64_t)(uintptr_t)(difo->strings + offset);
}

/** dbk_native_object() - @x for instructions of @difo that are not hot; what they may read before it was stored is 0 */
static __probe_ctx_inline void dbk_native_object(struct dbk_exec *x, struct dbk_cpu *cpu,
						 const struct dbk_difo *difo)
{
	dbk_exec_begin(x, cpu, difo);
}

/** dbk_native_rest() - instruction @pc by the interpreter's function; it may fault */
static __probe_ctx_inline void dbk_native_rest(struct dbk_exec *x, uint32_t pc)
{
	dbk_dif_exec_rest(x, &x->difo->insns[pc], pc + 1);
}

static __probe_ctx_inline uint64_t dbk_native_global(const struct dbk_native *n, uint32_t offset)
{
	return dbk_load_relaxed((uint64_t *)(n->ecb->consumer->globals + offset));
}

static __probe_ctx_inline void dbk_native_set_global(const struct dbk_native *n, uint32_t offset,
						     uint64_t value)
{
	dbk_store_relaxed((uint64_t *)(n->ecb->consumer->globals + offset), value);
}

/** dbk_native_local() - where a clause-local variable by value is */
static __probe_ctx_inline uint64_t *dbk_native_local(const struct dbk_native *n, uint32_t offset)
{
	return (uint64_t *)(n->buffer->locals + offset);
}

/** dbk_native_thread() - a thread-local scalar by value, where it is not charged */
static __probe_ctx_inline uint64_t dbk_native_thread(const struct dbk_native *n, uint32_t var)
{
	return dbk_thread_load(n->cpu, n->ecb->consumer, var);
}

/** dbk_native_thread_paid() - any thread-local scalar for @work; it may fault */
static __probe_ctx_inline uint64_t dbk_native_thread_paid(const struct dbk_native *n, uint32_t var,
							  uint32_t work)
{
	return dbk_spend(n->cpu, work) ? dbk_native_thread(n, var) : 0;
}

/* ---- clauses ------------------------------------------------------------------------------- */

/** dbk_native_is_quick() - whether a clause that reads the first @args arguments can do without calls: those of
 * its two forms that is quick has none, and so saves no registers */
static __probe_ctx_inline bool dbk_native_is_quick(const struct dbk_ecb *ecb, uint32_t args)
{
	return likely(dbk_host_ticks_are_quick() && ecb->probe->arg_count >= args);
}

/** dbk_native_enter() - begins a firing of one clause; false: it is within another, or the gate is closed */
static __probe_ctx_inline bool dbk_native_enter(struct dbk_cpu *cpu, const struct dbk_buffer *buffer)
{
	if (unlikely(cpu->nesting != 0 || !(dbk_load_relaxed(&buffer->gate) & DBK_GATE_ORDINARY)))
		return false;
	cpu->nesting = 1;
	compiler_barrier();
	cpu->serial++;
	return true;
}

/** dbk_native_leave() - ends it; if it was not @done, the engine does it all */
static __probe_ctx_inline bool dbk_native_leave(struct dbk_cpu *cpu, const struct dbk_buffer *buffer, bool done)
{
	if (likely(done))
		dbk_count(&buffer->counters->firings, 1);
	compiler_barrier();
	cpu->nesting = 0;
	return likely(done);
}

/** dbk_native_fire() - the engine's own way of firing the probe; what it takes is not kept until then */
static __probe_ctx_inline void dbk_native_fire(const struct dbk_ecb *ecb, const uint64_t *args,
					       void *frame)
{
	dbk_fire(ecb->probe, args, frame);
}

/** dbk_native_begin() - names the firing for what looks for it in the dbk_cpu */
static __probe_ctx_inline void dbk_native_begin(const struct dbk_native *n)
{
	n->cpu->ecb = n->ecb;
	n->cpu->consumer = n->ecb->consumer;
	n->cpu->buffer = n->buffer;
}

/** dbk_native_affords() - whether the firing may still cost @most, which a clause that is not
 * simple may be; then its locals are there, if it has @locals.  What the deadman times is the
 * interpreter's */
static __probe_ctx_inline bool dbk_native_affords(const struct dbk_native *n, uint32_t most,
						  bool locals)
{
	if (unlikely(n->cpu->unsampled == 0))
		return false;
	dbk_work_begin(n->cpu, n->ecb->consumer);
	if (locals && n->buffer->locals_serial != n->cpu->serial) {
		uint32_t work = n->ecb->consumer->program->locals_work;

		if (unlikely(n->cpu->work_left < work || n->cpu->work_left - work < most))
			return false;
		n->cpu->work_left -= work;
		dbk_native_begin(n);
		dbk_locals_clear(n->cpu);
		return true;
	}
	return likely(n->cpu->work_left >= most);
}

/** dbk_native_record() - where the clause's record is built; NULL: there is no room for it.  @pays:
 * it is general without translation, where the clock is not read before there is room.  @variable:
 * its records have their length */
static __probe_ctx_inline uint8_t *dbk_native_record(const struct dbk_native *n, bool pays,
						     bool variable)
{
	if (pays && unlikely(n->buffer->used_bytes + n->ecb->record_bytes >
			     dbk_load_relaxed(&n->buffer->room_bytes)))
		return NULL;
	return dbk_begin_simple(n->cpu, n->buffer, n->ecb,
				n->quick ? dbk_host_quick_ticks() : dbk_host_ticks(), variable,
				n->quick);
}

/** dbk_native_commit() - publishes the record of @bytes */
static __probe_ctx_inline void dbk_native_commit(const struct dbk_native *n, uint32_t bytes,
						 bool variable)
{
	dbk_commit_simple(n->buffer, n->ecb, bytes, variable);
}

/** dbk_native_withdraw() - there will be no such record */
static __probe_ctx_inline void dbk_native_withdraw(const struct dbk_native *n,
						   const uint8_t *record)
{
	dbk_withdraw_simple(n->cpu, record);
}

/** dbk_native_pay() - for what was done of the clause, @most at most, as dbk_native_affords() was
 * asked for */
static __probe_ctx_inline void dbk_native_pay(const struct dbk_native *n, uint32_t most)
{
	dbk_probe_assert(n->work <= most);
	n->cpu->work_left -= n->work;
	n->cpu->unsampled--;
}

/** dbk_native_word() - an integer, and zeros in what is left of the 8 bytes that it begins */
static __probe_ctx_inline void dbk_native_word(uint8_t *to, uint64_t value, uint64_t mask)
{
	*(uint64_t *)to = value & mask;
}

/** dbk_native_integer() - one that does not begin a word */
static __probe_ctx_inline void dbk_native_integer(uint8_t *to, uint64_t value, uint32_t size)
{
	dbk_store_integer(to, value, size);
}

/** dbk_native_tail() - of a text of @length at @base + @used says at @offset where it is; returns
 * the end of the tail.  @mask: see dbk_step.word_mask */
static __probe_ctx_inline uint32_t dbk_native_tail(uint8_t *base, uint32_t used, uint32_t offset,
						   uint64_t mask, uint32_t length)
{
	uint32_t ref = used | length << 16; /* struct dbk_tail_ref */

	if (mask != 0)
		dbk_native_word(base + offset, ref, mask);
	else
		dbk_store_integer(base + offset, ref, 4);
	return used + ((length + 7) & ~7u);
}

/** dbk_native_execname() - the process's name, to @base + @used; returns its length */
static __probe_ctx_inline uint32_t dbk_native_execname(uint8_t *base, uint32_t used)
{
	return dbk_copy_execname((uint64_t *)(base + used));
}

/** dbk_native_name() - the same of the probe's name @id, at most @most characters; both constants */
static __probe_ctx_inline uint32_t dbk_native_name(const struct dbk_native *n, uint32_t id,
						   uint32_t most, uint8_t *base, uint32_t used)
{
	const struct dbk_step step = {.bytes = most + 1,
				      .expr = {.kind = DBK_EXPR_NAME, .operand = id}};

	return (uint32_t)dbk_text_of(n->ecb, &step, (uint64_t *)(base + used), n->args, n->frame);
}

/** dbk_native_store() - a thread-local scalar; false: no room, which ends the clause */
static __probe_ctx_inline bool dbk_native_store(const struct dbk_native *n, uint32_t var,
						uint64_t value)
{
	return dbk_thread_store(n->cpu, n->ecb->consumer, var, value);
}

/** dbk_native_aggregate() - counts with the key that was built */
static __probe_ctx_inline void dbk_native_aggregate(const struct dbk_native *n, uint32_t index,
						    uint32_t key_bytes, uint64_t value,
						    uint64_t increment)
{
	dbk_aggregate(n->cpu, &n->ecb->plan->aggregations[index], n->buffer->key, key_bytes,
		      (int64_t)value, (int64_t)increment);
}

#endif /* DBK_ENGINE_NATIVE_H */
