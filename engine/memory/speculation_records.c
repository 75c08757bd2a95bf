/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * speculation_records.c - records in a speculation's buffer, and their way into the ring; see speculation.h
 *
 * A commit is planned before it is done: how many segments its records need is
 * counted by the same steps that then place them.  So either all are in, or none
 * and each is a drop.
 */
#include "engine/memory/account.h"
#include "engine/memory/speculation.h"

#define REBASE_BYTES ((uint32_t)sizeof(struct dbk_control_time_base))

/* ---- the speculation's buffer ----------------------------------------------------------- */

/* Where a record of the plan would end in DTrace's buffer. */
__probe_ctx static uint64_t classic_end(const struct dbk_specbuf *specbuf,
					const struct dbk_plan *plan)
{
	return DBK_ROUND_UP(specbuf->classic_bytes, plan->classic_align) + plan->classic_bytes;
}

__probe_ctx uint32_t dbk_specbuf_room(const struct dbk_ecb *ecb, const struct dbk_buffer *buffer,
				      const struct dbk_specbuf *specbuf)
{
	const struct dbk_consumer *consumer = ecb->consumer;
	uint32_t left = consumer->spec_memory_bytes - specbuf->used_bytes;
	uint32_t room = buffer->segment_bytes - DBK_SEGMENT_DATA_OFFSET - DBK_COMMIT_PART_BYTES;

	left = left < DBK_SPEC_ENTRY_BYTES ? 0 : left - DBK_SPEC_ENTRY_BYTES;
	if (consumer->spec_counted) {
		if (classic_end(specbuf, ecb->plan) > consumer->spec_bytes)
			return 0;
	} else if (left > consumer->spec_bytes - specbuf->record_bytes) {
		left = consumer->spec_bytes - specbuf->record_bytes;
	}
	/* What does not fit into a segment could never be committed. */
	return left < room ? left : room;
}

__probe_ctx void dbk_specbuf_append(struct dbk_cpu *cpu, struct dbk_specbuf *specbuf,
				    uint32_t bytes, uint64_t ticks)
{
	bool recorded = cpu->same_firing == DBK_RECORD_F_SAME_FIRING;
	bool same = specbuf->used_bytes != 0 && specbuf->serial == cpu->serial;
	uint8_t *entry = specbuf->memory + specbuf->used_bytes;
	struct dbk_record_header *header =
		(struct dbk_record_header *)(entry + DBK_SPEC_ENTRY_BYTES);

	*(uint64_t *)entry = ticks;
	header->epid = cpu->ecb->epid | (same	    ? DBK_RECORD_F_SAME_FIRING
					 : recorded ? DBK_RECORD_F_FIRING_ELSEWHERE
						    : 0);
	header->delta_ticks = bytes;
	specbuf->used_bytes += DBK_SPEC_ENTRY_BYTES + bytes;
	specbuf->record_bytes += bytes;
	specbuf->record_count++;
	specbuf->classic_bytes = (uint32_t)classic_end(specbuf, cpu->ecb->plan);
	specbuf->serial = cpu->serial;
	cpu->speculated_ticks = ticks;
	cpu->speculated_serial = cpu->serial;
	cpu->speculated_consumer = cpu->consumer;
	if (!recorded)
		cpu->same_firing = DBK_FIRING_SPECULATES;
}

__probe_ctx void dbk_specbuf_empty(struct dbk_specbuf *specbuf)
{
	specbuf->used_bytes = 0;
	specbuf->record_bytes = 0;
	specbuf->classic_bytes = 0;
	specbuf->record_count = 0;
	specbuf->drop_count = 0;
}

/* ---- into the ring ------------------------------------------------------------------------ */

struct entry {
	uint64_t ticks;
	const struct dbk_record_header *record;
	uint32_t bytes; /* of the record */
};

__probe_ctx static struct entry entry_at(const struct dbk_specbuf *specbuf, uint32_t at)
{
	struct entry entry;

	entry.ticks = *(const uint64_t *)(specbuf->memory + at);
	entry.record =
		(const struct dbk_record_header *)(specbuf->memory + at + DBK_SPEC_ENTRY_BYTES);
	entry.bytes = entry.record->delta_ticks;
	return entry;
}

/* Where in the ring the next record goes, done or only counted. */
struct cursor {
	uint32_t left;	     /* bytes of the segment */
	uint64_t base_ticks; /* what deltas count from, once begun */
	bool begun;	     /* the segment has its COMMIT control record */
};

/* Bytes that precede the record in the segment. */
__probe_ctx static uint32_t before(const struct cursor *cursor, uint64_t ticks)
{
	if (!cursor->begun)
		return DBK_COMMIT_PART_BYTES;
	return ((ticks - cursor->base_ticks) >> 32) != 0 ? REBASE_BYTES : 0;
}

/* Whether the record needs the next segment; the cursor is in that one then. */
__probe_ctx static bool turns_over(struct cursor *cursor, const struct entry *entry,
				   uint32_t fresh_bytes)
{
	if (before(cursor, entry->ticks) + entry->bytes <= cursor->left)
		return false;
	cursor->left = fresh_bytes;
	cursor->begun = false;
	return true;
}

/* Moves the cursor after the record; what precedes it. */
__probe_ctx static uint32_t pass(struct cursor *cursor, const struct entry *entry)
{
	uint32_t bytes = before(cursor, entry->ticks);

	if (bytes != 0)
		cursor->base_ticks = entry->ticks;
	cursor->begun = true;
	cursor->left -= bytes + entry->bytes;
	return bytes;
}

__probe_ctx static uint32_t fresh_bytes(const struct dbk_buffer *buffer)
{
	return buffer->segment_bytes - DBK_SEGMENT_DATA_OFFSET;
}

