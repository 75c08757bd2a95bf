/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* engine.c - the engine itself, and the probes that hosts publish */
#include "engine/api/trigger.h"
#include "engine/control/state.h"
#include "engine/run/fire.h"

static void init_own_probe(struct dbk_engine *engine, struct dbk_probe *probe, const char *name)
{
	probe->provider = "dtrace";
	probe->module = "";
	probe->function = "";
	probe->name = name;
	dbk_probe_args_in_order(probe, 6); /* ERROR's are the most */
	dbk_probe_add(engine, probe);
}

static struct dbk_cpu *create_cpu(uint32_t index, const struct dbk_secret *secret)
{
	struct dbk_cpu *cpu = dbk_host_alloc(sizeof(*cpu));
	uint32_t package = 0, node = 0;

	if (cpu == NULL)
		return NULL;
	cpu->index = index;
	cpu->secret = *secret;
	dbk_host_cpu_place(index, &package, &node);
	cpu->info.id = (int32_t)index;
	cpu->info.chip = (int32_t)package;
	cpu->info.lgrp = (int32_t)node;
	return cpu;
}

struct dbk_engine *dbk_engine_create(const struct dbk_engine_config *config)
{
	struct dbk_secret secret = {dbk_host_secret(), dbk_host_secret() | 1};
	struct dbk_engine *engine;
	uint32_t i;

	if (config->cpu_count == 0 || config->cpu_count > DBK_CPUS_MAX ||
	    config->clock > DBK_CLOCK_TSC || config->ticks_per_second == 0)
		return NULL;
	engine = dbk_host_alloc(sizeof(*engine));
	if (engine == NULL)
		return NULL;
	engine->cpu_count = config->cpu_count;
	engine->clock = config->clock;
	engine->ticks_per_second = config->ticks_per_second;
	engine->boot_id = config->boot_id;
	engine->next_probe_id = 1;
	engine->cpus = dbk_host_alloc(engine->cpu_count * sizeof(*engine->cpus));
	for (i = 0; engine->cpus != NULL && i < engine->cpu_count; i++) {
		engine->cpus[i] = create_cpu(i, &secret);
		if (engine->cpus[i] == NULL)
			break;
	}
	if (i < engine->cpu_count || engine->cpus == NULL || !dbk_triggers_create(engine)) {
		dbk_engine_destroy(engine);
		return NULL;
	}
	init_own_probe(engine, &engine->begin, "BEGIN");
	init_own_probe(engine, &engine->end, "END");
	init_own_probe(engine, &engine->error, "ERROR");
	return engine;
}

void dbk_engine_destroy(struct dbk_engine *engine)
{
	uint32_t i;

	if (engine == NULL)
		return;
	dbk_assert(engine->consumers == NULL && engine->batch == 0);
	for (i = 0; engine->cpus != NULL && i < engine->cpu_count; i++) {
		if (engine->cpus[i] == NULL)
			continue;
		dbk_host_free(engine->cpus[i]->scratch);
		dbk_host_free(engine->cpus[i]->strtok);
		dbk_host_free(engine->cpus[i]->key);
		dbk_host_free(engine->cpus[i]);
	}
	dbk_host_free(engine->cpus);
	dbk_triggers_destroy(engine);
	dbk_host_free(engine);
}

/* ---- probes ----------------------------------------------------------------------- */

static bool name_fits(const char *name)
{
	uint32_t bytes = 0;

	if (name == NULL)
		return false;
	while (name[bytes] != '\0')
		if (++bytes > DBK_PROBE_NAME_BYTES_MAX)
			return false;
	return true;
}

static int check_probe(const struct dbk_probe *probe)
{
	if (!name_fits(probe->provider) || !name_fits(probe->module) ||
	    !name_fits(probe->function) || !name_fits(probe->name) ||
	    probe->arg_count > DBK_PROBE_ARGS_MAX)
		return -EINVAL;
	return 0;
}

bool dbk_probe_is_own(const struct dbk_engine *engine, const struct dbk_probe *probe)
{
	return probe == &engine->begin || probe == &engine->end || probe == &engine->error;
}

/* A MISSED drop of each consumer for each of its probes with an id of [@from, @until) that is not armed. */
static void count_unarmed(const struct dbk_engine *engine, uint32_t from, uint32_t until)
{
	const struct dbk_consumer *last;
	const struct dbk_probe *probe;
	const struct dbk_ecb *ecb;

	for (probe = engine->probes; probe != NULL; probe = probe->next) {
		if (probe->id < from || probe->id >= until || probe->ecbs == NULL ||
		    dbk_host_probe_is_armed(probe))
			continue;
		/* The ECBs of a consumer stand together. */
		for (ecb = probe->ecbs, last = NULL; ecb != NULL; ecb = ecb->next) {
			if (ecb->consumer != last)
				dbk_host_on_cpu(0, dbk_consumer_missed, ecb->consumer);
			last = ecb->consumer;
		}
	}
}

