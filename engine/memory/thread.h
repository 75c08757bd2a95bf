/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * thread.h - thread-local scalars, self->x: found without a key and without a chain
 *
 * A hash of thread and variable names a line of the cache with two seats.  What is
 * in a seat says whose it is, so a load is a look at one line:
 *
 *   line: thread | value | var, chunk      thread | value | var, chunk      elsewhere
 *
 * A variable with a seat still takes a chunk of dynvarsize (dynvar.h), so that as
 * many are kept as before and the same stores are drops; a value by reference lies
 * in that chunk.  When both seats are taken by others the variable is kept in the
 * table of chains, and `elsewhere` of the line counts such variables: only while
 * it is not 0 does a load that finds nothing here look there.
 *
 * Why no lock and no version is needed.  What identifies a thread (and the level of
 * interrupt on top of it, dbk_host_thread_key()) runs on one CPU at a time, and a
 * firing there ends before the next one begins.  So only one context at a time loads
 * or stores a given variable, and the kernel's switch of threads orders what it did on one
 * CPU before what it does on the next.  Other CPUs use the other seat, or find this
 * one's `thread` to be another and touch nothing; they compete only for a free seat,
 * by compare-and-swap on `thread`.  The fields beside it belong to who has it.
 *
 * The decision: docs/design/0065-thread-locals.md.  Nothing here but dbk_thread_store()
 * needs interrupts off: dbk_thread_peek() may be asked by a predicate before the
 * firing begins.
 */
#ifndef DBK_ENGINE_THREAD_H
#define DBK_ENGINE_THREAD_H

#include "engine/types/internal.h"

/** dbk_thread_line() - where the seats of a thread's variable are.  The upper bits of a product depend on
 * all bits of its factors */
static __probe_ctx_inline struct dbk_thread_line *dbk_thread_line(const struct dbk_dynvars *dynvars,
								  uint64_t thread, uint32_t var)
{
	uint64_t word = dynvars->secret.start ^ (uint64_t)var << 48 ^ thread;

	return &dynvars->lines[(word * dynvars->secret.factor) >> dynvars->line_shift];
}

/** dbk_thread_seat() - the seat that the variable has, or NULL */
static __probe_ctx_inline struct dbk_thread_seat *dbk_thread_seat(struct dbk_thread_line *line,
								  uint64_t thread, uint32_t var)
{
	struct dbk_thread_seat *seat = line->seats;

	if (dbk_load_relaxed(&seat[0].thread) == thread && seat[0].var == var)
		return &seat[0];
	if (dbk_load_relaxed(&seat[1].thread) == thread && seat[1].var == var)
		return &seat[1];
	return NULL;
}

/** dbk_thread_peek() - the variable's value; false: it may be in the table of chains */
static __probe_ctx_inline bool dbk_thread_peek(const struct dbk_dynvars *dynvars, uint32_t var,
					       uint64_t *value_ret)
{
	uint64_t thread = dbk_host_thread_key();
	struct dbk_thread_line *line = dbk_thread_line(dynvars, thread, var);
	const struct dbk_thread_seat *seat = dbk_thread_seat(line, thread, var);

	*value_ret = seat == NULL ? 0 : seat->value;
	return seat != NULL || likely(dbk_load_relaxed(&line->elsewhere) == 0);
}

/** dbk_thread_load_rest() - the same of one that dbk_thread_peek() did not find; DYNAMIC drop */
uint64_t dbk_thread_load_rest(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint32_t var);

/** dbk_thread_load() - value of a thread-local scalar, or the address of its data; 0 when there is
 * none.  Needs nothing of the firing but its CPU */
static __probe_ctx_inline uint64_t dbk_thread_load(struct dbk_cpu *cpu,
						   struct dbk_consumer *consumer, uint32_t var)
{
	uint64_t value;

	if (unlikely(!dbk_thread_peek(&consumer->dynvars, var, &value)))
		return dbk_thread_load_rest(cpu, consumer, var);
	return value;
}

/** dbk_thread_store() - stores @value, by value; 0 frees.  false: no room, a DYNAMIC drop, which
 * ends the clause.  Needs nothing of the firing but its CPU */
bool dbk_thread_store(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint32_t var,
		      uint64_t value);

/** dbk_thread_store_ref() - dbk_thread_store() in an ECB that was entered, of any type; what @value
 * refers to is in our memory.  Probe context */
bool dbk_thread_store_ref(struct dbk_cpu *cpu, uint32_t var, uint64_t value);

#endif /* DBK_ENGINE_THREAD_H */
