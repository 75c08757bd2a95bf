/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * seal.c - checksums of segments, set beside their writer (docs/design/0013-sealing-beside-the-writer.md)
 *
 * A segment that its writer has left does not change until its slot is used
 * again; the writer does that whenever it likes and never waits.  So the sealer
 * computes the checksum, looks whether the segment is still the same one, and sets
 * SEALED by a compare-and-swap of the header's first word.  The writer clears that
 * word's magic first when it reopens the slot and sets it last, with the low bits of
 * the new sequence number beside it: a swap that comes too late fails.  The checksum's own
 * word may then hold what was computed for the old segment; without SEALED it says
 * nothing, and who seals the new one stores it anew.
 *
 *   sealer   sequence = s?   checksum   | sequence = s?   crc32c = c   swap: SEALED |
 *   writer              sequence = 0, word = {0, t}, ..., sequence = t, word = {magic, t}
 *
 * The 14 bits would only deceive if the writer opened a multiple of 16384 segments
 * between the bars, where interrupts are off; the sequence is looked at once more
 * after it, and SEALED taken back.
 *
 * The open segment is sealed when a machine dies or stumbles.  First it is closed:
 * with room_bytes 0 the writer's next record opens another segment.  A record that
 * was under way could still be committed to it, so a CPU that may be inside a
 * firing and go on keeps its segment unsealed: what is committed can be read.  A firing
 * that began just before the room went may be seen a moment later only, as its stores are
 * under way: it is looked for again when the checksum is there.
 */
#include "engine/api/crc32c.h"
#include "engine/memory/buffer.h"

/* Segments that one call computes checksums of; what it leaves out is the oldest. */
#define SEALS_PER_TENDING 8192u
#define SEALS_PER_PANIC	  1024u

#define SEALED_BIT ((uint64_t)DBK_SEGMENT_F_SEALED << 48)

__probe_ctx static uint32_t checksum_of(const struct dbk_segment_header *header, uint64_t first,
					uint32_t bytes)
{
	struct dbk_segment_header copy __dbk_unset = *header;
	uint32_t crc;

	*(uint64_t *)&copy = first;
	copy.committed_bytes = bytes;
	copy.crc32c = 0;
	crc = dbk_crc32c(0, &copy, sizeof(copy));
	return dbk_crc32c(crc, header + 1, bytes - sizeof(copy));
}

__probe_ctx static bool is_unchanged(const struct dbk_segment_header *header, uint64_t sequence,
				     uint32_t committed_bytes)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return dbk_load_acquire(&header->sequence) == sequence &&
	       dbk_load_relaxed(&header->committed_bytes) == committed_bytes;
}

__probe_ctx static bool is_firing(const struct dbk_cpu *cpu)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return dbk_load_acquire(&cpu->nesting) != 0;
}

/* Seals the segment if it is still the one with this number; see above.  @writer: the CPU that
 * may be writing to it still; NULL: none is. */
__probe_ctx static bool seal_segment(struct dbk_segment_header *header, uint64_t sequence,
				     uint32_t segment_bytes, const struct dbk_cpu *writer)
{
	uint64_t word = dbk_load_acquire((uint64_t *)header), sealed = word | SEALED_BIT;
	uint32_t bytes = dbk_load_acquire(&header->committed_bytes), crc;
	unsigned long flags;
	bool done = false;

	if ((uint32_t)word != DBK_SEGMENT_MAGIC || word == sealed ||
	    !is_unchanged(header, sequence, bytes) || bytes < DBK_SEGMENT_DATA_OFFSET ||
	    bytes > segment_bytes)
		return false;
	crc = checksum_of(header, sealed, bytes);
	flags = dbk_host_enter();
	if (!(writer != NULL && is_firing(writer)) && is_unchanged(header, sequence, bytes)) {
		dbk_store_relaxed(&header->crc32c, crc);
		done = dbk_compare_swap((uint64_t *)header, &word, sealed);
		if (done && !is_unchanged(header, sequence, bytes)) {
			dbk_compare_swap((uint64_t *)header, &sealed, word);
			done = false;
		}
	}
	dbk_host_leave(flags);
	return done;
}

/* The segment after @from, or the oldest one when the ring wrapped since; false:
 * there is none, or it is just being reopened. */
__probe_ctx static bool next_segment(const struct dbk_buffer *buffer,
				     const struct dbk_segment_ref *from, uint64_t last,
				     struct dbk_segment_ref *next)
{
	const struct dbk_segment_slot *slot;
	const struct dbk_segment_header *header;