int dbk_engine_settle(struct dbk_engine *engine, int error)
{
	uint32_t from = engine->unsettled_id, until = engine->next_probe_id;
	int settled;

	if (engine->batch != 0)
		return error;
	/* What the host adds meanwhile is settled for itself. */
	engine->unsettled_id = 0;
	settled = dbk_host_probes_settle();
	if (settled != 0 && from != 0)
		count_unarmed(engine, from, until);
	return error != 0 ? error : settled;
}

static int match_consumers(struct dbk_engine *engine, struct dbk_probe *probe)
{
	struct dbk_consumer *consumer;
	int error = 0, one;
	bool matched, any = false;

	for (consumer = engine->consumers; consumer != NULL; consumer = consumer->next) {
		if (!consumer->enabled)
			continue;
		one = dbk_ecbs_add(consumer, probe, &matched);
		any = any || matched;
		if (one != 0)
			dbk_host_on_cpu(0, dbk_consumer_missed, consumer);
		if (one != 0 && error == 0)
			error = one;
	}
	if (!any)
		return error;
	if (engine->unsettled_id == 0)
		engine->unsettled_id = probe->id;
	return dbk_engine_settle(engine, error);
}

bool dbk_probe_is_awaited(const struct dbk_engine *engine, const struct dbk_probe *probe)
{
	const struct dbk_consumer *consumer;
	uint32_t i;

	for (consumer = engine->consumers; consumer != NULL; consumer = consumer->next)
		for (i = 0; consumer->enabled && i < consumer->program->probedesc_count; i++) {
			const struct dbk_probedesc *description = &consumer->program->probedescs[i];

			/* It has no id of its own yet. */
			if (description->id != 0 ? description->id == engine->next_probe_id
						 : dbk_probedesc_match(description, probe))
				return true;
		}
	return false;
}

int dbk_probe_add(struct dbk_engine *engine, struct dbk_probe *probe)
{
	int error = check_probe(probe);

	if (error != 0)
		return error;
	probe->id = engine->next_probe_id++;
	probe->ecbs = NULL;
	probe->next = NULL;
	probe->engine_flags = 0;
	if (engine->last_probe == NULL)
		engine->probes = probe;
	else
		engine->last_probe->next = probe;
	engine->last_probe = probe;
	engine->probe_count++;
	error = match_consumers(engine, probe);
	if (error != 0 && engine->batch_error == 0)
		engine->batch_error = error;
	return error;
}

void dbk_engine_probe_ids_from(struct dbk_engine *engine, uint32_t id)
{
	if (engine->next_probe_id < id)
		engine->next_probe_id = id;
}

void dbk_probe_add_begin(struct dbk_engine *engine)
{
	if (engine->batch++ == 0)
		engine->batch_error = 0;
}

int dbk_probe_add_end(struct dbk_engine *engine)
{
	dbk_assert(engine->batch != 0);
	if (--engine->batch != 0)
		return 0;
	return dbk_engine_settle(engine, engine->batch_error);
}

/* One pass over the list takes out all that are flagged. */
static void unlink_flagged(struct dbk_engine *engine)
{
	struct dbk_probe **link = &engine->probes, *last = NULL;

	while (*link != NULL) {
		if (((*link)->engine_flags & DBK_PROBE_GOING) != 0) {
			*link = (*link)->next;
			engine->probe_count--;
		} else {
			last = *link;
			link = &last->next;
		}
	}
	engine->last_probe = last;
}

void dbk_probe_remove_many(struct dbk_engine *engine, struct dbk_probe **probes, uint32_t count)
{
	struct dbk_ecb *gone = NULL, *ecbs;
	bool disabled = false;
	uint32_t i;

	for (i = 0; i < count; i++) {
		probes[i]->engine_flags |= DBK_PROBE_GOING;
		ecbs = dbk_ecbs_unlink_probe(probes[i]);
		if (ecbs == NULL)
			continue;
		dbk_host_probe_disable(probes[i]);
		disabled = true;
		/* Each list ends where it did: a firing may stand on its last ECB. */
		ecbs->next_gone = gone;
		gone = ecbs;
	}
	unlink_flagged(engine);
	if (disabled)
		dbk_engine_settle(engine, 0);
	/* Even without ECBs: a firing may just be looking for some. */
	dbk_host_synchronize();
	while ((ecbs = gone) != NULL) {
		gone = ecbs->next_gone;
		dbk_ecbs_free(ecbs);
	}
}

void dbk_probes_remove_unused(struct dbk_engine *engine, const void *host_data)
{
	struct dbk_probe *probe;

	for (probe = engine->probes; probe != NULL; probe = probe->next)
		if (probe->host_data == host_data && probe->ecbs == NULL)
			probe->engine_flags |= DBK_PROBE_GOING;
	unlink_flagged(engine);
}

void dbk_probe_remove(struct dbk_engine *engine, struct dbk_probe *probe)
{
	dbk_probe_remove_many(engine, &probe, 1);
}

uint32_t dbk_engine_probe_count(const struct dbk_engine *engine)
{
	return engine->probe_count;
}

struct dbk_probe *dbk_engine_probe_at(const struct dbk_engine *engine, uint32_t index)
{
	struct dbk_probe *probe = engine->probes;

	while (probe != NULL && index-- > 0)
		probe = probe->next;
	return probe;
}
