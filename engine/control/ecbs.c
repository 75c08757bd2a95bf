/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* ecbs.c - ECBs: made for the probes that an enabling matches, linked, taken away again */
#include "engine/control/state.h"
#include "engine/memory/buffer.h"

/* Whether argument @index is among those that a firing of @probe brings along. */
static bool has_argument(const struct dbk_probe *probe, uint32_t index)
{
	return index < probe->arg_count;
}

/* Whether the record is nothing but arguments at hand; then the ECB has their places. */
static bool is_arguments(struct dbk_ecb *ecb)
{
	const struct dbk_plan *plan = ecb->plan;
	uint32_t i;

	if (!plan->has_record || plan->variable || plan->step_count > DBK_TIER_WORDS)
		return false;
	for (i = 0; i < plan->step_count; i++) {
		const struct dbk_step *step = &plan->steps[i];

		if (step->kind != DBK_STEP_STORE || step->expr.kind != DBK_EXPR_ARG ||
		    step->size != 8 || !has_argument(ecb->probe, step->expr.operand))
			return false;
		ecb->words[i] = ecb->probe->arg_word[step->expr.operand];
	}
	ecb->word_count = (uint8_t)plan->step_count;
	return true;
}

/* Whether the record is arguments at hand, and what chains of loads lead to from such. */
static bool is_members(struct dbk_ecb *ecb)
{
	const struct dbk_plan *plan = ecb->plan;
	uint32_t i, argument;

	if (!plan->has_record || plan->variable || plan->step_count > DBK_TIER_WORDS)
		return false;
	for (i = 0; i < plan->step_count; i++) {
		const struct dbk_expr *expr = &plan->steps[i].expr;

		if (plan->steps[i].kind == DBK_STEP_STORE && expr->kind == DBK_EXPR_ARG)
			argument = expr->operand;
		else if (plan->steps[i].kind == DBK_STEP_CHAIN &&
			 expr->chain->base_kind == DBK_EXPR_ARG)
			argument = (uint32_t)expr->chain->base;
		else
			return false;
		if (!has_argument(ecb->probe, argument))
			return false;
		ecb->words[i] = ecb->probe->arg_word[argument];
	}
	ecb->word_count = (uint8_t)plan->step_count;
	return true;
}

/* @before: clauses of the consumer that run before it on the probe. */
static enum dbk_tier tier_of(struct dbk_ecb *ecb, uint32_t before)
{
	const struct dbk_plan *plan = ecb->plan;
	bool native = plan->native != NULL;

	dbk_assert(plan->tier == DBK_TIER_SIMPLE || plan->tier == DBK_TIER_GENERAL);
	/* A native clause that is general without pays for itself wherever it stands. */
	if (plan->tier == DBK_TIER_GENERAL || dbk_plan_asks(plan))
		return native ? DBK_TIER_NATIVE : DBK_TIER_GENERAL;
	if (is_arguments(ecb))
		return DBK_TIER_ARGUMENTS;
	/* Nothing is made so today; dbk_simple_steps() relies on it. */
	if (plan->step_count == 0)
		return DBK_TIER_GENERAL;
	if (before >= (plan->loads ? DBK_CHAIN_ECBS_MAX : DBK_SIMPLE_ECBS_MAX))
		return DBK_TIER_GENERAL;
	if (native)
		return DBK_TIER_NATIVE;
	if (plan->loads && is_members(ecb))
		return DBK_TIER_MEMBERS;
	return plan->cells ? DBK_TIER_CELLS : DBK_TIER_SIMPLE;
}

static enum dbk_alone alone_of(const struct dbk_ecb *ecb)
{
	const struct dbk_predicate *predicate = &ecb->plan->predicate;
	uint32_t left = predicate->left.kind;

	/* The engine's own probes are fired for one consumer, and by others in vain. */
	if (ecb->gate != DBK_GATE_ORDINARY)
		return DBK_ALONE_NOT;
	if (ecb->own_kind == DBK_PREDICATE_NONE)
		return DBK_ALONE_ARGUMENTS + ecb->tier;
	if (ecb->own_kind == DBK_PREDICATE_EQUAL_ARG)
		return DBK_ALONE_EQUAL_ARG;
	if (ecb->own_kind == DBK_PREDICATE_EQUAL_PID)
		return DBK_ALONE_EQUAL_PID;
	if (ecb->own_kind == DBK_PREDICATE_EXECNAME)
		return DBK_ALONE_EXECNAME;
	/* It asks a predicate that is not simple itself. */
	if (ecb->tier == DBK_TIER_NATIVE && !predicate->simple)
		return DBK_ALONE_ARGUMENTS + DBK_TIER_NATIVE;
	if (!predicate->early)
		return DBK_ALONE_NOT;
	if (ecb->own_kind != DBK_PREDICATE_ALL && left == DBK_EXPR_THREAD)
		return DBK_ALONE_THREAD;
	if (ecb->own_kind != DBK_PREDICATE_ALL &&
	    (left == DBK_EXPR_VARIABLE ||
	     (left == DBK_EXPR_ARG && has_argument(ecb->probe, predicate->left.operand))))
		return DBK_ALONE_VALUE;
	return DBK_ALONE_EARLY;
}