__probe_ctx static uint32_t segments_needed(const struct dbk_buffer *buffer,
					    const struct dbk_specbuf *specbuf)
{
	struct cursor cursor = {.left = dbk_room_kept(buffer)};
	uint32_t at = 0, count = 0;

	/* Mostly all fit into the open one, even if each needed a time base. */
	if (DBK_COMMIT_PART_BYTES + specbuf->record_bytes +
		    (uint64_t)specbuf->record_count * REBASE_BYTES <=
	    cursor.left)
		return 0;
	while (at < specbuf->used_bytes) {
		struct entry entry = entry_at(specbuf, at);

		count += turns_over(&cursor, &entry, fresh_bytes(buffer));
		pass(&cursor, &entry);
		at += DBK_SPEC_ENTRY_BYTES + entry.bytes;
	}
	return count;
}

/* A run of records in one segment, being written. */
struct part {
	struct dbk_control_commit *commit; /* NULL: none was begun */
	uint32_t used_bytes;		   /* of the segment */
	uint32_t record_count;
	uint32_t record_bytes;
};

/* The records exist from here on. */
__probe_ctx static void end_part(struct dbk_buffer *buffer, struct part *part, uint64_t base_ticks)
{
	uint8_t *segment = buffer->segment;

	if (part->commit == NULL)
		return;
	part->commit->covered_bytes =
		part->used_bytes - (uint32_t)((uint8_t *)(part->commit + 1) - segment);
	buffer->used_bytes = part->used_bytes;
	buffer->base_ticks = base_ticks;
	dbk_store_release(&((struct dbk_segment_header *)segment)->committed_bytes,
			  part->used_bytes);
	buffer->counters->records += part->record_count;
	buffer->counters->bytes += part->record_bytes;
	part->commit = NULL;
}

__probe_ctx static void begin_part(struct dbk_buffer *buffer, struct part *part, uint32_t id,
				   uint64_t now_ticks)
{
	struct dbk_control_commit *commit =
		(struct dbk_control_commit *)(buffer->segment + buffer->used_bytes);

	commit->header.epid = 0;
	commit->header.kind = DBK_CONTROL_COMMIT;
	commit->header.bytes = (uint16_t)sizeof(*commit);
	commit->commit_ticks = now_ticks;
	commit->speculation = id;
	part->commit = commit;
	part->used_bytes = buffer->used_bytes + (uint32_t)sizeof(*commit);
	part->record_count = 0;
	part->record_bytes = 0;
}

__probe_ctx static void write_base(uint8_t *to, uint64_t ticks)
{
	struct dbk_control_time_base *control = (struct dbk_control_time_base *)to;

	control->header.epid = 0;
	control->header.kind = DBK_CONTROL_TIME_BASE;
	control->header.bytes = (uint16_t)REBASE_BYTES;
	control->base_ticks = ticks;
}

/* By words: most records are a few of them, and a call of memcpy() would cost more. */
__probe_ctx static void write_record(uint8_t *segment, struct part *part, const struct entry *entry,
				     uint64_t base_ticks)
{
	const uint64_t *from = (const uint64_t *)(const void *)entry->record;
	const uint64_t *end = from + entry->bytes / 8;
	uint64_t *to = (uint64_t *)(void *)(segment + part->used_bytes);

	dbk_probe_assert(entry->bytes % 8 == 0 && entry->bytes != 0);
	/* struct dbk_record_header in one store: the EPID is its low half. */
	*to = (entry->ticks - base_ticks) << 32 | entry->record->epid;
	while (++from != end)
		*++to = *from;
	part->used_bytes += entry->bytes;
	part->record_count++;
	part->record_bytes += entry->bytes;
}

__probe_ctx static void move_records(const struct dbk_consumer *consumer, struct dbk_buffer *buffer,
				     const struct dbk_specbuf *specbuf, uint32_t id, bool end)
{
	struct cursor cursor = {.left = dbk_room_kept(buffer)};
	struct part part = {.commit = NULL};
	uint64_t now_ticks = dbk_host_ticks();
	uint32_t at = 0;

	while (at < specbuf->used_bytes) {
		struct entry entry = entry_at(specbuf, at);
		bool next = turns_over(&cursor, &entry, fresh_bytes(buffer));

		if (next) {
			end_part(buffer, &part, cursor.base_ticks);
			/* Cannot fail: counted before, and no reader takes room away. */
			if (!dbk_segment_open(consumer, buffer, end))
				return;
		}
		if (part.commit == NULL)
			begin_part(buffer, &part, id, now_ticks);
		if (pass(&cursor, &entry) != 0) {
			write_base(buffer->segment + part.used_bytes, cursor.base_ticks);
			part.used_bytes += REBASE_BYTES;
		}
		write_record(buffer->segment, &part, &entry, cursor.base_ticks);
		at += DBK_SPEC_ENTRY_BYTES + entry.bytes;
	}
	end_part(buffer, &part, cursor.base_ticks);
}

__probe_ctx void dbk_specbuf_move(const struct dbk_consumer *consumer, struct dbk_buffer *buffer,
				  const struct dbk_specbuf *specbuf, uint32_t id, bool end)
{
	uint32_t need = segments_needed(buffer, specbuf);

	if (specbuf->record_count == 0)
		return;
	if ((need != 0 && dbk_segments_free(consumer, buffer, end) < need) ||
	    !dbk_account_commit_of(consumer, buffer, specbuf->classic_bytes, end))
		dbk_drops(buffer, dbk_full_cause(consumer), specbuf->record_count);
	else
		move_records(consumer, buffer, specbuf, id, end);
}
