/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * deadman.c - a consumer that takes a CPU for itself is stopped; see engine.h and fire.h
 *
 * Probe context.  One clause of about sixteen is timed, so that the others pay for a counter and
 * no more; which one is left to chance, because clauses may come in turns.
 * Time that a hypervisor took away counts as well, though not much of it in one clause (docs/design/0029-deadman.md).
 */
#include "engine/run/fire.h"

/* Clauses from one that is timed to the next: 1 to 32, so one stands for 16. */
#define SAMPLE_MASK 31u
#define SAMPLE_MEAN 16u
/* Whatever is beyond it, the machine did not run: one such time alone, counted for SAMPLE_MEAN
 * clauses, is not the end. */
#define CLAUSE_NS_MAX 400000000ull

__probe_ctx static uint64_t ticks_of(const struct dbk_engine *engine, uint64_t ns)
{
	return engine->ticks_per_second / 1000 * (ns / 1000000);
}

/* Marsaglia's xorshift: every state but 0, in an order without pattern. */
__probe_ctx static uint32_t next_random(uint32_t *state)
{
	uint32_t x = *state + (*state == 0);

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}

__probe_ctx void dbk_deadman(struct dbk_cpu *cpu, struct dbk_consumer *consumer,
			     uint64_t began_ticks)
{
	const struct dbk_engine *engine = consumer->engine;
	struct dbk_buffer *buffer = &consumer->buffers[cpu->index];
	uint64_t now = dbk_host_ticks(), took = now - began_ticks;
	uint64_t most = ticks_of(engine, CLAUSE_NS_MAX);

	cpu->unsampled = next_random(&cpu->sample_state) & SAMPLE_MASK;
	if (now - buffer->deadman_ticks > ticks_of(engine, DBK_DEADMAN_WINDOW_NS)) {
		buffer->deadman_ticks = now;
		buffer->busy_kiloticks = 0;
	}
	buffer->busy_kiloticks += (uint32_t)((took < most ? took : most) * SAMPLE_MEAN / 1024);
	if (buffer->busy_kiloticks > ticks_of(engine, DBK_DEADMAN_BUSY_NS) / 1024 &&
	    !consumer->immortal)
		dbk_turn_off(consumer, DBK_ACTIVITY_KILLED, 0, 0);
}
