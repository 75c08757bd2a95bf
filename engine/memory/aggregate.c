/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * aggregate.c - aggregation buffers: entries one after the other, and an index beside them (docs/design/0031-hashes.md)
 *
 * A CPU has two.  It counts into the one that buffer->aggbuf points to; a
 * snapshot points it to the other, on that CPU between two firings, and hands out
 * the first.  Entries only ever get added, so a reader of a dump can walk them by
 * their lengths up to committed_bytes.
 *
 * The index is open-addressed, and one for both: only the buffer that is counted
 * into needs it.  A reference belongs to a buffer's time since it was cleared, its
 * round, so that clearing all of them is one addition.  Where a key
 * lands depends on a secret (engine/types/hash.h), and a key that finds none free within
 * PROBES_MAX references is a drop: a process that can choose keys can fill the buffer, and
 * make no firing longer.
 */
#include "engine/memory/account.h"
#include "engine/memory/buffer.h"
#include "engine/shared/cells.h"
#include "engine/types/hash.h"

#define AGG_DATA_OFFSET DBK_SEGMENT_DATA_OFFSET

/* One reference of the index for so many bytes: a small entry, so that the index never fills first. */
#define BYTES_PER_REF 32u
/* Random keys in an index that is three quarters full need some 9, hardly ever 100. */
#define PROBES_MAX 256u

/* ---- probe context: entries ------------------------------------------------------------- */

__probe_ctx static struct dbk_segment_header *header_of(const struct dbk_aggbuf *aggbuf)
{
	return (struct dbk_segment_header *)aggbuf->pages.address;
}

/* Round and hash of a reference in one word: most are distinguished by one comparison. */
__probe_ctx static uint64_t tag_of(const struct dbk_aggbuf *aggbuf, uint64_t hash)
{
	return (uint64_t)aggbuf->round << 32 | (uint32_t)hash;
}

__probe_ctx static bool same_key(const struct dbk_agg_ref *ref, const struct dbk_agg_entry *entry,
				 uint32_t class_id, const uint8_t *key, uint32_t key_bytes)
{
	const uint8_t *have = (const uint8_t *)(entry + 1);
	uint64_t a, b;
	uint32_t i;

	if (ref->class_id != class_id || entry->key_bytes != key_bytes)
		return false;
	for (i = 0; i < key_bytes; i += 8) {
		__builtin_memcpy(&a, key + i, 8);
		__builtin_memcpy(&b, have + i, 8);
		if (a != b)
			return false;
	}
	return true;
}

__probe_ctx static struct dbk_agg_entry *entry_at(const struct dbk_aggbuf *aggbuf, uint32_t offset)
{
	return (struct dbk_agg_entry *)((uint8_t *)aggbuf->pages.address + offset);
}

__probe_ctx static uint64_t *cells_of(struct dbk_agg_entry *entry)
{
	return (uint64_t *)((uint8_t *)(entry + 1) + entry->key_bytes);
}

/* Adds an entry with empty cells into the free @ref; NULL: the buffer is full. */
__probe_ctx __attribute__((__noinline__)) static struct dbk_agg_entry *
add_entry(struct dbk_cpu *cpu, struct dbk_agg_ref *ref, uint64_t tag,
	  const struct dbk_aggregation *aggregation, const uint8_t *key, uint32_t key_bytes)
{
	struct dbk_aggbuf *aggbuf = cpu->buffer->aggbuf;
	struct dbk_segment_header *header = header_of(aggbuf);
	uint32_t used = header->committed_bytes;
	uint32_t bytes =
		(uint32_t)sizeof(struct dbk_agg_entry) + key_bytes + aggregation->cell_count * 8;
	struct dbk_agg_entry *entry;

	/* Three quarters of the index at most: probing stays short. */
	if (bytes > aggbuf->pages.bytes - used ||
	    aggbuf->entry_count >= aggbuf->index_count / 4 * 3 ||
	    !dbk_account_entry(cpu->buffer, aggbuf, aggregation))
		return NULL;
	entry = (struct dbk_agg_entry *)((uint8_t *)header + used);
	entry->entry_bytes = bytes;
	entry->epid = cpu->ecb->epid;
	entry->action = aggregation->action;
	entry->key_bytes = (uint16_t)key_bytes;
	entry->cell_count = aggregation->cell_count;
	memcpy(entry + 1, key, key_bytes);
	dbk_cells_init(cells_of(entry), aggregation->cell_count, aggregation->kind,
		       aggregation->arg);
	ref->tag = tag;
	ref->offset = used;
	ref->class_id = aggregation->class_id;
	aggbuf->entry_count++;
	dbk_store_release(&header->committed_bytes, used + bytes);
	return entry;
}

