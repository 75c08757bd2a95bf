/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * fire.h - a firing: gate, predicate, record; for every ECB of the probe
 *
 * Most programs compare and store a few integers that are known without running
 * anything, so there are ways that do nothing else: enum dbk_tier, and simple.h.
 * Everything else goes through dbk_run_plan().
 *
 * An ECB that faults stores nothing.  After it, the ERROR probe's ECBs of the same
 * consumer run, with what went wrong as arguments; a fault in one of those is a
 * DBLERROR drop and fires nothing.
 */
#ifndef DBK_ENGINE_FIRE_H
#define DBK_ENGINE_FIRE_H

#include "engine/memory/buffer.h"
#include "engine/run/dif.h"

#define compiler_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/** struct dbk_own_firing - a firing of one of the engine's own probes, for one consumer */
struct dbk_own_firing {
	struct dbk_consumer *consumer;
	struct dbk_probe *probe; /* BEGIN or END */
	uint32_t gates;		 /* DBK_GATE_ bits, open meanwhile */
};

/** dbk_fire_own() - fires @own_firing, a struct dbk_own_firing, on this CPU; with option cpu this
 * CPU is that one, or nothing fires.  @cpu: what dbk_host_on_cpu() passes, not looked at.  Context:
 * the control path; disables interrupts itself */
void dbk_fire_own(void *own_firing, uint32_t cpu);

/** dbk_consumer_missed() - counts in @cpu's buffer that @consumer, a struct dbk_consumer, misses
 * firings: as one, for their number is not known, and of no known probe.  Context: as dbk_host_on_cpu()
 * calls it */
void dbk_consumer_missed(void *consumer, uint32_t cpu);

/** dbk_fire() - dbk_probe_fire(), whatever ECBs the probe has.  Probe context */
void dbk_fire(struct dbk_probe *probe, const uint64_t *args, void *frame);

_Static_assert((uint64_t)DBK_CPUS_MAX * sizeof(struct dbk_buffer) <= 0xffffffffu, "dbk_here()");

/** dbk_here() - where in every consumer's buffers this CPU's is.  32 bits: all of them are less than 4 GiB,
 * and the shift then is the index's widening as well */
static __probe_ctx_inline uint32_t dbk_here(void)
{
	return dbk_host_cpu() * (uint32_t)sizeof(struct dbk_buffer);
}

static __probe_ctx_inline struct dbk_buffer *dbk_buffer_at(const struct dbk_ecb *ecb, uint32_t here)
{
	return (struct dbk_buffer *)(void *)((uint8_t *)ecb->buffers + here);
}

/** dbk_buffer_here() - what the ECB's consumer has on this CPU */
static __probe_ctx_inline struct dbk_buffer *dbk_buffer_here(const struct dbk_ecb *ecb)
{
	return dbk_buffer_at(ecb, dbk_here());
}

/** dbk_run_plan() - all steps of cpu->ecb's plan, and its record.  On a fault *action_ret is the
 * number of the action from 1.  Probe context */
void dbk_run_plan(struct dbk_cpu *cpu, uint32_t *action_ret);

/** dbk_act() - a destructive action of DTRACEACT_ @kind; false after a fault.  Probe context */
bool dbk_act(struct dbk_cpu *cpu, uint32_t kind, uint64_t value);

/** dbk_turn_off() - from probe context: @activity if the consumer is starting or active, with
 * @status for its exit status, and only @gates stay open; false if it was neither */
bool dbk_turn_off(struct dbk_consumer *consumer, enum dbk_activity activity, uint32_t gates,
		  int32_t status);

/** dbk_deadman() - books a clause of this CPU that ended just now, and ends the consumer if it
 * takes too much.  Probe context */
void dbk_deadman(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint64_t began_ticks);

/** dbk_exit() - exit(): no ECB of the consumer runs after this clause.  Probe context */
void dbk_exit(struct dbk_cpu *cpu, int32_t status);

/** dbk_expr_rest() - the kinds that are not inlined */
uint64_t dbk_expr_rest(struct dbk_cpu *cpu, const struct dbk_expr *expr);

/** dbk_expr_value() - an expression's integer, or the address of what it refers to */
static __probe_ctx_inline uint64_t dbk_expr_value(struct dbk_cpu *cpu, const struct dbk_expr *expr,
						  const struct dbk_probe *probe,
						  const uint64_t *args, void *frame)
{
	if (likely(expr->kind == DBK_EXPR_ARG))
		return dbk_argument(probe, args, frame, expr->operand);
	return dbk_expr_rest(cpu, expr);
}

/** dbk_store_integer() - the low @size bytes of @value */
static __probe_ctx_inline void dbk_store_integer(uint8_t *to, uint64_t value, uint32_t size)
{
	if (likely(size == 8))
		*(uint64_t *)to = value;
	else if (size == 4)
		*(uint32_t *)to = (uint32_t)value;
	else if (size == 2)
		*(uint16_t *)to = (uint16_t)value;
	else
		*to = (uint8_t)value;
}

/** dbk_zero_words() - @bytes is a multiple of 8 */
static __probe_ctx_inline void dbk_zero_words(uint8_t *to, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes; i += 8)
		*(uint64_t *)(to + i) = 0;
}

#endif /* DBK_ENGINE_FIRE_H */
