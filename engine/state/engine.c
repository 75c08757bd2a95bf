/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* engine.c - the engine itself, and the probes that hosts publish */
#include "engine/buffer/buffer.h"
#include "engine/state/state.h"

static void init_own_probe(struct dbk_engine *engine, struct dbk_probe *probe, const char *name)
{
	probe->provider = "dtrace";
	probe->module = "";
	probe->function = "";
	probe->name = name;
	dbk_probe_args_in_order(probe, 6); /* ERROR's are the most */
	dbk_probe_add(engine, probe);
}

static struct dbk_cpu *create_cpu(uint32_t index)
{
	struct dbk_cpu *cpu = dbk_host_alloc(sizeof(*cpu));
	uint32_t package = 0, node = 0;

	if (cpu == NULL)
		return NULL;
	cpu->index = index;
	dbk_host_cpu_place(index, &package, &node);
	cpu->info.id = (int32_t)index;
	cpu->info.chip = (int32_t)package;
	cpu->info.lgrp = (int32_t)node;
	cpu->scratch = dbk_host_alloc(DBK_SCRATCH_BYTES);
	cpu->strtok = dbk_host_alloc(DBK_STRSIZE_MAX);
	cpu->key = dbk_host_alloc(DBK_KEY_BYTES_MAX);
	return cpu;
}

