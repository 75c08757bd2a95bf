/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* account.c - small buffers hold what DTrace's would; see account.h */
#include "engine/memory/account.h"
#include "engine/memory/buffer.h"

/* dtrace's buffer of aggregations ends with 24 bytes and its table; an entry has a key of 24. */
#define AGG_TRAILER_BYTES 24u
#define AGG_KEY_BYTES	  24u

/* ---- control path ------------------------------------------------------------------ */

void dbk_classic_add(struct dbk_classic *classic, uint64_t bytes)
{
	uint32_t align = 8;

	while ((bytes & (align - 1)) != 0)
		align >>= 1;
	if (align > classic->align)
		classic->align = align;
	classic->bytes = (uint32_t)(DBK_ROUND_UP(classic->bytes, align) + bytes);
}

uint64_t dbk_account_agg_room(uint64_t aggsize)
{
	uint64_t bytes = aggsize & ~7ull, table = (bytes >> 3) & ~7ull;

	return bytes < AGG_TRAILER_BYTES + table || table == 0 ? 1
							       : bytes - AGG_TRAILER_BYTES - table;
}

static bool records(const struct dbk_plan *plan, uint32_t own_gate)
{
	return plan->has_record && (plan->own_gates & own_gate) != 0;
}

uint64_t dbk_account_end_reserve(const struct dbk_consumer *consumer)
{
	const struct dbk_plan *plans = consumer->plans;
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < consumer->plan_count; i++)
		if (records(&plans[i], DBK_GATE_END))
			bytes += plans[i].classic_bytes + plans[i].classic_align;
	return bytes;
}

static bool exits(const struct dbk_plan *plan)
{
	uint32_t i;

	for (i = 0; i < plan->step_count; i++)
		if (plan->steps[i].kind == DBK_STEP_EXIT)
			return true;
	return false;
}

uint64_t dbk_account_exit_bytes(const struct dbk_consumer *consumer)
{
	const struct dbk_plan *plans = consumer->plans;
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < consumer->plan_count; i++)
		if (plans[i].classic_bytes > bytes && exits(&plans[i]) &&
		    records(&plans[i], DBK_GATE_BEGIN))
			bytes = plans[i].classic_bytes;
	return bytes;
}

void dbk_account_release(struct dbk_buffer *buffer)
{
	dbk_store_release(&buffer->account.released_bytes,
			  dbk_load_relaxed(&buffer->account.used_bytes));
}

/* ---- probe context -------------------------------------------------------------------- */

__probe_ctx bool dbk_account_record(const struct dbk_ecb *ecb, struct dbk_buffer *buffer)
{
	struct dbk_account *account = &buffer->account;
	const struct dbk_plan *plan = ecb->plan;
	uint64_t released = dbk_load_acquire(&account->released_bytes), in_buffer, align;
	uint32_t policy = ecb->consumer->policy;

	if (!plan->has_record)
		return true;
	align = plan->classic_align - 1u;
	in_buffer = (account->used_bytes - released + align) & ~align;
	in_buffer += plan->classic_bytes;
	if (policy == DBK_POLICY_SWITCH && in_buffer > account->limit_bytes) {
		dbk_drop(buffer, DBK_DROP_PRINCIPAL);
		return false;
	}
	if (policy == DBK_POLICY_FILL && ecb->gate != DBK_GATE_END &&
	    (account->full || in_buffer > account->limit_bytes - account->reserve_bytes)) {
		account->full = true;
		dbk_drop(buffer, DBK_DROP_FILLED);
		return false;
	}
	account->next_bytes = released + in_buffer;
	return true;
}

__probe_ctx bool dbk_account_commit_of(const struct dbk_consumer *consumer,
				       struct dbk_buffer *buffer, uint32_t bytes, bool end)
{
	struct dbk_account *account = &buffer->account;
	uint64_t released = dbk_load_acquire(&account->released_bytes);
	uint64_t in_buffer = DBK_ROUND_UP(account->used_bytes - released, 8) + bytes;
	uint64_t room = account->limit_bytes;

	if (room == 0)
		return true;
	if (consumer->policy == DBK_POLICY_FILL && !end) {
		room -= account->reserve_bytes;
		if (account->full || in_buffer > room) {
			account->full = true;
			return false;
		}
	}
	if (consumer->policy == DBK_POLICY_SWITCH && in_buffer > room)
		return false;
	dbk_store_relaxed(&account->used_bytes, released + in_buffer);
	return true;
}

__probe_ctx bool dbk_account_entry(const struct dbk_buffer *buffer, struct dbk_aggbuf *aggbuf,
				   const struct dbk_aggregation *aggregation)
{
	uint64_t bytes =
		DBK_ROUND_UP(aggbuf->classic_bytes, 8) + aggregation->classic_bytes + AGG_KEY_BYTES;

	if (buffer->account.agg_limit_bytes == 0)
		return true;
	if (bytes > buffer->account.agg_limit_bytes)
		return false;
	aggbuf->classic_bytes = bytes;
	return true;
}
