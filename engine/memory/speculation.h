/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * speculation.h - speculations: their states, their buffers, the cleaner
 *
 * A speculation is a number from 1 to nspec with one state word, and on each CPU
 * a buffer of its own that only that CPU touches.  The state says which of the
 * buffers count:
 *
 *   INACTIVE ─speculation()─► ACTIVE ─speculate()─► ACTIVE_ONE ─another CPU's─► ACTIVE_MANY
 *      ▲                        │                       │                           │
 *      │                        ├──────commit()─────────┤ on the CPU that           │ commit()
 *      ├─────── COMMITTING ◄────┘                       │ speculates                ▼
 *      │                                                └─ on another ──► COMMITTING_MANY
 *      ├◄──── cleaned: every CPU did its share ────────────────────────────────────┤
 *      └◄──── cleaned: every CPU threw its share away ── DISCARDING ◄─ discard() ──┘
 *
 * A CPU speculates in ACTIVE_ONE if its buffer is not empty.  Only one CPU can be
 * in COMMITTING; all others leave that state alone.  What may follow what is in
 * the tables of speculation.c; every change is one compare-and-swap.
 *
 * The cleaner, on the host's control path, runs once on every CPU with interrupts
 * off: what a clause that was under way there still stored is after it then.
 *
 * In a buffer lie entries: u64 ticks, then the record as it will lie in a
 * segment, its length in the place of its time delta.  Whether a record is of the same
 * firing as the one before it is said of the buffer, whose records stay together.  specsize limits
 * the records; the times lie in half as much room beside it.
 */
#ifndef DBK_ENGINE_SPECULATION_H
#define DBK_ENGINE_SPECULATION_H

#include "engine/memory/buffer.h"

enum dbk_speculation_state {
	DBK_SPECULATION_INACTIVE,
	DBK_SPECULATION_ACTIVE,
	DBK_SPECULATION_ACTIVE_ONE,
	DBK_SPECULATION_ACTIVE_MANY,
	DBK_SPECULATION_COMMITTING,
	DBK_SPECULATION_COMMITTING_MANY,
	DBK_SPECULATION_DISCARDING,
	DBK_SPECULATION_STATES, /* how many there are; as a next state: nothing happens */
};

struct dbk_speculation {
	uint32_t state; /* [A] enum dbk_speculation_state */
	bool cleaning;	/* [L] the cleaner is at it */
};

/* A speculation's buffer on one CPU. */
struct dbk_specbuf {
	uint8_t *memory;	/* [C] */
	uint32_t used_bytes;	/* [P] of entries */
	uint32_t record_bytes;	/* [P] of the records in them */
	uint32_t classic_bytes; /* [P] of them in DTrace's layout */
	uint32_t record_count;	/* [P] */
	uint32_t drop_count;	/* [P] records that found no room: reported when it is committed */
	uint32_t serial;	/* [P] of the firing of the last record in it */
};

#define DBK_SPEC_ENTRY_BYTES 8u /* the ticks before a record */

/* A specsize up to this is counted in DTrace's bytes, as small buffers are; see memory/account.h.
 */
#define DBK_SPEC_COUNTED_BYTES_MAX 16384u

/* Before the records of a commit in a segment: who they are, and a time base. */
#define DBK_COMMIT_PART_BYTES                                                                      \
	((uint32_t)(sizeof(struct dbk_control_commit) + sizeof(struct dbk_control_time_base)))

/* ---- probe context ------------------------------------------------------------------ */

/** dbk_speculation() - speculation(): the first inactive one, now active, or 0 with a SPECBUSY or
 * SPECUNAVAIL drop */
uint64_t dbk_speculation(struct dbk_cpu *cpu);

/** dbk_speculate() - speculate(): this CPU's buffer of @id, or NULL when @id cannot be stored into
 * now.  That is not a fault, whatever @id is */
struct dbk_specbuf *dbk_speculate(struct dbk_cpu *cpu, uint32_t id);

/** dbk_speculation_commit() - commit(): this CPU's share goes to the ring at once, others' when
 * cleaned.  An @id that cannot be is an ILLOP fault; 0 and one that is not active are none */
void dbk_speculation_commit(struct dbk_cpu *cpu, uint32_t id);

/** dbk_speculation_discard() - discard(): the same for throwing away */
void dbk_speculation_discard(struct dbk_cpu *cpu, uint32_t id);

/** dbk_specbuf_room() - bytes that the next record may have, multiple of 8; 0: it does not fit,
 * whatever it has */
uint32_t dbk_specbuf_room(const struct dbk_ecb *ecb, const struct dbk_buffer *buffer,
			  const struct dbk_specbuf *specbuf);

/** dbk_specbuf_record() - where the next record is built */
static __probe_ctx_inline uint8_t *dbk_specbuf_record(const struct dbk_specbuf *specbuf)
{
	return specbuf->memory + specbuf->used_bytes + DBK_SPEC_ENTRY_BYTES;
}

/** dbk_speculated_ticks() - the time of all records that speculations hold of the firing of @cpu */
static __probe_ctx_inline uint64_t dbk_speculated_ticks(const struct dbk_cpu *cpu)
{
	bool has_one = cpu->speculated_serial == cpu->serial &&
		       cpu->speculated_consumer == cpu->consumer;

	return has_one ? cpu->speculated_ticks : dbk_host_ticks();
}

/** dbk_specbuf_append() - the record of @bytes that the firing of @cpu built there is in */
void dbk_specbuf_append(struct dbk_cpu *cpu, struct dbk_specbuf *specbuf, uint32_t bytes,
			uint64_t ticks);

/** dbk_specbuf_empty() - forgets records and drops */
void dbk_specbuf_empty(struct dbk_specbuf *specbuf);

/**
 * dbk_specbuf_move() - appends the records of @specbuf to the ring, all or none
 * @end: whether segments that are kept for END may be used
 *
 * Each segment that gets some has a COMMIT control record before them.  They are
 * whole in it before committed_bytes says so, segment by segment.  When there is no
 * room for all, every one is a drop.
 */
void dbk_specbuf_move(const struct dbk_consumer *consumer, struct dbk_buffer *buffer,
		      const struct dbk_specbuf *specbuf, uint32_t id, bool end);

/* ---- control path -------------------------------------------------------------------- */

/** dbk_speculations_init() - states and buffers, as the options say; -ENOMEM, -ENOSPC, -EINVAL,
 * with a reason.  Nothing is allocated for a program that does not speculate */
int dbk_speculations_init(struct dbk_consumer *consumer, struct dbk_reason *reason);
void dbk_speculations_deinit(struct dbk_consumer *consumer);

/** dbk_specbufs_fill() - a CPU's buffers that are not there yet; -ENOMEM.  Without speculations, or
 * before their size is known, none.  [H] */
int dbk_specbufs_fill(struct dbk_consumer *consumer, struct dbk_buffer *buffer);

#endif /* DBK_ENGINE_SPECULATION_H */
