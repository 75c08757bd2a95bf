/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* chain.c - loads, each from what the one before loaded, without the interpreter; see lowered.h */
#include "engine/run/simple.h"

__probe_ctx uint64_t dbk_chain_value(struct dbk_cpu *cpu, const struct dbk_chain *chain)
{
	uint64_t value = dbk_operand_value(cpu, chain->base_kind, chain->base, chain->consumer,
					   cpu->probe, cpu->args, cpu->frame);

	return dbk_follow(cpu, chain, true, &value) ? value : 0;
}

__probe_ctx bool dbk_simple_chain(struct dbk_cpu *cpu, const struct dbk_step *step, uint8_t *base,
				  const uint64_t *args, void *frame)
{
	const struct dbk_chain *chain = step->expr.chain;
	uint64_t value = dbk_operand_value(cpu, chain->base_kind, chain->base, chain->consumer,
					   cpu->ecb->probe, args, frame);

	if (unlikely(!dbk_follow(cpu, chain, false, &value)))
		return false;
	dbk_store_step(step, base, value);
	return true;
}