__probe_ctx_inline static struct dbk_agg_entry *search(struct dbk_cpu *cpu,
						       struct dbk_aggbuf *aggbuf,
						       const struct dbk_aggregation *aggregation,
						       const uint8_t *key, uint32_t key_bytes)
{
	uint64_t hash = dbk_hash(&cpu->secret, (uint64_t)aggregation->class_id << 32 | key_bytes,
				 key, key_bytes);
	uint64_t tag = tag_of(aggbuf, hash);
	uint32_t mask = aggbuf->index_count - 1, at = (uint32_t)(hash >> 32), left;

	for (left = PROBES_MAX; left != 0; left--, at++) {
		struct dbk_agg_ref *ref = &aggbuf->index[at & mask];
		struct dbk_agg_entry *entry = entry_at(aggbuf, ref->offset);

		if (likely(ref->tag == tag) &&
		    same_key(ref, entry, aggregation->class_id, key, key_bytes))
			return entry;
		if ((uint32_t)(ref->tag >> 32) != aggbuf->round)
			return add_entry(cpu, ref, tag, aggregation, key, key_bytes);
	}
	return NULL;
}

__probe_ctx __attribute__((__noinline__)) static void drop(struct dbk_cpu *cpu,
							   const struct dbk_aggbuf *aggbuf)
{
	struct dbk_segment_losses *losses = (struct dbk_segment_losses *)(header_of(aggbuf) + 1);

	losses->drops[DBK_DROP_AGGREGATION]++;
	dbk_drop(cpu->buffer, DBK_DROP_AGGREGATION);
}

/* Where the entry is noted that an ECB counted into last. */
__probe_ctx_inline static struct dbk_agg_ref *recent_of(struct dbk_aggbuf *aggbuf, uint32_t epid,
							 uint32_t class_id)
{
	return &aggbuf->recent[(epid ^ class_id) & (DBK_AGG_RECENT - 1)];
}

__probe_ctx_inline static void add(struct dbk_agg_entry *entry,
				   const struct dbk_aggregation *aggregation, int64_t value,
				   int64_t increment)
{
	if (aggregation->kind == DTRACEAGG_COUNT)
		cells_of(entry)[0]++;
	else
		dbk_cells_add(cells_of(entry), aggregation->kind, aggregation->arg, value,
			      increment);
}

/* Not inlined: an entry that is found again then needs no registers saved. */
__probe_ctx __attribute__((__noinline__)) static void
aggregate_anew(struct dbk_cpu *cpu, const struct dbk_aggregation *aggregation, const uint8_t *key,
	       uint32_t key_bytes, int64_t value, int64_t increment)
{
	struct dbk_aggbuf *aggbuf = cpu->buffer->aggbuf;
	uint32_t epid = cpu->ecb->epid, class_id = aggregation->class_id;
	struct dbk_agg_entry *entry = search(cpu, aggbuf, aggregation, key, key_bytes);
	struct dbk_agg_ref *recent = recent_of(aggbuf, epid, class_id);

	if (unlikely(entry == NULL)) {
		drop(cpu, aggbuf);
		return;
	}
	recent->tag = tag_of(aggbuf, epid);
	recent->offset = (uint32_t)((uint8_t *)entry - (uint8_t *)header_of(aggbuf));
	recent->class_id = class_id;
	add(entry, aggregation, value, increment);
}

__probe_ctx void dbk_aggregate(struct dbk_cpu *cpu, const struct dbk_aggregation *aggregation,
			       const uint8_t *key, uint32_t key_bytes, int64_t value,
			       int64_t increment)
{
	struct dbk_aggbuf *aggbuf = dbk_load_acquire(&cpu->buffer->aggbuf);
	uint32_t epid = cpu->ecb->epid, class_id = aggregation->class_id;
	const struct dbk_agg_ref *recent = recent_of(aggbuf, epid, class_id);
	struct dbk_agg_entry *entry = entry_at(aggbuf, recent->offset);

	if (likely(recent->tag == tag_of(aggbuf, epid) &&
		   same_key(recent, entry, class_id, key, key_bytes)))
		add(entry, aggregation, value, increment);
	else
		aggregate_anew(cpu, aggregation, key, key_bytes, value, increment);
}

/* ---- control path -------------------------------------------------------------------------- */

__probe_ctx static struct dbk_aggbuf *other_of(struct dbk_buffer *buffer,
					       const struct dbk_aggbuf *aggbuf)
{
	return &buffer->aggbufs[aggbuf == &buffer->aggbufs[0]];
}

static void clear(struct dbk_consumer *consumer, struct dbk_buffer *buffer,
		  struct dbk_aggbuf *aggbuf)
{
	/* When counting into it begins. */
	struct dbk_clock_pair pair = dbk_clock_pair_read(consumer->engine);
	struct dbk_segment_header *header = aggbuf->pages.address;

