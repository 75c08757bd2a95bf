/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * grow.c - rings whose size is a time: option ringtime (docs/design/0014-rings-that-grow.md)
 *
 * A ring starts with bufsize.  While it is tended, each CPU's slots are compared
 * with what its segments need:
 *
 *   oldest                    wanted                     open      soon
 *   |  older than ringtime  |  reaches into ringtime    |  w  | twice what came lately |
 *                           '------------- must fit into the slots --------------------'
 *
 * What does not fit is added at once, up to option ringmax.  The writer uses a new
 * slot before it overwrites anything, so that growing loses nothing that was still
 * there; what a burst overwrote before is gone, and the readers say how far the
 * ring reaches back.  Memory that is refused is counted, and asked for again later.
 */
#include "engine/memory/buffer.h"

#define TEND_INTERVAL_NS       250000000ull
#define TEND_INTERVAL_GROWS_NS 100000000ull

/* Of one CPU at one time: zeroing it takes some milliseconds. */
#define GROWTH_BYTES_MAX (32u << 20)
/* Times of tending between two tries when memory was refused: about a second. */
#define GROWTH_PAUSE 10u

uint64_t dbk_consumer_tend_interval_ns(const struct dbk_consumer *consumer)
{
	return dbk_consumer_grows(consumer) ? TEND_INTERVAL_GROWS_NS : TEND_INTERVAL_NS;
}

bool dbk_consumer_grows(const struct dbk_consumer *consumer)
{
	return consumer->ringtime_ns != 0 &&
	       dbk_load_relaxed(&consumer->activity) < DBK_ACTIVITY_STOPPED;
}

static const struct dbk_segment_header *header_at(const struct dbk_buffer *buffer,
						  const struct dbk_segment_ref *ref)
{
	return (const struct dbk_segment_header *)dbk_slot_at(buffer, ref->slot)->segment;
}

/* Whether the segment after @wanted begins after @since_ns, so that @wanted reaches across it. */
static bool reaches(const struct dbk_buffer *buffer, const struct dbk_segment_ref *next,
		    uint64_t since_ns)
{
	const struct dbk_segment_header *header = header_at(buffer, next);
	uint64_t base_ns = dbk_load_relaxed(&header->base_mono_ns);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* Overwritten meanwhile: then the next time shows it. */
	return dbk_load_relaxed(&header->sequence) != next->sequence || base_ns > since_ns;
}

/* How many segments hold what is not older than @since_ns, the open one included. */
static uint64_t segments_wanted(struct dbk_buffer *buffer, uint64_t open, uint64_t since_ns)
{
	struct dbk_segment_ref next = buffer->wanted;
	uint32_t left = buffer->slot_count + 1;

	for (; left != 0 && dbk_segment_advance(buffer, open, &next); left--) {
		/* Two steps of 1 are one segment after the other; else the ring wrapped. */
		if (next.sequence == buffer->wanted.sequence + 1 && buffer->wanted.sequence != 0 &&
		    reaches(buffer, &next, since_ns))
			break;
		buffer->wanted = next;
	}
	return buffer->wanted.sequence == 0 ? open : open - buffer->wanted.sequence + 1;
}

bool dbk_memory_paused(struct dbk_buffer *buffer)
{
	if (buffer->growth_pause == 0)
		return false;
	buffer->growth_pause--;
	return true;
}

void dbk_memory_refused(struct dbk_buffer *buffer)
{
	dbk_store_relaxed(&buffer->counters->growths_refused,
			  buffer->counters->growths_refused + 1);
	buffer->growth_pause = GROWTH_PAUSE;
}

static void add_slots(struct dbk_consumer *consumer, struct dbk_buffer *buffer, uint64_t need,
		      enum dbk_pages_from from)
{
	uint64_t have = buffer->slot_count, count = need - have;
	bool added;

	/* Few large pieces rather than many small ones. */
	if (count < have / 8)
		count = have / 8;
	if (count > GROWTH_BYTES_MAX / buffer->segment_bytes)
		count = GROWTH_BYTES_MAX / buffer->segment_bytes;
	if (count > buffer->slot_max - have)
		count = buffer->slot_max - have;
	if (count == 0 || dbk_memory_paused(buffer))
		return;
	dbk_host_cpus_lock();
	added = dbk_slots_add(consumer, buffer, (uint32_t)count, from);
	dbk_host_cpus_unlock();
	if (!added)
		dbk_memory_refused(buffer);
}

void dbk_segments_grow(struct dbk_consumer *consumer, struct dbk_buffer *buffer, uint64_t now_ns,
		       enum dbk_pages_from from)
{
	uint64_t open = dbk_load_acquire(&buffer->sequence);
	uint64_t opened = open - buffer->tended_sequence, need;
	uint64_t since_ns = now_ns > consumer->ringtime_ns ? now_ns - consumer->ringtime_ns : 0;

	/* A burst is forgotten slowly: the next one finds room. */
	buffer->opened_lately -= buffer->opened_lately / 4;
	if (buffer->opened_lately < opened)
		buffer->opened_lately = opened;
	need = segments_wanted(buffer, open, since_ns) + 2 * buffer->opened_lately + 1;
	if (need > buffer->slot_count)
		add_slots(consumer, buffer, need, from);
}
