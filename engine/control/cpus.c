/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cpus.c - CPUs come and go: their memory, and the gates of every consumer's buffers
 *
 * A consumer has memory for the CPUs that are up when it is made.  One that comes
 * up later gets its own before it can fire, beside the control path: the two meet
 * in dbk_host_cpus_lock(), which holds the list of consumers, their lists of
 * regions, and who is up (docs/design/0030-memory.md).
 */
#include "engine/control/state.h"
#include "engine/memory/buffer.h"
#include "engine/memory/speculation.h"

/* What a firing on the CPU uses, whichever consumer's it is. */
static bool fill_cpu(struct dbk_cpu *cpu)
{
	if (cpu->scratch == NULL)
		cpu->scratch = dbk_host_alloc(DBK_SCRATCH_BYTES);
	if (cpu->strtok == NULL)
		cpu->strtok = dbk_host_alloc(DBK_STRSIZE_MAX);
	if (cpu->key == NULL)
		cpu->key = dbk_host_alloc(DBK_KEY_BYTES_MAX);
	return cpu->scratch != NULL && cpu->strtok != NULL && cpu->key != NULL;
}

static bool wanted(const struct dbk_consumer *consumer, uint32_t cpu)
{
	return consumer->engine->cpus[cpu]->up &&
	       (consumer->only_cpu == DBK_CPU_ALL || consumer->only_cpu == cpu);
}

uint32_t dbk_cpus_up(const struct dbk_engine *engine)
{
	uint32_t cpu, count = 0;

	for (cpu = 0; cpu < engine->cpu_count; cpu++)
		count += engine->cpus[cpu]->up;
	return count == 0 ? 1 : count;
}

/* ---- gates -------------------------------------------------------------------------------- */

static uint32_t gates_here(const struct dbk_consumer *consumer, const struct dbk_buffer *buffer,
			   uint32_t gates)
{
	if (consumer->only_cpu != DBK_CPU_ALL && consumer->only_cpu != buffer->cpu)
		return 0;
	if (buffer->ready)
		return gates;
	return (gates & DBK_GATE_ORDINARY) != 0 ? DBK_GATE_LOST : 0;
}

void dbk_gates_set(struct dbk_consumer *consumer, uint32_t gates)
{
	uint32_t cpu;

	dbk_host_cpus_lock();
	for (cpu = 0; cpu < consumer->engine->cpu_count; cpu++)
		dbk_store_release(&consumer->buffers[cpu].gate,
				  gates_here(consumer, &consumer->buffers[cpu], gates));
	dbk_host_cpus_unlock();
}

/* As they are on the other CPUs.  exit() may close those meanwhile, and has not seen this one. */
static void open_gates(struct dbk_consumer *consumer, struct dbk_buffer *buffer)
{
	uint32_t activity, gates;

	do {
		activity = dbk_load_acquire(&consumer->activity);
		gates = activity == DBK_ACTIVITY_ACTIVE	    ? DBK_GATE_ORDINARY | DBK_GATE_ERROR
			: activity == DBK_ACTIVITY_DRAINING ? DBK_GATE_ERROR
							    : 0;
		dbk_store_release(&buffer->gate, gates_here(consumer, buffer, gates));
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (dbk_load_relaxed(&consumer->activity) != activity);
}

/* ---- coming and going --------------------------------------------------------------------- */

int dbk_cpus_prepare(struct dbk_consumer *consumer, enum dbk_pages_from from)
{
	uint32_t cpu;
	int error = 0;

	for (cpu = 0; cpu < consumer->engine->cpu_count && error == 0; cpu++) {
		if (!wanted(consumer, cpu))
			continue;
		error = dbk_buffer_fill(consumer, &consumer->buffers[cpu], from);
		consumer->buffers[cpu].ready = error == 0 && fill_cpu(consumer->engine->cpus[cpu]);
	}
	return error;
}

bool dbk_cpu_prepare(struct dbk_consumer *consumer, uint32_t cpu, enum dbk_pages_from from)
{
	struct dbk_buffer *buffer = &consumer->buffers[cpu];

	if (buffer->ready || !wanted(consumer, cpu))
		return true;
	buffer->ready = fill_cpu(consumer->engine->cpus[cpu]) &&
			dbk_buffer_fill(consumer, buffer, from) == 0 &&
			dbk_specbufs_fill(consumer, buffer) == 0;
	open_gates(consumer, buffer);
	return buffer->ready;
}

bool dbk_engine_cpu_up(struct dbk_engine *engine, uint32_t cpu)
{
	struct dbk_consumer *consumer;
	bool complete;

	dbk_assert(cpu < engine->cpu_count);
	dbk_host_cpus_lock();
	engine->cpus[cpu]->up = true;
	complete = fill_cpu(engine->cpus[cpu]);
	for (consumer = engine->consumers; consumer != NULL; consumer = consumer->next)
		complete = dbk_cpu_prepare(consumer, cpu, DBK_PAGES_ANYWHERE) && complete;
	dbk_host_cpus_unlock();
	return complete;
}

void dbk_engine_cpu_down(struct dbk_engine *engine, uint32_t cpu)
{
	dbk_assert(cpu < engine->cpu_count);
	dbk_host_cpus_lock();
	engine->cpus[cpu]->up = false;
	dbk_host_cpus_unlock();
}
