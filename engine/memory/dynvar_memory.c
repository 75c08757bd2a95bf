/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* dynvar_memory.c - chunks, buckets and seats of dynamic variables, as dynvarsize says; see dynvar.h.
 * Control path */
#include "engine/memory/dynvar.h"
#include "engine/memory/dynvar_chunks.h"

#define LINES_MIN 16u
#define LINES_MAX 65536u /* 4 MiB */

static uint32_t power_of_two_from(uint64_t n)
{
	uint32_t power = 1;

	while (power < n && power < (1u << 30))
		power <<= 1;
	return power;
}

/* Deals the chunks out to the CPUs' free lists: neighbours to the same, the first of them first.
 * Who needs another's looks at its neighbour's first. */
static void deal_chunks(struct dbk_dynvars *dynvars)
{
	uint32_t number, i;

	dbk_assert(dynvars->chunk_count != 0 && dynvars->free_count != 0);
	for (number = dynvars->chunk_count; number > 0; number--) {
		uint64_t cpu = (uint64_t)(number - 1) * dynvars->free_count / dynvars->chunk_count;
		uint64_t *list = &dynvars->free[cpu].head;

		dbk_chunk(dynvars, number)->next = (uint32_t)*list;
		*list = number;
	}
	for (i = 0; i < dynvars->free_count; i++)
		dynvars->free[i].search = (i + 1) % dynvars->free_count;
}

static bool has_thread_scalars(const struct dbk_program *program)
{
	uint32_t i;

	for (i = 0; i < program->var_count; i++)
		if (program->vars[i].scope == DIFV_SCOPE_THREAD &&
		    program->vars[i].kind == DIFV_KIND_SCALAR)
			return true;
	return false;
}

/*
 * How many variables @bytes hold.  A size below the default holds as many as in
 * DTrace: a variable there has 64 bytes beside value and keys, and its share of the
 * table 64; there is room for at least one.  A larger size is all ours; that no two chunks share a
 * line of the cache is not taken from it.
 */
static uint32_t chunks_of(const struct dbk_dynvars *dynvars, uint64_t bytes)
{
	uint64_t classic = 64 + dynvars->data_bytes + dynvars->key_bytes, table;

	if (bytes >= DBK_DYNVARSIZE_DEFAULT)
		return (uint32_t)(bytes / (sizeof(struct dbk_dynvar) + dynvars->data_bytes +
					   dynvars->key_bytes));
	if (bytes < classic + 64)
		return 1;
	table = bytes / (classic + 64);
	if (table != 1)
		table &= ~1ull;
	bytes = (bytes - table * 64) / classic;
	return bytes == 0 ? 1 : (uint32_t)bytes;
}

/* As many seats as chunks, and no more than the threads of a large machine need: what finds none is
 * kept all the same. */
static uint32_t lines_of(const struct dbk_dynvars *dynvars)
{
	uint32_t lines = power_of_two_from(dynvars->chunk_count) / DBK_THREAD_SEATS;

	return lines < LINES_MIN ? LINES_MIN : lines > LINES_MAX ? LINES_MAX : lines;
}

int dbk_dynvars_init(struct dbk_consumer *consumer, uint64_t bytes)
{
	struct dbk_dynvars *dynvars = &consumer->dynvars;
	const struct dbk_program *program = consumer->program;
	uint32_t cpu_count = consumer->engine->cpu_count, lines;

	if (program->dynamic_data_bytes == 0)
		return 0;
	dynvars->data_bytes = program->dynamic_data_bytes;
	dynvars->key_bytes = program->dynamic_key_bytes;
	dynvars->chunk_bytes = (uint32_t)DBK_ROUND_UP(
		sizeof(struct dbk_dynvar) + dynvars->data_bytes + dynvars->key_bytes,
		DBK_CACHE_LINE_BYTES);
	dynvars->chunk_count = chunks_of(dynvars, bytes);
	dynvars->bucket_count = power_of_two_from(dynvars->chunk_count);
	dynvars->free_count = cpu_count;
	dynvars->secret = consumer->engine->cpus[0]->secret;
	lines = has_thread_scalars(program) ? lines_of(dynvars) : LINES_MIN;
	dynvars->line_shift = 64 - (uint32_t)__builtin_ctz(lines);
	dynvars->chunks = dbk_host_alloc((size_t)dynvars->chunk_count * dynvars->chunk_bytes);
	dynvars->free = dbk_host_alloc(power_of_two_from(cpu_count) * sizeof(*dynvars->free));
	dynvars->lines = dbk_host_alloc(lines * sizeof(*dynvars->lines));
	dynvars->buckets = dbk_host_alloc(dynvars->bucket_count * sizeof(*dynvars->buckets));
	if (dynvars->chunks == NULL || dynvars->buckets == NULL || dynvars->free == NULL ||
	    dynvars->lines == NULL) {
		dbk_dynvars_deinit(dynvars);
		return -ENOMEM;
	}
	deal_chunks(dynvars);
	return 0;
}

void dbk_dynvars_deinit(struct dbk_dynvars *dynvars)
{
	dbk_host_free(dynvars->chunks);
	dbk_host_free(dynvars->buckets);
	dbk_host_free(dynvars->free);
	dbk_host_free(dynvars->lines);
	memset(dynvars, 0, sizeof(*dynvars));
}
