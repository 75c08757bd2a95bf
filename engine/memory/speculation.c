/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* speculation.c - what speculation(), speculate(), commit() and discard() do; see speculation.h
 * (docs/design/0007-speculations.md) */
#include "engine/memory/speculation.h"
#include "engine/types/work.h"

#define INACTIVE	DBK_SPECULATION_INACTIVE
#define ACTIVE		DBK_SPECULATION_ACTIVE
#define ACTIVE_ONE	DBK_SPECULATION_ACTIVE_ONE
#define ACTIVE_MANY	DBK_SPECULATION_ACTIVE_MANY
#define COMMITTING	DBK_SPECULATION_COMMITTING
#define COMMITTING_MANY DBK_SPECULATION_COMMITTING_MANY
#define DISCARDING	DBK_SPECULATION_DISCARDING
#define NOTHING		DBK_SPECULATION_STATES

/* By the state before: what it becomes, when this CPU's buffer is empty and when it is not. */
typedef const uint8_t transitions[DBK_SPECULATION_STATES][2];

static transitions on_speculate = {
	[INACTIVE] = {NOTHING, NOTHING},	  [ACTIVE] = {ACTIVE_ONE, ACTIVE_ONE},
	[ACTIVE_ONE] = {ACTIVE_MANY, ACTIVE_ONE}, [ACTIVE_MANY] = {ACTIVE_MANY, ACTIVE_MANY},
	[COMMITTING] = {NOTHING, NOTHING},	  [COMMITTING_MANY] = {NOTHING, NOTHING},
	[DISCARDING] = {NOTHING, NOTHING},
};

static transitions on_commit = {
	[INACTIVE] = {NOTHING, NOTHING},
	[ACTIVE] = {COMMITTING, COMMITTING},
	[ACTIVE_ONE] = {COMMITTING_MANY, COMMITTING},
	[ACTIVE_MANY] = {COMMITTING_MANY, COMMITTING_MANY},
	[COMMITTING] = {NOTHING, NOTHING},
	/* Another CPU committed: this one's share may go now, and need not wait for the cleaner. */
	[COMMITTING_MANY] = {NOTHING, COMMITTING_MANY},
	[DISCARDING] = {NOTHING, NOTHING},
};

static transitions on_discard = {
	[INACTIVE] = {NOTHING, NOTHING},
	/* No CPU stored anything, but another CPU may be about to. */
	[ACTIVE] = {DISCARDING, DISCARDING},
	[ACTIVE_ONE] = {DISCARDING, INACTIVE},
	[ACTIVE_MANY] = {DISCARDING, DISCARDING},
	[COMMITTING] = {NOTHING, NOTHING},
	[COMMITTING_MANY] = {NOTHING, NOTHING},
	[DISCARDING] = {NOTHING, NOTHING},
};

/* Takes the transition; what it led to, or NOTHING.  Each retry means that another CPU made one,
 * and no speculation has more than a few before it. */
__probe_ctx static uint32_t turn(struct dbk_speculation *speculation, transitions *table, bool mine)
{
	uint32_t state = dbk_load_acquire(&speculation->state), next;

	do {
		next = (*table)[state][mine];
	} while (next != NOTHING && next != state &&
		 !dbk_compare_swap(&speculation->state, &state, next));
	return next;
}

__probe_ctx static struct dbk_specbuf *specbuf_of(const struct dbk_buffer *buffer, uint32_t id)
{
	return &buffer->specbufs[id - 1];
}

/* Begins where this CPU expects a free one: after the last that it took, or where it freed one before that.
 * Each CPU's first is in a part of its own, so that with many of them none walks over those of the others. */
__probe_ctx uint64_t dbk_speculation(struct dbk_cpu *cpu)
{
	struct dbk_consumer *consumer = cpu->consumer;
	struct dbk_buffer *buffer = cpu->buffer;
	uint32_t count = consumer->speculation_count, i = buffer->speculation_next, left;
	uint32_t cause = DBK_DROP_SPECUNAVAIL;

	for (left = count; left != 0; left--) {
		uint32_t id, state;

		if (i >= count)
			i = 0;
		state = dbk_load_relaxed(&consumer->speculations[i].state);
		id = ++i;
		if (!dbk_spend(cpu, DBK_WORK_HOT))
			return 0;
		/* Looked at first: a compare-and-swap that fails still takes the line from the other CPUs. */
		if (state == INACTIVE && dbk_compare_swap(&consumer->speculations[id - 1].state,
							  &state, (uint32_t)ACTIVE)) {
			buffer->speculation_next = id;
			return id;
		}
		if (state >= COMMITTING)
			cause = DBK_DROP_SPECBUSY;
	}
	dbk_drop(buffer, cause);
	return 0;
}

/* It is this CPU's to give back: the next one that is asked for. */
__probe_ctx static void freed(struct dbk_buffer *buffer, uint32_t id)
{
	if (id <= buffer->speculation_next)
		buffer->speculation_next = id - 1;
}

