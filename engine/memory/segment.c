/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* segment.c - opening segments, committing records, counting drops; see buffer.h (docs/design/0001-first-way.md) */
#include "engine/memory/buffer.h"

#define REBASE_BYTES ((uint32_t)sizeof(struct dbk_control_time_base))

/* 1 us: several times what two readings of clocks take. */
#define PAIR_NEAR_NS 1000u
#define PAIR_TRIES   4u

__probe_ctx static struct dbk_segment_losses *losses_of(const struct dbk_buffer *buffer)
{
	return (struct dbk_segment_losses *)(buffer->segment + sizeof(struct dbk_segment_header));
}

__probe_ctx static uint32_t saturated(uint64_t count)
{
	return count > 0xffffffffu ? 0xffffffffu : (uint32_t)count;
}

/*
 * Atomic, because an NMI's nested firing may count in the middle of this.  A
 * segment's own counter stays at its maximum rather than begin anew.
 */
__probe_ctx void dbk_drops(struct dbk_buffer *buffer, uint32_t cause, uint32_t drops)
{
	uint8_t *segment = buffer->segment;
	uint32_t *count;

	dbk_probe_assert(cause < DBK_DROP_SLOTS);
	__atomic_fetch_add(&buffer->counters->drops[cause], drops, __ATOMIC_RELAXED);
	/* Before the first segment the counters hold it, and that segment starts from them.  One
	 * that was closed from outside may be sealed: only the counters hold it. */
	if (segment == NULL || dbk_load_relaxed(&buffer->room_bytes) == 0)
		return;
	count = &losses_of(buffer)->drops[cause];
	if (dbk_load_relaxed(count) < 0xffffffffu - drops)
		__atomic_fetch_add(count, drops, __ATOMIC_RELAXED);
	else
		dbk_store_relaxed(count, 0xffffffffu);
}

__probe_ctx void dbk_drop(struct dbk_buffer *buffer, uint32_t cause)
{
	dbk_drops(buffer, cause, 1);
}

__probe_ctx uint32_t dbk_segments_free(const struct dbk_consumer *consumer,
				       const struct dbk_buffer *buffer, bool end)
{
	uint64_t count = buffer->segment_count, taken = buffer->sequence, released;

	if (consumer->policy == DBK_POLICY_RING)
		return 0xffffffffu;
	if (consumer->policy == DBK_POLICY_SWITCH) {
		/* A reader's word: it may have released what was never written. */
		released = dbk_load_acquire(&buffer->released_sequence);
		taken = released < taken ? taken - released : 0;
	} else if (end) {
		count += buffer->segment_reserve;
	}
	return taken < count ? (uint32_t)(count - taken) : 0;
}

__probe_ctx static void write_losses(struct dbk_buffer *buffer, uint64_t sequence)
{
	struct dbk_segment_losses *losses = losses_of(buffer);
	uint32_t i;

	losses->records_before = buffer->counters->records;
	for (i = 0; i < DBK_DROP_SLOTS; i++)
		losses->drops[i] = sequence == 1 ? saturated(buffer->counters->drops[i]) : 0;
}

/*
 * The slot of the next segment: one that was never used, which goes into the ring
 * after the open one; else the oldest.  Slots are added while this runs.
 */
__probe_ctx static uint32_t take_slot(struct dbk_buffer *buffer)
{
	uint32_t slot = buffer->slot_linked;
	struct dbk_segment_slot *open;

	if (slot == dbk_load_acquire(&buffer->slot_count))
		return dbk_slot_at(buffer, buffer->slot)->next;
	open = dbk_slot_at(buffer, buffer->slot);
	dbk_store_relaxed(&dbk_slot_at(buffer, slot)->next, slot == 0 ? 0 : open->next);
	if (slot != 0)
		dbk_store_relaxed(&open->next, slot);
	buffer->slot_linked = slot + 1;
	return slot;
}

/* The oldest sequence number that is left when @header's segment, the oldest, goes. */
__probe_ctx static uint64_t oldest_without(const struct dbk_buffer *buffer,
					   const struct dbk_segment_header *header)
{
	if (header->sequence != 0)
		return header->sequence + 1;
	return buffer->sequence == 0 ? 1 : buffer->counters->oldest_sequence;
}