	dbk_store_release(&header->magic, 0);
	memset(header, 0, AGG_DATA_OFFSET);
	/* One a snapshot: of 2^32 rounds none is met again.  References of round 0 were never used. */
	aggbuf->round = other_of(buffer, aggbuf)->round + 1;
	aggbuf->entry_count = 0;
	aggbuf->classic_bytes = 0;
	header->version = DBK_SEGMENT_VERSION;
	header->flags = consumer->clock == DBK_CLOCK_TSC ? DBK_SEGMENT_F_TSC : 0;
	header->segment_bytes = aggbuf->pages.bytes;
	header->committed_bytes = AGG_DATA_OFFSET;
	header->sequence = ++aggbuf->sequence;
	header->base_ticks = pair.ticks;
	header->base_mono_ns = pair.mono_ns;
	header->phys_addr = aggbuf->pages.phys_addr;
	header->boot_id = consumer->engine->boot_id;
	header->cpu = buffer->cpu;
	header->ring_id = consumer->ring_id;
	dbk_store_release(&header->magic, DBK_AGGBUF_MAGIC);
}

int dbk_aggbuf_init(struct dbk_consumer *consumer, struct dbk_buffer *buffer,
		    enum dbk_pages_from from)
{
	struct dbk_agg_ref **index = &buffer->aggbufs[0].index;
	uint32_t bytes = consumer->ring->aggbuf_bytes, index_count = 1, i;

	while (index_count < bytes / BYTES_PER_REF)
		index_count <<= 1;
	if (*index == NULL)
		*index = dbk_host_alloc(index_count * sizeof(**index));
	if (*index == NULL)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		struct dbk_aggbuf *aggbuf = &buffer->aggbufs[i];

		if (aggbuf->pages.address == NULL &&
		    !dbk_host_pages_alloc(bytes, from, buffer->cpu, &aggbuf->pages)) {
			aggbuf->pages.address = NULL;
			return -ENOMEM;
		}
		aggbuf->index = *index;
		aggbuf->index_count = index_count;
	}
	/* The sequence goes up by one at each switch: one buffer has the odd, one the even ones. */
	buffer->aggbufs[0].sequence = 0;
	clear(consumer, buffer, &buffer->aggbufs[0]);
	dbk_store_release(&buffer->aggbuf, &buffer->aggbufs[0]);
	return 0;
}

void dbk_aggbuf_deinit(struct dbk_buffer *buffer)
{
	uint32_t i;

	dbk_host_free(buffer->aggbufs[0].index);
	for (i = 0; i < 2; i++) {
		if (buffer->aggbufs[i].pages.address != NULL)
			dbk_host_pages_free(&buffer->aggbufs[i].pages);
	}
}

/* On the buffer's CPU, interrupts off: what fired there before is done, what fires later sees the
 * other one.  An NMI's firing is before or after it as well: it never waits for this. */
__probe_ctx static void switch_buffers(void *argument, uint32_t cpu)
{
	struct dbk_buffer *buffer = &((struct dbk_consumer *)argument)->buffers[cpu];

	dbk_store_release(&buffer->aggbuf, other_of(buffer, buffer->aggbuf));
}

int dbk_consumer_agg_snapshot(struct dbk_consumer *consumer, uint32_t cpu, uint32_t *bytes_ret,
			      const void **image_ret)
{
	struct dbk_aggbuf *old, *fresh;
	struct dbk_buffer *buffer;

	if (cpu >= consumer->engine->cpu_count)
		return -EINVAL;
	buffer = &consumer->buffers[cpu];
	if (buffer->aggbuf == NULL) /* nothing is aggregated here (option cpu), or it has not been up */
		return -ENODATA;
	old = buffer->aggbuf;
	fresh = other_of(buffer, old);
	if (fresh->kept) {
		old = fresh;
		old->kept = false;
	} else {
		fresh->sequence = old->sequence;
		clear(consumer, buffer, fresh);
		dbk_host_on_cpu(cpu, switch_buffers, consumer);
	}
	*bytes_ret = ((const struct dbk_segment_header *)old->pages.address)->committed_bytes;
	*image_ret = old->pages.address;
	return 0;
}

uint32_t dbk_consumer_agg_used(const struct dbk_consumer *consumer, uint32_t cpu)
{
	const struct dbk_aggbuf *aggbuf =
		cpu < consumer->engine->cpu_count ? consumer->buffers[cpu].aggbuf : NULL;

	return aggbuf == NULL ? 0 : dbk_load_acquire(&header_of(aggbuf)->committed_bytes);
}

void dbk_consumer_agg_keep(struct dbk_consumer *consumer, uint32_t cpu, uint64_t sequence)
{
	struct dbk_buffer *buffer = &consumer->buffers[cpu];
	struct dbk_aggbuf *given = other_of(buffer, buffer->aggbuf);

	if (given->sequence == sequence)
		given->kept = true;
}
