/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dynvar_chunks.h - the chunks of dynamic variables, and the free lists that they come from
 *
 * Each CPU has a list of its own, on a line of the cache of its own, and takes from
 * another's only when that is empty.  At first it holds neighbours in memory.
 *
 * A machine may have thousands of CPUs, and what a store may cost is a flat sum
 * (docs/design/0028-work-of-a-firing.md): so it looks at a few lists, and the CPU's next
 * store goes on where it ended, at the list that had one last.
 */
#ifndef DBK_ENGINE_CHUNKS_H
#define DBK_ENGINE_CHUNKS_H

#include "engine/types/internal.h"

#define DBK_CHUNK_NONE	    0u
#define DBK_CHUNK_LOOKS_MAX 32u /* lists of others, in a store: 770 instructions if empty */

/** dbk_chunk() - the chunk with this index + 1 */
static __probe_ctx_inline struct dbk_dynvar *dbk_chunk(const struct dbk_dynvars *dynvars,
						       uint32_t number)
{
	return (struct dbk_dynvar *)(dynvars->chunks +
				     (uint64_t)(number - 1) * dynvars->chunk_bytes);
}

/** dbk_next_head() - of a list that begins with @number now.  The upper half counts changes, so that
 * a list which looks the same is the same */
static __probe_ctx_inline uint64_t dbk_next_head(uint64_t head, uint32_t number)
{
	return (((head >> 32) + 1) << 32) | number;
}

/** dbk_chunk_take_own() - one of the CPU's own list, or DBK_CHUNK_NONE: that is empty, or another CPU
 * took one just now */
static __probe_ctx_inline uint32_t dbk_chunk_take_own(struct dbk_dynvars *dynvars, uint32_t cpu)
{
	uint64_t *list = &dynvars->free[cpu].head, head = dbk_load_acquire(list);
	uint32_t number = (uint32_t)head;

	/* `next` may be another's by now, who took the chunk: then the list has changed, too. */
	if (likely(number != DBK_CHUNK_NONE) &&
	    likely(dbk_compare_swap(
		    list, &head,
		    dbk_next_head(head, dbk_load_relaxed(&dbk_chunk(dynvars, number)->next)))))
		return number;
	return DBK_CHUNK_NONE;
}

/** dbk_chunk_take() - one that is free, of the CPU's list or one of DBK_CHUNK_LOOKS_MAX others, or
 * DBK_CHUNK_NONE */
uint32_t dbk_chunk_take(struct dbk_dynvars *dynvars, uint32_t cpu);

/** dbk_chunk_give() - the chunk is free again */
static __probe_ctx_inline void dbk_chunk_give(struct dbk_dynvars *dynvars, uint32_t cpu,
					      uint32_t number)
{
	uint64_t *list = &dynvars->free[cpu].head;
	uint64_t head = dbk_load_acquire(list);

	/* Others only ever take from this list, so this ends when they have taken all. */
	do
		dbk_store_relaxed(&dbk_chunk(dynvars, number)->next, (uint32_t)head);
	while (!dbk_compare_swap(list, &head, dbk_next_head(head, number)));
}

#endif /* DBK_ENGINE_CHUNKS_H */
