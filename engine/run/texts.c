/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * texts.c - clauses of tier TEXTS: one aggregation whose key has a probe's names, or recorded texts
 *
 * Probe context.  The key is built without interpreter, scratch and faults; a text that is not at
 * hand is left to the general way, before anything is done.
 */
#include "engine/run/simple.h"

/* Copies the text of a step to @to, with zeros up to a multiple of 8 bytes.  Returns its length,
 * or -1: it is not at hand. */
__probe_ctx static int32_t copy_text(const struct dbk_ecb *ecb, const struct dbk_step *step,
				     const uint64_t *args, void *frame, uint64_t *to)
{
	const struct dbk_probe *probe = ecb->probe;
	const char *names[] = {probe->provider, probe->module, probe->function, probe->name};
	uint32_t most = step->bytes - 1;
	uint64_t address, bytes;

	if (step->expr.kind == DBK_EXPR_NAME) {
		uint32_t which = step->expr.operand - DIF_VAR_PROBEPROV;
		uint32_t length = ecb->name_bytes[which] < most ? ecb->name_bytes[which] : most;

		return (int32_t)dbk_text_copy_padded(to, names[which], length);
	}
	address = dbk_argument(probe, args, frame, step->expr.operand);
	bytes = dbk_host_readable(address);
	if (unlikely(bytes == 0))
		return -1;
	return (int32_t)dbk_text_take_padded(to, (const char *)(uintptr_t)address,
					     bytes < most ? bytes : most);
}

__probe_ctx bool dbk_run_texts(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
			       const struct dbk_ecb *ecb, const uint64_t *args, void *frame,
			       bool alone)
{
	const struct dbk_plan *plan = ecb->plan;
	const struct dbk_step *step = plan->steps + 1, *last = plan->steps_end - 1;
	uint32_t used = plan->aggregations[0].key_fixed_bytes;
	uint8_t *key = buffer->key;

	for (; step != last; step++) {
		int32_t length;

		if (step->kind == DBK_STEP_STORE) {
			dbk_store_step(step, key,
				       dbk_simple_value(cpu, &step->expr, ecb->probe, args, frame));
			continue;
		}
		length = step->kind == DBK_STEP_EXECNAME
				 ? (int32_t)dbk_copy_execname((uint64_t *)(key + used))
				 : copy_text(ecb, step, args, frame, (uint64_t *)(key + used));
		if (unlikely(length < 0))
			return false;
		/* struct dbk_tail_ref */
		dbk_store_step(step, key, used | (uint64_t)length << 16);
		used += ((uint32_t)length + 7) & ~7u;
	}
	dbk_count(&buffer->counters->firings, alone);
	cpu->ecb = ecb;
	cpu->buffer = buffer;
	dbk_simple_aggregate(cpu, last, used, args, frame);
	return true;
}
