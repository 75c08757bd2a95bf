/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* chain.c - loads, each from what the one before loaded, without the interpreter; see lowered.h */
#include "engine/run/simple.h"

/* A load that says nothing of its fault.  The engine's own memory is the host's as well. */
__probe_ctx_inline static bool peek(void *to, uint64_t address, uint32_t bytes)
{
	if (dbk_host_readable(address) < bytes)
		return dbk_host_load(to, address, bytes);
	memmove(to, (const void *)(uintptr_t)address, bytes);
	return true;
}

__probe_ctx_inline static uint64_t finish(const struct dbk_chain *chain, uint64_t value)
{
	if (chain->op == DBK_IOP_NOP)
		return value;
	if (chain->op != DBK_IOP_CALL)
		return dbk_binary(chain->op, value, chain->constant);
	if (chain->constant == 2)
		return __builtin_bswap16((uint16_t)value);
	return chain->constant == 4 ? __builtin_bswap32((uint32_t)value) : __builtin_bswap64(value);
}

/* From the base's value to the chain's; false: a load faults.  @entered: a constant, the ECB was
 * entered, so that the fault can be noted as the interpreter would. */
__probe_ctx_inline static bool follow(struct dbk_cpu *cpu, const struct dbk_chain *chain,
				      bool entered, uint64_t *value)
{
	const struct dbk_link *link = chain->links, *end = link + chain->link_count;

	for (; link != end; link++) {
		uint64_t address = *value + link->offset, loaded = 0;
		uint32_t bytes = DBK_LOAD_BYTES(link->load);

		if (unlikely(!(entered ? dbk_load(cpu, &loaded, address, bytes)
				       : peek(&loaded, address, bytes)))) {
			if (entered)
				cpu->fault_pc = link->pc;
			return false;
		}
		*value = dbk_extend(loaded, link->load);
		if (unlikely(*value == 0) && link == &chain->links[chain->null_at]) {
			*value = chain->null_value;
			return true;
		}
	}
	*value = finish(chain, *value);
	return true;
}

__probe_ctx uint64_t dbk_chain_value(struct dbk_cpu *cpu, const struct dbk_chain *chain)
{
	uint64_t value = dbk_operand_value(cpu, chain->base_kind, chain->base, chain->consumer,
					   cpu->probe, cpu->args, cpu->frame);

	return follow(cpu, chain, true, &value) ? value : 0;
}

__probe_ctx bool dbk_simple_chain(struct dbk_cpu *cpu, const struct dbk_step *step, uint8_t *base,
				  const uint64_t *args, void *frame)
{
	const struct dbk_chain *chain = step->expr.chain;
	uint64_t value = dbk_operand_value(cpu, chain->base_kind, chain->base, chain->consumer,
					   cpu->ecb->probe, args, frame);

	if (unlikely(!follow(cpu, chain, false, &value)))
		return false;
	dbk_store_step(step, base, value);
	return true;
}