/* Magic, version and flags in one word: what the sealer may swap no later segment's is equal. */
__probe_ctx static uint64_t first_word(const struct dbk_consumer *consumer, uint64_t sequence)
{
	uint64_t flags = (sequence << DBK_SEGMENT_F_SEQUENCE_SHIFT) & 0xffff;

	if (consumer->clock == DBK_CLOCK_TSC)
		flags |= DBK_SEGMENT_F_TSC;
	return DBK_SEGMENT_MAGIC | (uint64_t)DBK_SEGMENT_VERSION << 32 | flags << 48;
}

/* A hypervisor may take the CPU away between two readings, for milliseconds, and what is recorded up to
 * the next pair would be as late. */
__probe_ctx struct dbk_clock_pair dbk_clock_pair_read(const struct dbk_engine *engine)
{
	uint64_t near = engine->ticks_per_second / (1000000000 / PAIR_NEAR_NS), least = 0;
	struct dbk_clock_pair pair;
	unsigned int tries;

	for (tries = 0; tries == 0 || (tries < PAIR_TRIES && least > near); tries++) {
		uint64_t before = dbk_host_ticks(), mono_ns = dbk_host_mono_ns();
		/* Two readings of one clock need not be near. */
		uint64_t took = engine->clock == DBK_CLOCK_TSC ? dbk_host_ticks() - before : 0;

		if (tries == 0 || took < least) {
			least = took;
			pair = (struct dbk_clock_pair){.ticks = before, .mono_ns = mono_ns};
		}
	}
	return pair;
}

__probe_ctx bool dbk_segment_open(const struct dbk_consumer *consumer, struct dbk_buffer *buffer,
				  bool end)
{
	uint64_t sequence = buffer->sequence + 1, word = first_word(consumer, sequence);
	struct dbk_segment_header *header;
	struct dbk_segment_slot *slot;
	struct dbk_clock_pair pair;
	uint32_t number;

	if (dbk_segments_free(consumer, buffer, end) == 0) {
		dbk_drop(buffer, dbk_full_cause(consumer));
		return false;
	}
	number = take_slot(buffer);
	dbk_probe_assert(number < buffer->slot_linked);
	slot = dbk_slot_at(buffer, number);
	header = (struct dbk_segment_header *)slot->segment;
	/* A reader that sees the old one gone sees also that it was overwritten. */
	dbk_store_relaxed(&buffer->counters->oldest_sequence, oldest_without(buffer, header));
	/* A reader that copies this one sees by the sequence that it is going. */
	dbk_store_release(&header->sequence, 0);
	dbk_store_relaxed((uint64_t *)header, word & ~(uint64_t)0xffffffff);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	header->segment_bytes = buffer->segment_bytes;
	header->committed_bytes = DBK_SEGMENT_DATA_OFFSET;
	pair = dbk_clock_pair_read(consumer->engine);
	header->base_ticks = pair.ticks;
	header->base_mono_ns = pair.mono_ns;
	header->phys_addr = slot->phys_addr;
	header->boot_id = consumer->engine->boot_id;
	header->cpu = buffer->cpu;
	header->ring_id = consumer->ring_id;
	header->crc32c = 0;
	dbk_store_release(&buffer->segment, (uint8_t *)header);
	buffer->used_bytes = DBK_SEGMENT_DATA_OFFSET;
	buffer->base_ticks = header->base_ticks;
	dbk_store_relaxed(&buffer->room_bytes,
			  buffer->segment_bytes - dbk_load_relaxed(&consumer->firing_bytes));
	buffer->counters->segments++;
	write_losses(buffer, sequence);
	/* From here on the segment before is closed: no CPU writes to it any more. */
	dbk_store_release(&buffer->slot, number);
	dbk_store_release(&buffer->sequence, sequence);
	dbk_store_release(&header->sequence, sequence);
	dbk_store_release((uint64_t *)header, word);
	return true;
}

