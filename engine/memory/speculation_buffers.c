/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* speculation_buffers.c - memory for speculations, as the options ask; see speculation.h.  Control path */
#include "engine/memory/speculation.h"
#include "engine/types/reason.h"

/* What the C library calls ENOMEM. */
#define NO_MEMORY "Cannot allocate memory"

static uint64_t option(const struct dbk_consumer *consumer, uint32_t id, uint64_t when_unset)
{
	uint64_t value = when_unset;

	dbk_program_option(consumer->program, id, &value);
	return value;
}

/* Whether any of the program's clauses stores into a speculation, commits or discards one. */
static bool acts_on_speculations(const struct dbk_program *program)
{
	uint32_t i, j;

	for (i = 0; i < program->ecbdesc_count; i++)
		for (j = 0; j < program->ecbdescs[i].action_count; j++)
			if (DTRACEACT_IS_SPECULATIVE(program->ecbdescs[i].actions[j].kind))
				return true;
	return false;
}

static void free_specbufs(struct dbk_consumer *consumer, struct dbk_buffer *buffer)
{
	uint32_t i;

	for (i = 0; buffer->specbufs != NULL && i < consumer->speculation_count; i++)
		dbk_host_free(buffer->specbufs[i].memory);
	dbk_host_free(buffer->specbufs);
	buffer->specbufs = NULL;
}

static void free_all_specbufs(struct dbk_consumer *consumer)
{
	uint32_t cpu;

	for (cpu = 0; consumer->buffers != NULL && cpu < consumer->engine->cpu_count; cpu++)
		free_specbufs(consumer, &consumer->buffers[cpu]);
}

int dbk_specbufs_fill(struct dbk_consumer *consumer, struct dbk_buffer *buffer)
{
	uint32_t i;

	if (consumer->speculation_count == 0)
		return 0;
	if (buffer->specbufs == NULL)
		buffer->specbufs =
			dbk_alloc_lines(consumer->speculation_count * sizeof(*buffer->specbufs));
	if (buffer->specbufs == NULL)
		return -ENOMEM;
	buffer->speculation_next = (uint32_t)((uint64_t)consumer->speculation_count * buffer->cpu /
					      consumer->engine->cpu_count);
	for (i = 0; i < consumer->speculation_count; i++) {
		struct dbk_specbuf *specbuf = &buffer->specbufs[i];

		if (specbuf->memory == NULL)
			specbuf->memory = dbk_host_alloc(consumer->spec_memory_bytes);
		if (specbuf->memory == NULL)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Memory for @bytes.  Half as much again is for the records' times, and there is
 * always enough for one.  What is counted in DTrace's bytes needs at most four
 * times as many: 16 for a record without data, which has 4 there.
 */
static uint32_t memory_bytes(bool counted, uint32_t bytes)
{
	return (uint32_t)DBK_ROUND_UP(counted ? bytes * 4 : bytes + bytes / 2, 8) +
	       DBK_SPEC_ENTRY_BYTES;
}

static uint32_t cpus_ready(const struct dbk_consumer *consumer)
{
	uint32_t cpu, count = 0;

	for (cpu = 0; cpu < consumer->engine->cpu_count; cpu++)
		count += consumer->buffers[cpu].ready;
	return count == 0 ? 1 : count;
}

/* Those of all CPUs that are ready, with @bytes each; nothing is left when that fails. */
static bool try_specbufs(struct dbk_consumer *consumer, uint32_t bytes)
{
	uint32_t cpu;

	consumer->spec_bytes = bytes;
	consumer->spec_counted = bytes <= DBK_SPEC_COUNTED_BYTES_MAX;
	consumer->spec_memory_bytes = memory_bytes(consumer->spec_counted, bytes);
	for (cpu = 0; cpu < consumer->engine->cpu_count; cpu++) {
		if (!consumer->buffers[cpu].ready)
			continue;
		if (dbk_specbufs_fill(consumer, &consumer->buffers[cpu]) != 0) {
			free_all_specbufs(consumer);
			return false;
		}
	}
	return true;
}

static int init_specbufs(struct dbk_consumer *consumer, uint64_t specsize,
			 struct dbk_reason *reason)
{
	bool manual = option(consumer, DTRACEOPT_BUFRESIZE, 0) == DBK_BUFRESIZE_MANUAL;
	uint64_t most = dbk_host_alloc_max() / 2 / cpus_ready(consumer);
	uint64_t bytes;

	if (most > DBK_SPECULATIONS_BYTES_MAX)
		most = DBK_SPECULATIONS_BYTES_MAX;
	most /= consumer->speculation_count;
	for (bytes = specsize & ~7ull; bytes >= DBK_SPECSIZE_MIN; bytes = (bytes / 2) & ~7ull) {
		if (bytes <= most && try_specbufs(consumer, (uint32_t)bytes))
			return 0;
		if (manual)
			break;
	}
	return dbk_refuse(reason, -ENOMEM, NO_MEMORY);
}

int dbk_speculations_init(struct dbk_consumer *consumer, struct dbk_reason *reason)
{
	const struct dbk_program *program = consumer->program;
	uint64_t nspec = option(consumer, DTRACEOPT_NSPEC, DBK_NSPEC_DEFAULT);
	uint64_t specsize = option(consumer, DTRACEOPT_SPECSIZE, DBK_SPECSIZE_DEFAULT);

	if (specsize < DBK_SPECSIZE_MIN)
		return dbk_refuse(reason, -ENOSPC, "Enabling exceeds size of buffer");
	if (nspec > DBK_NSPEC_MAX)
		return dbk_refuse(reason, -ENOMEM, NO_MEMORY);
	if (nspec == 0 || (!program->calls_speculation && !acts_on_speculations(program)))
		return 0;
	consumer->speculations = dbk_host_alloc(nspec * sizeof(*consumer->speculations));
	if (consumer->speculations == NULL)
		return dbk_refuse(reason, -ENOMEM, NO_MEMORY);
	consumer->speculation_count = (uint32_t)nspec;
	return init_specbufs(consumer, specsize, reason);
}

void dbk_speculations_deinit(struct dbk_consumer *consumer)
{
	free_all_specbufs(consumer);
	dbk_host_free(consumer->speculations);
	consumer->speculations = NULL;
	consumer->speculation_count = 0;
}

/* ---- for hosts --------------------------------------------------------------------------- */

uint64_t dbk_consumer_clean_interval_ns(const struct dbk_consumer *consumer)
{
	uint64_t interval = option(consumer, DTRACEOPT_CLEANRATE, DBK_CLEANRATE_DEFAULT_NS);

	if (consumer->speculation_count == 0)
		return 0;
	if (interval < DBK_CLEANRATE_MIN_NS)
		return DBK_CLEANRATE_MIN_NS;
	return interval > DBK_CLEANRATE_MAX_NS ? DBK_CLEANRATE_MAX_NS : interval;
}

uint64_t dbk_consumer_speculation_bytes(const struct dbk_consumer *consumer)
{
	return (uint64_t)consumer->speculation_count * consumer->spec_memory_bytes *
	       cpus_ready(consumer);
}