struct dbk_engine *dbk_engine_create(const struct dbk_engine_config *config)
{
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
		engine->cpus[i] = create_cpu(i);
		if (engine->cpus[i] == NULL || engine->cpus[i]->scratch == NULL ||
		    engine->cpus[i]->strtok == NULL || engine->cpus[i]->key == NULL)
			break;
	}
	if (i < engine->cpu_count || engine->cpus == NULL) {
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
	for (i = 0; engine->cpus != NULL && i < engine->cpu_count; i++) {
		if (engine->cpus[i] == NULL)
			continue;
		dbk_host_free(engine->cpus[i]->scratch);
		dbk_host_free(engine->cpus[i]->strtok);
		dbk_host_free(engine->cpus[i]->key);
		dbk_host_free(engine->cpus[i]);
	}
	dbk_host_free(engine->cpus);
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

/* The engine's own need no arming. */
static bool is_own(const struct dbk_engine *engine, const struct dbk_probe *probe)
{
	return probe == &engine->begin || probe == &engine->end || probe == &engine->error;
}

static int settle(struct dbk_engine *engine, int error)
{
	int settled = 0;

	if (engine->batch == 0)
		settled = dbk_host_probes_settle();
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
		if (one != 0 && error == 0)
			error = one;
	}
	return any ? settle(engine, error) : error;
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

void dbk_probe_add_begin(struct dbk_engine *engine)
{
	if (engine->batch++ == 0)
		engine->batch_error = 0;
}

int dbk_probe_add_end(struct dbk_engine *engine)
{
	if (--engine->batch != 0)
		return 0;
	return settle(engine, engine->batch_error);
}

/* One pass over the list takes out all that are flagged. */
static void unlink_flagged(struct dbk_engine *engine)
{
	struct dbk_probe **link = &engine->probes, *last = NULL;

	while (*link != NULL) {
		if ((*link)->engine_flags != 0) {
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
	struct dbk_ecb *chain = NULL, *ecbs, *last;
	bool disabled = false;
	uint32_t i;

	for (i = 0; i < count; i++) {
		probes[i]->engine_flags = 1;
		ecbs = dbk_ecbs_unlink_probe(probes[i]);
		if (ecbs == NULL)
			continue;
		dbk_host_probe_disable(probes[i]);
		disabled = true;
		for (last = ecbs; last->next != NULL; last = last->next)
			;
		last->next = chain;
		chain = ecbs;
	}
	unlink_flagged(engine);
	if (disabled)
		settle(engine, 0);
	/* Even without ECBs: a firing may just be looking for some. */
	dbk_host_synchronize();
	dbk_ecbs_free_chain(chain);
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

/* ---- ECBs of probes ------------------------------------------------------------------- */

/* Whether argument @index is among those that a firing of @probe brings along. */
static bool has_argument(const struct dbk_probe *probe, uint32_t index)
{
	return index < probe->arg_count;
}

/* What the hot path looks at; see struct dbk_ecb. */
static void prepare(struct dbk_ecb *ecb)
{
	const struct dbk_plan *plan = ecb->plan;
	const struct dbk_probe *probe = ecb->probe;
	const struct dbk_expr *left = &plan->predicate.left;
	uint32_t i;

	ecb->record_bytes = plan->fixed_bytes;
	ecb->predicate_kind = plan->predicate.kind;
	ecb->predicate_constant = plan->predicate.constant;
	if (ecb->predicate_kind == DBK_PREDICATE_EQUAL_ARG) {
		if (has_argument(probe, left->operand))
			ecb->predicate_word = probe->arg_word[left->operand];
		else
			ecb->predicate_kind = DBK_PREDICATE_OUTCOME;
	}
	ecb->quick_count = DBK_NOT_QUICK;
	if (plan->kind != DBK_PLAN_FAST || plan->step_count > DBK_QUICK_WORDS)
		return;
	for (i = 0; i < plan->step_count; i++) {
		const struct dbk_step *step = &plan->steps[i];

		if (step->expr.kind != DBK_EXPR_ARG || step->size != 8 ||
		    !has_argument(probe, step->expr.operand))
			return;
		ecb->quick_words[i] = probe->arg_word[step->expr.operand];
	}
	ecb->quick_count = (uint8_t)plan->step_count;
}

static struct dbk_ecb *make_ecb(struct dbk_consumer *consumer, struct dbk_probe *probe,
				const struct dbk_plan *plan, bool first)
{
	struct dbk_engine *engine = consumer->engine;
	struct dbk_ecb *ecb;

	ecb = dbk_host_alloc(sizeof(*ecb));
	if (ecb == NULL)
		return NULL;
	ecb->consumer = consumer;
	ecb->buffers = consumer->buffers;
	ecb->plan = plan;
	ecb->probe = probe;
	ecb->epid = consumer->next_epid;
	ecb->gate = probe == &engine->begin   ? DBK_GATE_BEGIN
		    : probe == &engine->end   ? DBK_GATE_END
		    : probe == &engine->error ? DBK_GATE_ERROR
					      : DBK_GATE_ORDINARY;
	prepare(ecb);
	if (dbk_meta_add_ecb(consumer, ecb, first) != 0) {
		dbk_host_free(ecb);
		return NULL;
	}
	consumer->next_epid++;
	consumer->ecb_count++;
	ecb->sibling = consumer->ecbs;
	ecb->sibling_link = &consumer->ecbs;
	if (ecb->sibling != NULL)
		ecb->sibling->sibling_link = &ecb->sibling;
	consumer->ecbs = ecb;
	return ecb;
}

static void free_ecb(struct dbk_ecb *ecb)
{
	*ecb->sibling_link = ecb->sibling;
	if (ecb->sibling != NULL)
		ecb->sibling->sibling_link = ecb->sibling_link;
	ecb->consumer->ecb_count--;
	dbk_host_free(ecb);
}

/* The link at the end of the probe's list: new ECBs run after those that are there. */
static struct dbk_ecb **end_of_list(struct dbk_probe *probe)
{
	struct dbk_ecb **link = &probe->ecbs;

	while (*link != NULL)
		link = &(*link)->next;
	return link;
}

struct dbk_ecb *dbk_ecbs_unlink_probe(struct dbk_probe *probe)
{
	struct dbk_ecb *chain = probe->ecbs;

	dbk_store_release(&probe->ecbs, NULL);
	return chain;
}

void dbk_ecbs_free_chain(struct dbk_ecb *chain)
{
	struct dbk_ecb *next;

	for (; chain != NULL; chain = next) {
		next = chain->next;
		free_ecb(chain);
	}
}

/* Appends @chain to the probe's list; enables the probe when it had none.  On failure the chain is
 * freed. */
static int publish(struct dbk_consumer *consumer, struct dbk_probe *probe, struct dbk_ecb *chain)
{
	bool was_enabled = probe->ecbs != NULL;
	int error;

	dbk_store_release(end_of_list(probe), chain);
	if (was_enabled || is_own(consumer->engine, probe))
		return 0;
	error = dbk_host_probe_enable(probe);
	if (error != 0) {
		dbk_store_release(&probe->ecbs, NULL);
		dbk_host_synchronize();
		dbk_ecbs_free_chain(chain);
	}
	return error;
}

int dbk_ecbs_add(struct dbk_consumer *consumer, struct dbk_probe *probe, bool *matched_ret)
{
	struct dbk_ecb *chain = NULL, **link = &chain, *ecb;
	const struct dbk_program *program = consumer->program;
	int error = 0, published;
	uint32_t i;

	*matched_ret = false;
	for (i = 0; i < consumer->plan_count && error == 0; i++) {
		const struct dbk_plan *plan = &consumer->plans[i];

		if (!dbk_probedesc_match(&program->probedescs[plan->desc->probedesc], probe))
			continue;
		ecb = make_ecb(consumer, probe, plan, chain == NULL);
		if (ecb == NULL) {
			error = -ENOMEM;
			break;
		}
		*link = ecb;
		link = &ecb->next;
	}
	if (chain == NULL)
		return error;
	/* All at once: a firing sees none or all clauses of the enabling. */
	published = publish(consumer, probe, chain);
	if (published != 0)
		return published;
	*matched_ret = true;
	return error;
}

/* Whether the probe has an ECB of this consumer: its ECBs stand together, newest consumer last. */
static bool has_ecb_of(const struct dbk_probe *probe, const struct dbk_consumer *consumer)
{
	const struct dbk_ecb *ecb = probe->ecbs;

	while (ecb != NULL && ecb->consumer != consumer)
		ecb = ecb->next;
	return ecb != NULL;
}

int dbk_ecbs_add_plan(struct dbk_consumer *consumer, const struct dbk_plan *plan,
		      struct dbk_reason *reason, uint32_t *matched)
{
	const struct dbk_probedesc *description =
		&consumer->program->probedescs[plan->desc->probedesc];
	struct dbk_probe *probe;
	struct dbk_ecb *ecb;
	bool first;
	int error;

	for (probe = consumer->engine->probes; probe != NULL; probe = probe->next) {
		if (!dbk_probedesc_match(description, probe))
			continue;
		first = !has_ecb_of(probe, consumer);
		ecb = make_ecb(consumer, probe, plan, first);
		error = ecb == NULL ? -ENOMEM : publish(consumer, probe, ecb);
		if (error != 0)
			return dbk_refuse(reason, error, "probe %s:%s:%s:%s cannot be enabled",
					  probe->provider, probe->module, probe->function,
					  probe->name);
		*matched += first;
	}
	return 0;
}

/* Takes the consumer's ECBs out of one probe; true when the probe has none left. */
static bool unlink_consumer(struct dbk_consumer *consumer, struct dbk_probe *probe)
{
	struct dbk_ecb **link = &probe->ecbs, *ecb;

	/* Firings that stand on an unlinked ECB still find their way: its next stays. */
	while ((ecb = *link) != NULL) {
		if (ecb->consumer == consumer)
			dbk_store_release(link, ecb->next);
		else
			link = &ecb->next;
	}
	return probe->ecbs == NULL;
}

void dbk_ecbs_remove_consumer(struct dbk_consumer *consumer)
{
	struct dbk_ecb *ecb;
	bool disabled = false;

	for (ecb = consumer->ecbs; ecb != NULL; ecb = ecb->sibling) {
		struct dbk_probe *probe = ecb->probe;

		/* Later ECBs of the same probe find that it was done. */
		if (probe->ecbs == NULL || !unlink_consumer(consumer, probe) ||
		    is_own(consumer->engine, probe))
			continue;
		dbk_host_probe_disable(probe);
		disabled = true;
	}
	if (disabled)
		settle(consumer->engine, 0);
	dbk_host_synchronize();
	while (consumer->ecbs != NULL)
		free_ecb(consumer->ecbs);
}
