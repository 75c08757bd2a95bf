/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* thread.c - stores of thread-local scalars; see thread.h */
#include "engine/memory/buffer.h"
#include "engine/memory/dynvar.h"
#include "engine/memory/dynvar_chunks.h"
#include "engine/memory/thread.h"

/* What the table of chains looks for in the dbk_cpu, when no ECB was entered. */
__probe_ctx static void name_consumer(struct dbk_cpu *cpu, struct dbk_consumer *consumer)
{
	cpu->consumer = consumer;
	cpu->buffer = &consumer->buffers[cpu->index];
}

__probe_ctx __attribute__((__noinline__)) uint64_t
dbk_thread_load_rest(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint32_t var)
{
	struct dbk_dynvar_key key __dbk_unset;

	name_consumer(cpu, consumer);
	dbk_dynvar_key(cpu, var, true, 0, &key);
	return dbk_bucket_load(cpu, &key, NULL);
}

/* A seat of the line that was free and is this thread's now, or NULL. */
__probe_ctx static struct dbk_thread_seat *claim(struct dbk_thread_line *line, uint64_t thread)
{
	uint32_t i;

	for (i = 0; i < DBK_THREAD_SEATS; i++) {
		uint64_t free = 0;

		if (dbk_load_relaxed(&line->seats[i].thread) == 0 &&
		    dbk_compare_swap(&line->seats[i].thread, &free, thread))
			return &line->seats[i];
	}
	return NULL;
}

/* In the table of chains: the line has variables there, or no seat for this one.  What it counts is
 * looked at by this thread alone, as far as this variable goes. */
__probe_ctx __attribute__((__noinline__)) static bool
store_elsewhere(struct dbk_cpu *cpu, struct dbk_consumer *consumer, struct dbk_thread_line *line,
		uint32_t var, uint64_t value)
{
	struct dbk_dynvar_key key __dbk_unset;
	int32_t change = 0;
	bool stored;

	name_consumer(cpu, consumer);
	dbk_dynvar_key(cpu, var, true, 0, &key);
	stored = dbk_bucket_store(cpu, &key, value, &change);
	if (change != 0)
		dbk_fetch_add(&line->elsewhere, (uint32_t)change);
	return stored;
}

__probe_ctx_inline static void release(struct dbk_dynvars *dynvars, const struct dbk_cpu *cpu,
				       struct dbk_thread_seat *seat)
{
	uint32_t number = seat->chunk;

	/* Who finds it free stores into it after all that was stored before. */
	dbk_store_release(&seat->thread, 0);
	dbk_chunk_give(dynvars, cpu->index, number);
}

__probe_ctx_inline static void put(const struct dbk_dynvars *dynvars, struct dbk_thread_seat *seat,
				   const struct dbk_var *ref, uint64_t value)
{
	struct dbk_dynvar *chunk;

	if (ref == NULL) {
		seat->value = value;
		return;
	}
	chunk = dbk_chunk(dynvars, seat->chunk);
	dbk_dynvar_put(chunk, ref, value);
	seat->value = (uint64_t)(uintptr_t)chunk->data;
}

/* All cases; @ref: the variable, if it is by reference, else NULL. */
__probe_ctx __attribute__((__noinline__)) static bool store(struct dbk_cpu *cpu,
							    struct dbk_consumer *consumer,
							    uint32_t var, const struct dbk_var *ref,
							    uint64_t value)
{
	struct dbk_dynvars *dynvars = &consumer->dynvars;
	uint64_t thread = dbk_host_thread_key();
	struct dbk_thread_line *line = dbk_thread_line(dynvars, thread, var);
	struct dbk_thread_seat *seat = dbk_thread_seat(line, thread, var);
	uint32_t number;

	if (seat != NULL) {
		if (value != 0)
			put(dynvars, seat, ref, value);
		else
			release(dynvars, cpu, seat);
		return true;
	}
	if (dbk_load_relaxed(&line->elsewhere) != 0)
		return store_elsewhere(cpu, consumer, line, var, value);
	if (value == 0)
		return true;
	number = dbk_chunk_take(dynvars, cpu->index);
	if (number == DBK_CHUNK_NONE) {
		dbk_drop(&consumer->buffers[cpu->index], DBK_DROP_DYNAMIC);
		return false;
	}
	seat = claim(line, thread);
	if (seat == NULL) {
		dbk_chunk_give(dynvars, cpu->index, number);
		return store_elsewhere(cpu, consumer, line, var, value);
	}
	seat->var = var;
	seat->chunk = number;
	put(dynvars, seat, ref, value);
	return true;
}

/* The usual cases, so that they need no stack frame: the variable has a seat, or the first one of its
 * line is free and this CPU has a chunk. */
__probe_ctx bool dbk_thread_store(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint32_t var,
				  uint64_t value)
{
	struct dbk_dynvars *dynvars = &consumer->dynvars;
	uint64_t thread = dbk_host_thread_key(), free = 0;
	struct dbk_thread_line *line = dbk_thread_line(dynvars, thread, var);
	struct dbk_thread_seat *seat = &line->seats[0];
	uint32_t number;

	dbk_probe_assert(cpu->nesting == 1);
	if (dbk_load_relaxed(&seat->thread) == thread && seat->var == var) {
		if (value != 0)
			seat->value = value;
		else
			release(dynvars, cpu, seat);
		return true;
	}
	if (unlikely(dbk_load_relaxed(&seat->thread) != 0 || value == 0 ||
		     dbk_load_relaxed(&line->seats[1].thread) == thread ||
		     dbk_load_relaxed(&line->elsewhere) != 0))
		return store(cpu, consumer, var, NULL, value);
	number = dbk_chunk_take_own(dynvars, cpu->index);
	if (unlikely(number == DBK_CHUNK_NONE))
		return store(cpu, consumer, var, NULL, value);
	if (unlikely(!dbk_compare_swap(&seat->thread, &free, thread))) {
		dbk_chunk_give(dynvars, cpu->index, number);
		return store(cpu, consumer, var, NULL, value);
	}
	seat->var = var;
	seat->chunk = number;
	seat->value = value;
	return true;
}

__probe_ctx bool dbk_thread_store_ref(struct dbk_cpu *cpu, uint32_t var, uint64_t value)
{
	const struct dbk_var *what = &cpu->consumer->program->vars[var];

	return store(cpu, cpu->consumer, var, what->by_ref ? what : NULL, value);
}
