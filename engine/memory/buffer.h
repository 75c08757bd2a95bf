/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * buffer.h - a consumer's memory on one CPU: segments and aggregation buffers
 *
 * One writer: the CPU, with interrupts off and nested firings turned away.  A
 * record is built after used_bytes and exists once dbk_record_commit() has stored
 * committed_bytes with release order; an ECB that faults before leaves no trace.
 *
 * Opening the next segment is what can lose data, and the policy says when:
 *   ring    always; the oldest segment goes, once all slots are used
 *   fill    while there are unused ones; then FILLED drops
 *   switch  when the reader has released the one that comes next; else PRINCIPAL drops
 *
 * The records of a firing lie in one segment: up to the consumer's firing_bytes before each
 * segment's end a firing begins only if all that its clauses may record has room.
 *
 * The control path tends a ring beside its writer, who never waits and takes no
 * notice: it seals closed segments (seal.c) and adds slots (grow.c).
 */
#ifndef DBK_ENGINE_BUFFER_H
#define DBK_ENGINE_BUFFER_H

#include "engine/types/internal.h"

/* Where a record is being built. */
struct dbk_draft {
	uint8_t *record;
	uint64_t now_ticks;
	uint32_t rebase_bytes; /* of the TIME_BASE that precedes it, 0: none */
	uint32_t room;	       /* from `record` to the segment's end */
};

/** dbk_slot_at() - the slot with this index, below slot_count */
static __probe_ctx_inline struct dbk_segment_slot *dbk_slot_at(const struct dbk_buffer *buffer,
							       uint32_t index)
{
	return &buffer->slots[index / DBK_SLOTS_PER_BLOCK][index % DBK_SLOTS_PER_BLOCK];
}

/** dbk_room_left() - bytes that the open segment can still take; 0: another context closed it */
static __probe_ctx_inline uint32_t dbk_room_left(const struct dbk_buffer *buffer)
{
	uint32_t room = dbk_load_relaxed(&buffer->room_bytes);

	return room > buffer->used_bytes ? room - buffer->used_bytes : 0;
}

/** dbk_room_kept() - the same, with the end in which not each firing may begin */
static __probe_ctx_inline uint32_t dbk_room_kept(const struct dbk_buffer *buffer)
{
	return dbk_load_relaxed(&buffer->room_bytes) == 0
		       ? 0
		       : buffer->segment_bytes - buffer->used_bytes;
}

/** dbk_drop() - counts a drop of a consumer on this CPU.  Probe context */
void dbk_drop(struct dbk_buffer *buffer, uint32_t cause);

/** dbk_drops() - counts several */
void dbk_drops(struct dbk_buffer *buffer, uint32_t cause, uint32_t drops);

/* Two clocks read together: by such pairs a reader knows when a record was made. */
struct dbk_clock_pair {
	uint64_t ticks, mono_ns;
};

/** dbk_clock_pair_read() - reads the clocks of @engine as near together as may be.  Probe context */
struct dbk_clock_pair dbk_clock_pair_read(const struct dbk_engine *engine);

/** dbk_segment_open() - makes the next segment the open one; false: a drop, counted.  @end: those
 * kept for END may be used.  Probe context */
bool dbk_segment_open(const struct dbk_consumer *consumer, struct dbk_buffer *buffer, bool end);

/** dbk_segments_free() - how many dbk_segment_open() would make in a row.  Probe context */
uint32_t dbk_segments_free(const struct dbk_consumer *consumer, const struct dbk_buffer *buffer,
			   bool end);

/** dbk_full_cause() - what a record is that finds none */
static __probe_ctx_inline uint32_t dbk_full_cause(const struct dbk_consumer *consumer)
{
	return consumer->policy == DBK_POLICY_FILL ? DBK_DROP_FILLED : DBK_DROP_PRINCIPAL;
}

/** dbk_record_reserve_slow() - when there is no room, or no segment yet; false: a drop, counted */
bool dbk_record_reserve_slow(struct dbk_cpu *cpu, uint32_t bytes, struct dbk_draft *draft);

/** dbk_record_begin() - begins a draft of @bytes in the segment that was just opened */
void dbk_record_begin(const struct dbk_cpu *cpu, uint32_t bytes, struct dbk_draft *draft);

/** dbk_record_rebase() - commits the TIME_BASE before a record whose delta does not fit 32 bits */
void dbk_record_rebase(struct dbk_buffer *buffer, const struct dbk_draft *draft);

/**
 * dbk_record_reserve() - claims room for one record of @cpu's clause
 * @bytes: header and fixed part, multiple of 8
 *
 * Moves nothing: the record exists only after dbk_record_commit().
 * Return: true; or false, with the drop counted.
 */
static __probe_ctx_inline bool dbk_record_reserve(struct dbk_cpu *cpu, uint32_t bytes,
						  struct dbk_draft *draft)
{
	const struct dbk_buffer *buffer = cpu->buffer;
	uint32_t used = buffer->used_bytes;
	uint64_t now = dbk_host_ticks();