	next->slot = 0;
	if (from->sequence != 0)
		next->slot = dbk_load_relaxed(&dbk_slot_at(buffer, from->slot)->next);
	header = (const struct dbk_segment_header *)dbk_slot_at(buffer, next->slot)->segment;
	next->sequence = dbk_load_acquire(&header->sequence);
	if (next->sequence == from->sequence + 1)
		return true;
	slot = dbk_slot_at(buffer, dbk_load_acquire(&buffer->slot));
	next->slot = dbk_load_relaxed(&slot->next);
	header = (const struct dbk_segment_header *)dbk_slot_at(buffer, next->slot)->segment;
	next->sequence = dbk_load_acquire(&header->sequence);
	return next->sequence > from->sequence && next->sequence <= last;
}

bool dbk_segment_advance(const struct dbk_buffer *buffer, uint64_t last,
			 struct dbk_segment_ref *ref)
{
	struct dbk_segment_ref next __dbk_unset;

	if (ref->sequence >= last || !next_segment(buffer, ref, last, &next))
		return false;
	*ref = next;
	return true;
}

/* Seals from after @ref up to number @last; bounded by the slots there are. */
__probe_ctx static uint32_t seal_closed(const struct dbk_buffer *buffer,
					struct dbk_segment_ref *ref, uint64_t last,
					uint32_t count_max)
{
	uint32_t left = dbk_load_acquire(&buffer->slot_count) + 1, sealed = 0;
	struct dbk_segment_ref next __dbk_unset;

	for (; left != 0 && ref->sequence < last; left--) {
		if (!next_segment(buffer, ref, last, &next))
			break;
		*ref = next;
		if (last - ref->sequence < count_max)
			sealed += seal_segment(
				(struct dbk_segment_header *)dbk_slot_at(buffer, ref->slot)
					->segment,
				ref->sequence, buffer->segment_bytes, NULL);
	}
	return sealed;
}

void dbk_segments_seal(struct dbk_buffer *buffer)
{
	/* A drop may be counted in the segment that was open a moment ago, by whom an NMI
	 * interrupted; not in one that was closed before the last time. */
	uint64_t before = buffer->tended_sequence;

	if (before > 1)
		seal_closed(buffer, &buffer->sealed, before - 1, SEALS_PER_TENDING);
}

/* ---- the open segment -------------------------------------------------------------------- */

/* What a firing that was not seen did to it makes the seal wrong: it is taken off. */
__probe_ctx static bool seal_holds(struct dbk_segment_header *header)
{
	uint64_t sealed = dbk_load_acquire((uint64_t *)header);
	uint32_t bytes = dbk_load_acquire(&header->committed_bytes);

	if (checksum_of(header, sealed, bytes) == dbk_load_relaxed(&header->crc32c))
		return true;
	if ((sealed & SEALED_BIT) != 0)
		dbk_compare_swap((uint64_t *)header, &sealed, sealed & ~SEALED_BIT);
	return false;
}

__probe_ctx static bool seal_open(const struct dbk_consumer *consumer, struct dbk_buffer *buffer,
				  enum dbk_seal how)
{
	const struct dbk_cpu *writer =
		how == DBK_SEAL_OPEN ? consumer->engine->cpus[buffer->cpu] : NULL;
	uint64_t sequence = dbk_load_acquire(&buffer->sequence);
	struct dbk_segment_header *header =
		(struct dbk_segment_header *)dbk_load_acquire(&buffer->segment);

	/* Under the other policies a segment that is not full is room lost. */
	if (header == NULL || (how == DBK_SEAL_OPEN && consumer->policy != DBK_POLICY_RING))
		return false;
	dbk_store_relaxed(&buffer->room_bytes, 0);
	if (writer != NULL && is_firing(writer))
		return false;
	if (!seal_segment(header, sequence, buffer->segment_bytes, writer))
		return false;
	return how == DBK_SEAL_DEAD || seal_holds(header);
}

__probe_ctx uint32_t dbk_consumer_seal(const struct dbk_consumer *consumer, uint32_t cpu,
				       enum dbk_seal how)
{
	struct dbk_segment_ref ref __dbk_unset;
	struct dbk_buffer *buffer;
	uint32_t sealed = 0;
	uint64_t open;

	if (cpu >= consumer->engine->cpu_count)
		return 0;
	buffer = &consumer->buffers[cpu];
	open = dbk_load_acquire(&buffer->sequence);
	if (open == 0)
		return 0;
	if (how != DBK_SEAL_CLOSED)
		sealed += seal_open(consumer, buffer, how);
	/* Its tender may have been stopped at its work: a copy of how far it was. */
	ref = buffer->sealed;
	if (ref.slot >= dbk_load_acquire(&buffer->slot_count))
		return sealed;
	return sealed + seal_closed(buffer, &ref, open - 1,
				    how == DBK_SEAL_CLOSED ? SEALS_PER_TENDING : SEALS_PER_PANIC);
}
