/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* work.h - how a clause ends before its last action: a fault, or the limit of work.  Probe context */
#ifndef DBK_ENGINE_WORK_H
#define DBK_ENGINE_WORK_H

#include "engine/types/internal.h"

/** dbk_fault() - notes the fault that ends this clause; the first one counts.  Returns 0 */
static __probe_ctx_inline uint64_t dbk_fault(struct dbk_cpu *cpu, uint32_t code, uint64_t address)
{
	if (!cpu->fault_set) {
		cpu->fault_set = true;
		cpu->fault = code;
		cpu->fault_address = address;
	}
	return 0;
}

/** dbk_affords() - takes @units from what the firing may still cost; false: not so much is left */
static __probe_ctx_inline bool dbk_affords(struct dbk_cpu *cpu, uint64_t units)
{
	if (unlikely(units > cpu->work_left))
		return false;
	cpu->work_left -= (uint32_t)units;
	return true;
}

/** dbk_spend() - the same; false after a WORK fault, and then nothing is left */
static __probe_ctx_inline bool dbk_spend(struct dbk_cpu *cpu, uint64_t units)
{
	if (likely(dbk_affords(cpu, units)))
		return true;
	cpu->work_left = 0;
	dbk_fault(cpu, DTRACEFLT_WORK, 0);
	return false;
}

/** dbk_work_begin() - what a consumer's clauses may cost in a firing, from the first of them on */
static __probe_ctx_inline void dbk_work_begin(struct dbk_cpu *cpu,
					      const struct dbk_consumer *consumer)
{
	if (cpu->work_serial == cpu->serial && cpu->work_consumer == consumer)
		return;
	cpu->work_serial = cpu->serial;
	cpu->work_consumer = consumer;
	cpu->work_left = DBK_WORK_FIRING;
	cpu->error_work_left = DBK_WORK_ERROR;
}

#endif /* DBK_ENGINE_WORK_H */