	if (unlikely(used + bytes > dbk_load_relaxed(&buffer->room_bytes) ||
		     ((now - buffer->base_ticks) >> 32) != 0 ||
		     cpu->same_firing == DBK_FIRING_SPECULATES))
		return dbk_record_reserve_slow(cpu, bytes, draft);
	draft->record = buffer->segment + used;
	draft->now_ticks = now;
	draft->rebase_bytes = 0;
	draft->room = buffer->segment_bytes - used;
	return true;
}

/** dbk_record_commit() - publishes the record of @bytes that @cpu's clause built in @draft */
static __probe_ctx_inline void dbk_record_commit(struct dbk_cpu *cpu, const struct dbk_draft *draft,
						 uint32_t bytes)
{
	struct dbk_buffer *buffer = cpu->buffer;
	struct dbk_record_header *header = (struct dbk_record_header *)draft->record;
	uint32_t used;

	dbk_probe_assert(bytes % 8 == 0 && bytes <= draft->room);
	if (unlikely(draft->rebase_bytes != 0))
		dbk_record_rebase(buffer, draft);
	header->epid = cpu->ecb->epid | (cpu->same_firing & DBK_RECORD_F_SAME_FIRING);
	cpu->same_firing = DBK_RECORD_F_SAME_FIRING;
	header->delta_ticks = (uint32_t)(draft->now_ticks - buffer->base_ticks);
	used = buffer->used_bytes + bytes;
	buffer->used_bytes = used;
	dbk_store_release(&((struct dbk_segment_header *)buffer->segment)->committed_bytes, used);
	buffer->counters->records++;
	buffer->counters->bytes += bytes;
}

/* ---- control path ---------------------------------------------------------------------- */

/** dbk_buffer_fill() - the memory of a CPU that is not there yet: variables, segments, aggregation
 * buffers; -ENOMEM, with the option that asks for too much in consumer->lacking.  What was got
 * stays, and the next call goes on from there.  [H] */
int dbk_buffer_fill(struct dbk_consumer *consumer, struct dbk_buffer *buffer,
		    enum dbk_pages_from from);

/** dbk_buffers_deinit() - zeros are fine; the regions themselves are freed with the consumer */
void dbk_buffers_deinit(struct dbk_consumer *consumer);

/** dbk_slots_add() - [H] memory for @count more segments of a CPU, below slot_max; what there is of
 * it is published slot by slot.  False: there was not enough */
bool dbk_slots_add(struct dbk_consumer *consumer, struct dbk_buffer *buffer, uint32_t count,
		   enum dbk_pages_from from);

/** dbk_segments_seal() - seals the segments of a CPU that were closed before the last tending */
void dbk_segments_seal(struct dbk_buffer *buffer);

/** dbk_segment_advance() - moves @ref to the next younger segment, or to the oldest when the ring
 * came over it again, but not beyond number @last; false: it stays */
bool dbk_segment_advance(const struct dbk_buffer *buffer, uint64_t last,
			 struct dbk_segment_ref *ref);

/** dbk_segments_grow() - more slots while what is to be kept does not fit; see grow.c */
void dbk_segments_grow(struct dbk_consumer *consumer, struct dbk_buffer *buffer, uint64_t now_ns,
		       enum dbk_pages_from from);

/** dbk_memory_refused() - counts it, and lets some times of tending pass before the next try */
void dbk_memory_refused(struct dbk_buffer *buffer);

/** dbk_memory_paused() - whether this time of tending is one of those */
bool dbk_memory_paused(struct dbk_buffer *buffer);

/* ---- aggregation buffers ---------------------------------------------------------------- */

/** dbk_aggbuf_init() - two buffers of the ring's size for one CPU; -ENOMEM: it may be called again */
int dbk_aggbuf_init(struct dbk_consumer *consumer, struct dbk_buffer *buffer,
		    enum dbk_pages_from from);
void dbk_aggbuf_deinit(struct dbk_buffer *buffer);

/** dbk_aggregate() - counts @value with weight @increment under the key; no room is an AGGREGATION
 * drop.  Probe context */
void dbk_aggregate(struct dbk_cpu *cpu, const struct dbk_aggregation *aggregation,
		   const uint8_t *key, uint32_t key_bytes, int64_t value, int64_t increment);

/* ---- metadata ------------------------------------------------------------------------------ */

/** dbk_region_add() - [H] pages of @bytes that the consumer owns and lists, of @cpu or of DBK_CPU_NONE; NULL: no memory */
struct dbk_pages *dbk_region_add(struct dbk_consumer *consumer, uint32_t kind, uint32_t cpu,
				 uint32_t bytes, enum dbk_pages_from from);

/** dbk_regions_free() - all of them */
void dbk_regions_free(struct dbk_consumer *consumer);

/** dbk_meta_create() - the blocks that a ring has from the start: RING, DOF, CPUS */
int dbk_meta_create(struct dbk_consumer *consumer, enum dbk_pages_from from,
		    struct dbk_reason *reason);

/** dbk_meta_add_ecb() - publishes an ECB, and its probe if that is new to the ring */
int dbk_meta_add_ecb(struct dbk_consumer *consumer, const struct dbk_ecb *ecb, bool new_probe);

#endif /* DBK_ENGINE_BUFFER_H */