/* What the hot path looks at; see struct dbk_ecb. */
static void prepare(struct dbk_ecb *ecb, uint32_t before)
{
	const struct dbk_plan *plan = ecb->plan;
	const struct dbk_probe *probe = ecb->probe;
	const struct dbk_expr *left = &plan->predicate.left;

	ecb->record_bytes = plan->simple_bytes;
	ecb->tier = (uint8_t)tier_of(ecb, before);
	ecb->predicate_kind = plan->predicate.kind;
	ecb->predicate_constant = plan->predicate.constant;
	if (ecb->predicate_kind == DBK_PREDICATE_EQUAL_ARG) {
		if (has_argument(probe, left->operand))
			ecb->predicate_word = probe->arg_word[left->operand];
		else
			ecb->predicate_kind = DBK_PREDICATE_OUTCOME;
	}
	ecb->own_kind = ecb->predicate_kind;
	ecb->own_alone = (uint8_t)alone_of(ecb);
	ecb->alone = DBK_ALONE_NOT;
}

static uint16_t length_of(const char *name)
{
	uint16_t length = 0; /* the host's are checked: at most DBK_PROBE_NAME_BYTES_MAX */

	while (name[length] != '\0')
		length++;
	return length;
}

/* @before: how many ECBs the consumer has on the probe. */
static struct dbk_ecb *make_ecb(struct dbk_consumer *consumer, struct dbk_probe *probe,
				const struct dbk_plan *plan, uint32_t before)
{
	struct dbk_engine *engine = consumer->engine;
	struct dbk_ecb *ecb;

	if (consumer->next_epid > DBK_EPID_MAX)
		return NULL;
	ecb = dbk_host_alloc(sizeof(*ecb));
	if (ecb == NULL)
		return NULL;
	ecb->consumer = consumer;
	ecb->buffers = consumer->buffers;
	ecb->plan = plan;
	ecb->probe = probe;
	ecb->name_bytes[0] = length_of(probe->provider);
	ecb->name_bytes[1] = length_of(probe->module);
	ecb->name_bytes[2] = length_of(probe->function);
	ecb->name_bytes[3] = length_of(probe->name);
	ecb->epid = consumer->next_epid;
	ecb->gate = probe == &engine->begin   ? DBK_GATE_BEGIN
		    : probe == &engine->end   ? DBK_GATE_END
		    : probe == &engine->error ? DBK_GATE_ERROR
					      : DBK_GATE_ORDINARY;
	prepare(ecb, before);
	if (dbk_meta_add_ecb(consumer, ecb, before == 0) != 0) {
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

/* The ECBs of this consumer on the probe: they stand together, newest consumer last. */
static uint32_t ecbs_of(const struct dbk_probe *probe, const struct dbk_consumer *consumer)
{
	const struct dbk_ecb *ecb;
	uint32_t count = 0;

	for (ecb = probe->ecbs; ecb != NULL; ecb = ecb->next)
		count += ecb->consumer == consumer;
	return count;
}

/* The link at the end of the probe's list: new ECBs run after those that are there. */
static struct dbk_ecb **end_of_list(struct dbk_probe *probe)
{
	struct dbk_ecb **link = &probe->ecbs;

	while (*link != NULL)
		link = &(*link)->next;
	return link;
}

/* Whether what runs last is another consumer's. */
static bool ends_with_others(const struct dbk_probe *probe, const struct dbk_consumer *consumer)
{
	const struct dbk_ecb *ecb, *last = NULL;

	for (ecb = probe->ecbs; ecb != NULL; ecb = ecb->next)
		last = ecb;
	return last != NULL && last->consumer != consumer;
}

struct dbk_ecb *dbk_ecbs_unlink_probe(struct dbk_probe *probe)
{
	struct dbk_ecb *list = probe->ecbs;

	dbk_store_release(&probe->ecbs, NULL);
	return list;
}

void dbk_ecbs_free(struct dbk_ecb *list)
{
	struct dbk_ecb *next;

	for (; list != NULL; list = next) {
		next = list->next;
		dbk_assert(list->probe->ecbs != list);
		free_ecb(list);
	}
}

/* What a firing records of the ECB at most: its record, or those of ERROR. */
static uint32_t most_bytes(const struct dbk_ecb *ecb)
{
	uint32_t own = ecb->plan->most_bytes, fault = ecb->consumer->fault_bytes;

	return own > fault ? own : fault;
}

/* Keeps room for what the consumer's clauses of the probe may record in one firing, and a TIME_BASE: up to
 * an eighth of a segment, which holds less of their firings by what they do not take. */
static void keep_room(struct dbk_consumer *consumer, struct dbk_probe *probe)
{
	uint32_t most = (consumer->ring->segment_bytes - DBK_SEGMENT_DATA_OFFSET) / 8 & ~7u;
	uint64_t bytes = sizeof(struct dbk_control_time_base), all;
	struct dbk_ecb *ecb;
	uint32_t records = 0;

	/* Such a buffer is asked for by its size, and mostly one recording. */
	if (consumer->policy == DBK_POLICY_FILL)
		return;
	for (ecb = probe->ecbs; ecb != NULL; ecb = ecb->next)
		if (ecb->consumer == consumer && most_bytes(ecb) != 0) {
			bytes += most_bytes(ecb);
			records++;
		}
	if (records < 2)
		return;
	all = bytes;
	for (ecb = probe->ecbs; ecb != NULL; ecb = ecb->next)
		if (ecb->consumer == consumer) {
			dbk_store_relaxed(&ecb->firing_bytes,
					  bytes < 0xffffffffu ? (uint32_t)bytes : 0xffffffffu);
			bytes -= most_bytes(ecb);
		}
	if (all > most)
		all = most;
	if (all > consumer->firing_bytes)
		dbk_store_relaxed(&consumer->firing_bytes, (uint32_t)all);
}

/* Appends @list to the probe's list; enables the probe when it had none.  On failure the list is
 * freed. */
static int publish(struct dbk_consumer *consumer, struct dbk_probe *probe, struct dbk_ecb *list)
{
	bool was_enabled = probe->ecbs != NULL;
	int error;

	if (ends_with_others(probe, consumer))
		list->predicate_kind = DBK_ECB_AFTER_OTHERS;
	if (was_enabled)
		dbk_store_relaxed(&probe->ecbs->alone, DBK_ALONE_NOT);
	else if (list->next == NULL)
		list->alone = list->own_alone;
	dbk_store_release(end_of_list(probe), list);
	keep_room(consumer, probe);
	if (was_enabled || dbk_probe_is_own(consumer->engine, probe))
		return 0;
	error = dbk_host_probe_enable(probe);
	if (error != 0) {
		dbk_store_release(&probe->ecbs, NULL);
		dbk_host_synchronize();
		dbk_ecbs_free(list);
	}
	return error;
}

/* A few clauses on every function are a million ECBs; and each coming of a module's probes is in the metadata. */
static int check_memory(const struct dbk_consumer *consumer, struct dbk_reason *reason)
{
	uint64_t most = dbk_host_alloc_max();

	if (consumer->ecb_count * sizeof(struct dbk_ecb) + consumer->list_bytes <= most)
		return 0;
	return dbk_refuse(reason, -E2BIG,
			  "its clauses on all their probes take more than %U bytes of memory",
			  most);
}

int dbk_ecbs_add(struct dbk_consumer *consumer, struct dbk_probe *probe, bool *matched_ret)
{
	struct dbk_ecb *list = NULL, **link = &list, *ecb;
	const struct dbk_program *program = consumer->program;
	uint32_t i, count = 0;
	int error = 0, published;

	*matched_ret = false;
	for (i = 0; i < consumer->plan_count && error == 0; i++) {
		const struct dbk_plan *plan = &consumer->plans[i];

		if (!dbk_probedesc_match(&program->probedescs[plan->desc->probedesc], probe))
			continue;
		if (count == DBK_PROBE_ECBS_MAX) {
			error = -E2BIG;
			break;
		}
		ecb = make_ecb(consumer, probe, plan, count);
		if (ecb == NULL) {
			error = -ENOMEM;
			break;
		}
		*link = ecb;
		link = &ecb->next;
		count++;
	}
	if (list == NULL)
		return error;
	published = check_memory(consumer, NULL);
	if (published != 0) {
		dbk_ecbs_free(list);
		return published;
	}
	/* All at once: a firing sees none or all clauses of the enabling. */
	published = publish(consumer, probe, list);
	if (published != 0)
		return published;
	*matched_ret = true;
	return error;
}

/* ECBs that are made or freed between two pauses. */
#define ECBS_AT_ONCE 1024u

/* Bytes of descriptions times bytes of names that are compared between two pauses: some tens of milliseconds
 * if all of them are globs that nearly match. */
#define MATCH_WORK_AT_ONCE (1u << 24)

/* How many probes are compared with @description between two pauses, their names taken as the longest:
 * at least one, which then is at most four times that work. */
static uint32_t probes_at_once(const struct dbk_probedesc *description)
{
	uint32_t bytes = 1u + length_of(description->provider) + length_of(description->module) +
			 length_of(description->function) + length_of(description->name);
	uint32_t probes = MATCH_WORK_AT_ONCE / DBK_PROBE_NAME_BYTES_MAX / bytes;

	return probes == 0 ? 1 : probes;
}

static int pause_enabling(const struct dbk_consumer *consumer, struct dbk_reason *reason)
{
	int error = dbk_host_pause();

	return error != 0 ? error : check_memory(consumer, reason);
}

int dbk_ecbs_add_plan(struct dbk_consumer *consumer, const struct dbk_plan *plan,
		      struct dbk_reason *reason, uint32_t *matched)
{
	const struct dbk_probedesc *description =
		&consumer->program->probedescs[plan->desc->probedesc];
	struct dbk_probe *probe;
	struct dbk_ecb *ecb;
	uint32_t count, compared = 0, at_once = probes_at_once(description);
	int error = pause_enabling(consumer, reason);

	if (error != 0)
		return error;
	for (probe = consumer->engine->probes; probe != NULL; probe = probe->next) {
		if (++compared % at_once == 0) {
			error = dbk_host_pause();
			if (error != 0)
				return error;
		}
		if (!dbk_probedesc_match(description, probe))
			continue;
		if (consumer->ecb_count % ECBS_AT_ONCE == ECBS_AT_ONCE - 1) {
			error = pause_enabling(consumer, reason);
			if (error != 0)
				return error;
		}
		count = ecbs_of(probe, consumer);
		if (count == DBK_PROBE_ECBS_MAX)
			return dbk_refuse(reason, -E2BIG,
					  "more than %u clauses on probe %s:%s:%s:%s",
					  DBK_PROBE_ECBS_MAX, probe->provider, probe->module,
					  probe->function, probe->name);
		ecb = make_ecb(consumer, probe, plan, count);
		error = ecb == NULL ? -ENOMEM : publish(consumer, probe, ecb);
		if (error != 0)
			return dbk_refuse(reason, error, "probe %s:%s:%s:%s cannot be enabled",
					  probe->provider, probe->module, probe->function,
					  probe->name);
		*matched += count == 0;
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

/* No firing has run other ECBs any more before what is now the first one of its probe.  An ECB that was unlinked does not
 * say which probe: while the host settled, a module's may have gone. */
static void restore_first(struct dbk_engine *engine)
{
	struct dbk_probe *probe;
	struct dbk_ecb *first;

	for (probe = engine->probes; probe != NULL; probe = probe->next) {
		first = probe->ecbs;
		if ((probe->engine_flags & DBK_PROBE_LEFT) == 0)
			continue;
		probe->engine_flags &= (uint8_t)~DBK_PROBE_LEFT;
		if (first == NULL)
			continue;
		dbk_store_relaxed(&first->predicate_kind, first->own_kind);
		if (first->next == NULL)
			dbk_store_relaxed(&first->alone, first->own_alone);
	}
}

void dbk_ecbs_remove_consumer(struct dbk_consumer *consumer)
{
	struct dbk_ecb *ecb;
	bool disabled = false, left = false;
	uint32_t count = 0;

	for (ecb = consumer->ecbs; ecb != NULL; ecb = ecb->sibling) {
		struct dbk_probe *probe = ecb->probe;

		if (++count % ECBS_AT_ONCE == 0)
			dbk_host_pause();
		/* Later ECBs of the same probe find that it was done. */
		if (probe->ecbs == NULL)
			continue;
		if (!unlink_consumer(consumer, probe)) {
			probe->engine_flags |= DBK_PROBE_LEFT;
			left = true;
			continue;
		}
		if (dbk_probe_is_own(consumer->engine, probe))
			continue;
		dbk_host_probe_disable(probe);
		disabled = true;
	}
	if (disabled)
		dbk_engine_settle(consumer->engine, 0);
	dbk_host_synchronize();
	if (left)
		restore_first(consumer->engine);
	while ((ecb = consumer->ecbs) != NULL) {
		free_ecb(ecb);
		if (consumer->ecb_count % ECBS_AT_ONCE == 0)
			dbk_host_pause();
	}
}