/* When the next record in the ring was made.  What a speculation has of the same firing may be
 * discarded, so the record cannot refer to it: they have one time. */
__probe_ctx static uint64_t record_ticks(const struct dbk_cpu *cpu)
{
	return cpu->same_firing == DBK_FIRING_SPECULATES ? cpu->speculated_ticks : dbk_host_ticks();
}

__probe_ctx static void begin(const struct dbk_buffer *buffer, uint64_t ticks,
			      uint32_t rebase_bytes, struct dbk_draft *draft)
{
	draft->record = buffer->segment + buffer->used_bytes + rebase_bytes;
	draft->now_ticks = ticks;
	draft->rebase_bytes = rebase_bytes;
	draft->room = buffer->segment_bytes - buffer->used_bytes - rebase_bytes;
}

__probe_ctx void dbk_record_begin(const struct dbk_cpu *cpu, uint32_t bytes,
				  struct dbk_draft *draft)
{
	const struct dbk_buffer *buffer = cpu->buffer;

	if (cpu->same_firing == DBK_FIRING_SPECULATES && bytes + REBASE_BYTES <= dbk_room_kept(buffer))
		begin(buffer, cpu->speculated_ticks, REBASE_BYTES, draft);
	else
		begin(buffer, buffer->base_ticks, 0, draft);
}

/* Whether the open segment takes the next record, of @bytes, and what may follow it in its firing. */
__probe_ctx static bool has_room(const struct dbk_cpu *cpu, uint32_t bytes, bool end)
{
	const struct dbk_buffer *buffer = cpu->buffer;
	uint32_t kept = dbk_room_kept(buffer), firing;

	/* After ERROR's record any of the clauses that follow the one that faulted may have one. */
	firing = cpu->ecb->gate == DBK_GATE_ERROR
			 ? dbk_load_relaxed(&cpu->consumer->firing_bytes)
			 : dbk_load_relaxed(&cpu->ecb->firing_bytes);
	if (bytes > kept)
		return false;
	return bytes <= dbk_room_left(buffer) ||
	       (cpu->same_firing & DBK_RECORD_F_SAME_FIRING) != 0 ||
	       firing <= kept ||
	       dbk_segments_free(cpu->consumer, buffer, end) == 0;
}

__probe_ctx bool dbk_record_reserve_slow(struct dbk_cpu *cpu, uint32_t bytes,
					 struct dbk_draft *draft)
{
	struct dbk_buffer *buffer = cpu->buffer;
	uint64_t now = record_ticks(cpu);
	bool end = cpu->ecb->gate == DBK_GATE_END;
	bool goes_back = now < buffer->base_ticks && cpu->same_firing != DBK_FIRING_SPECULATES;
	uint32_t rebase = ((now - buffer->base_ticks) >> 32) != 0 ? REBASE_BYTES : 0;

	if (bytes > buffer->segment_bytes - DBK_SEGMENT_DATA_OFFSET) {
		dbk_drop(buffer, DBK_DROP_TOOBIG);
		return false;
	}
	/* A segment's ticks do not fall but within a firing, so that its pair of clocks holds for all
	 * of it: a TSC may restart when the machine slept. */
	if (buffer->segment == NULL || !has_room(cpu, bytes + rebase, end) || goes_back) {
		if (!dbk_segment_open(cpu->consumer, buffer, end))
			return false;
		dbk_record_begin(cpu, bytes, draft);
	} else {
		begin(buffer, now, rebase, draft);
	}
	return true;
}

__probe_ctx void dbk_record_rebase(struct dbk_buffer *buffer, const struct dbk_draft *draft)
{
	struct dbk_control_time_base *control =
		(struct dbk_control_time_base *)(buffer->segment + buffer->used_bytes);

	control->header.epid = 0;
	control->header.kind = DBK_CONTROL_TIME_BASE;
	control->header.bytes = (uint16_t)REBASE_BYTES;
	control->base_ticks = draft->now_ticks;
	buffer->base_ticks = draft->now_ticks;
	buffer->used_bytes += REBASE_BYTES;
}
