/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * slots.c - finds memory for the segments of all CPUs; see buffer.h
 *
 * Control path.  A CPU's segments lie in blocks of the page allocator, as large
 * as it gives them: a block that is refused is asked for again at half the size,
 * down to one segment.  A ring that grows gets more of them later.
 */
#include "engine/memory/buffer.h"

static struct dbk_pages *add_chunk(struct dbk_consumer *consumer, const struct dbk_buffer *buffer,
				   uint32_t segments, enum dbk_pages_from from)
{
	uint32_t bytes = DBK_PAGES_BYTES_MAX, segment_bytes = buffer->segment_bytes;
	uint64_t want_bytes = (uint64_t)segments * segment_bytes;
	struct dbk_pages *pages;

	/* A power of two: what the page allocator has without waste. */
	while (bytes > want_bytes && bytes > segment_bytes)
		bytes /= 2;
	for (;;) {
		pages = dbk_region_add(consumer, 1 /* ioctl.h: DBK_REGION_SEGMENTS */,
				       buffer->cpu, bytes, from);
		if (pages != NULL || bytes / 2 < segment_bytes)
			return pages;
		bytes /= 2;
	}
}

static bool add_block(struct dbk_buffer *buffer, uint32_t index)
{
	struct dbk_segment_slot **block = &buffer->slots[index / DBK_SLOTS_PER_BLOCK];

	if (*block == NULL)
		*block = dbk_host_alloc(DBK_SLOTS_PER_BLOCK * sizeof(**block));
	return *block != NULL;
}

/* Fills slots in from a chunk of memory; the writer may use each at once. */
static void add_from(struct dbk_buffer *buffer, const struct dbk_pages *pages, uint32_t count)
{
	uint32_t i, index = buffer->slot_count;

	for (i = 0; i < pages->bytes / buffer->segment_bytes && i < count; i++, index++) {
		uint64_t offset = (uint64_t)i * buffer->segment_bytes;
		struct dbk_segment_slot *slot;

		slot = dbk_slot_at(buffer, index);
		slot->segment = (uint8_t *)pages->address + offset;
		slot->phys_addr = pages->phys_addr == 0 ? 0 : pages->phys_addr + offset;
		dbk_store_release(&buffer->slot_count, index + 1);
		dbk_store_relaxed(&buffer->counters->segment_slots, index + 1);
	}
}

bool dbk_slots_add(struct dbk_consumer *consumer, struct dbk_buffer *buffer, uint32_t count,
		   enum dbk_pages_from from)
{
	uint32_t end = buffer->slot_count + count, index;

	dbk_assert(end <= buffer->slot_max);
	for (index = buffer->slot_count; index < end; index += DBK_SLOTS_PER_BLOCK)
		if (!add_block(buffer, index))
			return false;
	if (end != 0 && !add_block(buffer, end - 1))
		return false;
	while (buffer->slot_count < end) {
		uint32_t missing = end - buffer->slot_count;
		struct dbk_pages *pages = add_chunk(consumer, buffer, missing, from);

		if (pages == NULL)
			return false;
		add_from(buffer, pages, missing);
	}
	return true;
}

static int fill_segments(struct dbk_consumer *consumer, struct dbk_buffer *buffer,
			 enum dbk_pages_from from)
{
	uint32_t count = buffer->segment_count + buffer->segment_reserve;
	uint64_t max = consumer->ring->ringmax_bytes / buffer->segment_bytes;

	buffer->slot_max = max > count ? (uint32_t)max : count;
	if (buffer->slots == NULL)
		buffer->slots = dbk_host_alloc((buffer->slot_max / DBK_SLOTS_PER_BLOCK + 1) *
					       sizeof(*buffer->slots));
	if (buffer->slots == NULL ||
	    !dbk_slots_add(consumer, buffer, count - buffer->slot_count, from))
		return -ENOMEM;
	return 0;
}

/* A CPU's memory that a program may have none of. */
static int fill_bytes(uint8_t **memory, uint32_t bytes)
{
	if (bytes != 0 && *memory == NULL)
		*memory = dbk_alloc_lines(bytes);
	return bytes != 0 && *memory == NULL ? -ENOMEM : 0;
}

int dbk_buffer_fill(struct dbk_consumer *consumer, struct dbk_buffer *buffer,
		    enum dbk_pages_from from)
{
	int error = fill_bytes(&buffer->locals, consumer->locals_bytes);

	if (error == 0)
		error = fill_segments(consumer, buffer, from);
	if (error != 0)
		consumer->lacking = DBK_LACKING_BUFSIZE;
	if (error == 0 && consumer->aggregate == DBK_AGGREGATE_ENGINE) {
		consumer->lacking = DBK_LACKING_AGGSIZE;
		error = dbk_aggbuf_init(consumer, buffer, from);
	}
	if (error == 0)
		error = fill_bytes(&buffer->key, buffer->key_bytes);
	return error;
}

static void free_slots(struct dbk_buffer *buffer)
{
	uint32_t i;

	for (i = 0; buffer->slots != NULL && i <= buffer->slot_max / DBK_SLOTS_PER_BLOCK; i++)
		dbk_host_free(buffer->slots[i]);
	dbk_host_free(buffer->slots);
}

void dbk_buffers_deinit(struct dbk_consumer *consumer)
{
	uint32_t cpu;

	for (cpu = 0; consumer->buffers != NULL && cpu < consumer->engine->cpu_count; cpu++) {
		struct dbk_buffer *buffer = &consumer->buffers[cpu];

		dbk_aggbuf_deinit(buffer);
		dbk_host_free(buffer->locals);
		free_slots(buffer);
		dbk_host_free(buffer->key);
	}
	dbk_host_free(consumer->buffers);
	consumer->buffers = NULL;
}
