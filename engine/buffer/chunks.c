/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * chunks.c - finds memory for the segments of all CPUs; see buffer.h
 *
 * Control path.  A CPU's segments lie in blocks of the page allocator, as large
 * as it gives them: a block that is refused is asked for again at half the size,
 * down to one segment.
 */
#include "engine/buffer/buffer.h"
#include "engine/program/reason.h"

static struct dbk_pages *add_chunk(struct dbk_consumer *consumer, uint32_t cpu, uint64_t want_bytes,
				   uint32_t segment_bytes)
{
	uint32_t bytes = DBK_PAGES_BYTES_MAX;
	struct dbk_pages *pages;

	/* A power of two: what the page allocator has without waste. */
	while (bytes > want_bytes && bytes > segment_bytes)
		bytes /= 2;
	for (;;) {
		pages = dbk_region_add(consumer, 1 /* ioctl.h: DBK_REGION_SEGMENTS */, cpu, bytes);
		if (pages != NULL || bytes / 2 < segment_bytes)
			return pages;
		bytes /= 2;
	}
}

static int init_segments(struct dbk_consumer *consumer, struct dbk_buffer *buffer)
{
	uint32_t count = buffer->segment_count + buffer->segment_reserve, have = 0, i;
	uint32_t segment_bytes = buffer->segment_bytes;

	buffer->segments = dbk_host_alloc(count * sizeof(*buffer->segments));
	buffer->segment_phys = dbk_host_alloc(count * sizeof(*buffer->segment_phys));
	if (buffer->segments == NULL || buffer->segment_phys == NULL)
		return -ENOMEM;
	while (have < count) {
		struct dbk_pages *pages =
			add_chunk(consumer, buffer->cpu, (uint64_t)(count - have) * segment_bytes,
				  segment_bytes);

		if (pages == NULL)
			return -ENOMEM;
		for (i = 0; i < pages->bytes / segment_bytes && have < count; i++, have++) {
			uint64_t offset = (uint64_t)i * segment_bytes;

			buffer->segments[have] = (uint8_t *)pages->address + offset;
			buffer->segment_phys[have] =
				pages->phys_addr == 0 ? 0 : pages->phys_addr + offset;
		}
	}
	return 0;
}

static int init_variables(struct dbk_consumer *consumer, struct dbk_buffer *buffer)
{
	if (consumer->locals_bytes == 0)
		return 0;
	buffer->locals = dbk_host_alloc(consumer->locals_bytes);
	return buffer->locals == NULL ? -ENOMEM : 0;
}

static int init_one(struct dbk_consumer *consumer, struct dbk_buffer *buffer)
{
	int error = init_variables(consumer, buffer);

	if (error == 0)
		error = init_segments(consumer, buffer);
	if (error != 0)
		consumer->lacking = DBK_LACKING_BUFSIZE;
	if (error == 0 && consumer->aggregate == DBK_AGGREGATE_ENGINE) {
		consumer->lacking = DBK_LACKING_AGGSIZE;
		error = dbk_aggbuf_init(consumer, buffer, consumer->ring->aggbuf_bytes);
	}
	if (error == 0 && buffer->key_bytes != 0) {
		buffer->key = dbk_host_alloc(buffer->key_bytes);
		error = buffer->key == NULL ? -ENOMEM : 0;
	}
	return error;
}

int dbk_buffers_init(struct dbk_consumer *consumer, struct dbk_reason *reason)
{
	uint32_t cpu;
	int error;

	for (cpu = 0; cpu < consumer->engine->cpu_count; cpu++) {
		if (consumer->only_cpu != DBK_CPU_ALL && consumer->only_cpu != cpu)
			continue;
		error = init_one(consumer, &consumer->buffers[cpu]);
		if (error != 0)
			return dbk_refuse(reason, error, "Cannot allocate memory");
	}
	return 0;
}

void dbk_buffers_deinit(struct dbk_consumer *consumer)
{
	uint32_t cpu;

	for (cpu = 0; consumer->buffers != NULL && cpu < consumer->engine->cpu_count; cpu++) {
		struct dbk_buffer *buffer = &consumer->buffers[cpu];

		dbk_aggbuf_deinit(buffer);
		dbk_host_free(buffer->locals);
		dbk_host_free(buffer->segments);
		dbk_host_free(buffer->segment_phys);
		dbk_host_free(buffer->key);
	}
	dbk_host_free(consumer->buffers);
	consumer->buffers = NULL;
}
