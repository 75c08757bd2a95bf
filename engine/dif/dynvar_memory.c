/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* dynvar_memory.c - chunks and buckets of dynamic variables, as dynvarsize says; see dynvar.h.
 * Control path */
#include "engine/dif/dynvar.h"

static uint32_t power_of_two_from(uint64_t n)
{
	uint32_t power = 1;

	while (power < n && power < (1u << 30))
		power <<= 1;
	return power;
}

static struct dbk_dynvar *chunk_at(const struct dbk_dynvars *dynvars, uint32_t number)
{
	return (struct dbk_dynvar *)(dynvars->chunks +
				     (uint64_t)(number - 1) * dynvars->chunk_bytes);
}

/* Deals the chunks out to the CPUs' free lists. */
static void deal_chunks(struct dbk_dynvars *dynvars)
{
	uint32_t number;

	for (number = dynvars->chunk_count; number > 0; number--) {
		uint64_t *list = &dynvars->free[number % dynvars->free_count];

		chunk_at(dynvars, number)->next = (uint32_t)*list;
		*list = number;
	}
}

/*
 * How many variables @bytes hold.  A size below the default holds as many as in
 * DTrace: a variable there has 64 bytes beside value and keys, and its share of the
 * table 64; there is room for at least one.  A larger size is all ours.
 */
static uint32_t chunks_of(const struct dbk_dynvars *dynvars, uint64_t bytes)
{
	uint64_t classic = 64 + dynvars->data_bytes + dynvars->key_bytes, table;

	if (bytes >= DBK_DYNVARSIZE_DEFAULT)
		return (uint32_t)(bytes / dynvars->chunk_bytes);
	if (bytes < classic + 64)
		return 1;
	table = bytes / (classic + 64);
	if (table != 1)
		table &= ~1ull;
	bytes = (bytes - table * 64) / classic;
	return bytes == 0 ? 1 : (uint32_t)bytes;
}

int dbk_dynvars_init(struct dbk_dynvars *dynvars, const struct dbk_program *program, uint64_t bytes,
		     uint32_t cpu_count)
{
	if (program->dynamic_data_bytes == 0)
		return 0;
	dynvars->data_bytes = program->dynamic_data_bytes;
	dynvars->key_bytes = program->dynamic_key_bytes;
	dynvars->chunk_bytes =
		(uint32_t)sizeof(struct dbk_dynvar) + dynvars->data_bytes + dynvars->key_bytes;
	dynvars->chunk_count = chunks_of(dynvars, bytes);
	dynvars->bucket_count = power_of_two_from(dynvars->chunk_count);
	dynvars->free_count = cpu_count;
	dynvars->chunks = dbk_host_alloc((size_t)dynvars->chunk_count * dynvars->chunk_bytes);
	dynvars->buckets = dbk_host_alloc(dynvars->bucket_count * sizeof(*dynvars->buckets));
	dynvars->free = dbk_host_alloc(cpu_count * sizeof(*dynvars->free));
	if (dynvars->chunks == NULL || dynvars->buckets == NULL || dynvars->free == NULL) {
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
	memset(dynvars, 0, sizeof(*dynvars));
}