__probe_ctx struct dbk_specbuf *dbk_speculate(struct dbk_cpu *cpu, uint32_t id)
{
	struct dbk_consumer *consumer = cpu->consumer;
	struct dbk_specbuf *specbuf;

	if (id == 0 || id > consumer->speculation_count)
		return NULL;
	specbuf = specbuf_of(cpu->buffer, id);
	if (turn(&consumer->speculations[id - 1], &on_speculate, specbuf->used_bytes != 0) ==
	    NOTHING)
		return NULL;
	return specbuf;
}

/* This CPU's share, once the state says that it is to be committed. */
__probe_ctx static void commit_share(const struct dbk_consumer *consumer, struct dbk_buffer *buffer,
				     uint32_t id, bool end)
{
	struct dbk_specbuf *specbuf = specbuf_of(buffer, id);

	dbk_specbuf_move(consumer, buffer, specbuf, id, end);
	if (unlikely(specbuf->drop_count != 0))
		dbk_drops(buffer, DBK_DROP_SPEC, specbuf->drop_count);
	dbk_specbuf_empty(specbuf);
}

/* Whether @id names a speculation; 0 is silently none. */
__probe_ctx static bool names_one(struct dbk_cpu *cpu, uint32_t id)
{
	if (id > cpu->consumer->speculation_count)
		dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	return id != 0 && id <= cpu->consumer->speculation_count;
}

__probe_ctx void dbk_speculation_commit(struct dbk_cpu *cpu, uint32_t id)
{
	struct dbk_speculation *speculation;
	const struct dbk_specbuf *specbuf;
	uint32_t next;
	bool mine;

	if (!names_one(cpu, id))
		return;
	speculation = &cpu->consumer->speculations[id - 1];
	specbuf = specbuf_of(cpu->buffer, id);
	mine = specbuf->used_bytes != 0;
	/* More than a firing may move is left to the cleaner, as if it were another CPU's. */
	if (!dbk_affords(cpu,
			 specbuf->used_bytes + (uint64_t)specbuf->record_count * DBK_WORK_CALL)) {
		turn(speculation, &on_commit, false);
		return;
	}
	next = turn(speculation, &on_commit, mine);
	if (next == NOTHING)
		return;
	commit_share(cpu->consumer, cpu->buffer, id, cpu->ecb->gate == DBK_GATE_END);
	if (next != COMMITTING)
		return;
	dbk_store_release(&speculation->state, (uint32_t)INACTIVE);
	freed(cpu->buffer, id);
}

__probe_ctx void dbk_speculation_discard(struct dbk_cpu *cpu, uint32_t id)
{
	struct dbk_specbuf *specbuf;
	uint32_t next;

	if (!names_one(cpu, id))
		return;
	specbuf = specbuf_of(cpu->buffer, id);
	next = turn(&cpu->consumer->speculations[id - 1], &on_discard, specbuf->used_bytes != 0);
	if (next == NOTHING)
		return;
	dbk_specbuf_empty(specbuf);
	if (next == INACTIVE)
		freed(cpu->buffer, id);
}

/* ---- the cleaner ---------------------------------------------------------------------- */

/* One CPU's share of all that is being cleaned; on that CPU, interrupts off. */
__probe_ctx static void clean_cpu(void *argument, uint32_t index)
{
	struct dbk_consumer *consumer = argument;
	struct dbk_cpu *cpu = consumer->engine->cpus[index];
	struct dbk_buffer *buffer = &consumer->buffers[index];
	uint32_t i;

	if (buffer->specbufs == NULL)
		return;
	/* What an NMI fires now would come between: a nested drop. */
	cpu->nesting = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < consumer->speculation_count; i++) {
		struct dbk_speculation *speculation = &consumer->speculations[i];

		if (!speculation->cleaning)
			continue;
		if (dbk_load_acquire(&speculation->state) == COMMITTING_MANY)
			commit_share(consumer, buffer, i + 1,
				     dbk_load_relaxed(&consumer->activity) == DBK_ACTIVITY_STOPPED);
		else
			dbk_specbuf_empty(&buffer->specbufs[i]);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	cpu->nesting = 0;
}

bool dbk_consumer_clean(struct dbk_consumer *consumer)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < consumer->speculation_count; i++) {
		struct dbk_speculation *speculation = &consumer->speculations[i];
		uint32_t state = dbk_load_acquire(&speculation->state);

		/* Only the cleaner leaves these two. */
		speculation->cleaning = state == COMMITTING_MANY || state == DISCARDING;
		any = any || speculation->cleaning;
	}
	if (!any)
		return false;
	dbk_host_each_cpu(clean_cpu, consumer);
	for (i = 0; i < consumer->speculation_count; i++) {
		if (!consumer->speculations[i].cleaning)
			continue;
		consumer->speculations[i].cleaning = false;
		dbk_store_release(&consumer->speculations[i].state, (uint32_t)INACTIVE);
	}
	return true;
}
