/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * account.h - small buffers hold what DTrace's would
 *
 * A ring of Daybreak is at least a few segments, and stores strings at their
 * length.  A program that asks for 50 bytes of buffer wants to see what happens
 * when those are full.  Below a limit, sizes are therefore counted in the
 * bytes that DTrace's own buffers would use:
 *
 *   record        u32 EPID, then each value at its alignment, strings with strsize bytes
 *   aggregation   u32 id, the variable's id, keys likewise, then the cells; and the hash key
 *
 * The memory under it is always larger, so these counts decide.  Larger buffers
 * are not counted: they hold at least as much as was asked for.  Under policy
 * ring nothing is turned away: the reader leaves out what would be overwritten.
 */
#ifndef DBK_ENGINE_ACCOUNT_H
#define DBK_ENGINE_ACCOUNT_H

#include "engine/types/internal.h"

/* A principal buffer up to this many segments is counted: twice that many hold it. */
#define DBK_ACCOUNT_SEGMENTS 1u
/* An aggregation buffer up to this many bytes is counted: four times as many hold it. */
#define DBK_ACCOUNT_AGG_BYTES_MAX 65536u

/* A record or key in DTrace's layout, while it is added up. */
struct dbk_classic {
	uint32_t bytes;
	uint32_t align; /* of the record: the largest of its values, at least 4 */
};

/** dbk_classic_add() - one value of @bytes after what is there */
void dbk_classic_add(struct dbk_classic *classic, uint64_t bytes);

/** dbk_account_agg_room() - bytes for entries in an aggregation buffer of @aggsize: an eighth of it
 * is DTrace's hash table */
uint64_t dbk_account_agg_room(uint64_t aggsize);

/** dbk_account_end_reserve() - what policy fill keeps for the END clauses of @consumer */
uint64_t dbk_account_end_reserve(const struct dbk_consumer *consumer);

/** dbk_account_exit_bytes() - the largest record of a clause of BEGIN that calls exit(): without
 * room for it policy switch would drop it, and the consumer wait for ever */
uint64_t dbk_account_exit_bytes(const struct dbk_consumer *consumer);

/**
 * dbk_account_record() - makes room for a record of @ecb; false: a drop, counted
 *
 * The room is taken by dbk_account_commit(): a clause that faults takes none.
 * Context: Probe context.
 */
bool dbk_account_record(const struct dbk_ecb *ecb, struct dbk_buffer *buffer);

/** dbk_account_commit() - the record that room was made for exists.  Probe context */
static __probe_ctx_inline void dbk_account_commit(struct dbk_buffer *buffer)
{
	dbk_store_relaxed(&buffer->account.used_bytes, buffer->account.next_bytes);
}

/** dbk_account_commit_of() - takes the room of a speculation's records, @bytes in all; false: there
 * is none, and nothing was counted.  @end: what is kept for END may be used.  Probe context */
bool dbk_account_commit_of(const struct dbk_consumer *consumer, struct dbk_buffer *buffer,
			   uint32_t bytes, bool end);

/** dbk_account_entry() - counts an aggregation's new entry; false: it does not fit.  Probe context
 */
bool dbk_account_entry(const struct dbk_buffer *buffer, struct dbk_aggbuf *aggbuf,
		       const struct dbk_aggregation *aggregation);

/** dbk_account_release() - policy switch: the reader has what was recorded up to now */
void dbk_account_release(struct dbk_buffer *buffer);

#endif /* DBK_ENGINE_ACCOUNT_H */
