/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* plan_aggregation.c - what aggregating actions store, in records or in cells; see plan.h */
#include "engine/lower/plan.h"
#include "engine/run/dif.h"
#include "engine/types/actions.h"

static bool is_weighted(uint32_t kind)
{
	return kind == DTRACEAGG_QUANTIZE || kind == DTRACEAGG_LQUANTIZE ||
	       kind == DTRACEAGG_LLQUANTIZE;
}

/* The last member of a weighted aggregation's tuple, if it has no size, is the increment. */
static const struct dbk_expr *increment_of(const struct dbk_planner *p, uint32_t action)
{
	const struct dbk_actdesc *agg = &p->desc->actions[action], *last = agg - 1;

	if (!is_weighted(agg->kind) || agg->tuple_count < 2 || last->kind != DTRACEACT_DIFEXPR ||
	    last->difo->type.size != 0)
		return NULL;
	return &last->difo->expr;
}

static void plan_keys(struct dbk_planner *p, struct dbk_area *area, uint32_t action)
{
	uint32_t end = action - (increment_of(p, action) != NULL), i;

	for (i = action - p->desc->actions[action].tuple_count + 1; i < end; i++)
		dbk_plan_action(p, area, i, DBK_FIELD_F_KEY);
}

void dbk_plan_aggregation_record(struct dbk_planner *p, uint32_t action)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	const struct dbk_expr *increment = increment_of(p, action);

	plan_keys(p, &p->record, action);
	if (increment != NULL)
		dbk_plan_integer(p, &p->record, action - 1, DBK_STEP_STORE, increment, 8,
				 DBK_FIELD_F_INCREMENT);
	if (desc->kind != DTRACEAGG_COUNT)
		dbk_plan_integer(p, &p->record, action, DBK_STEP_STORE, &desc->difo->expr, 8,
				 DBK_FIELD_F_VALUE);
	p->plan->has_record = true;
}

#define CLASS_WORDS 3u
#define CLASS_SLOTS (2u * DBK_AGGREGATIONS_MAX) /* half of them stay empty */

/* Entries may be one when id, function and layout are the same, whichever enabling made them. */
static void class_words(const struct dbk_aggregation *agg, uint64_t *words)
{
	words[0] = (uint64_t)agg->variable_id << 32 | agg->kind;
	words[1] = agg->arg;
	words[2] = (uint64_t)agg->key_fixed_bytes << 32 | agg->key_bytes_max;
}

static bool same_class(const struct dbk_aggregation *old, const uint64_t *words)
{
	uint64_t others[CLASS_WORDS];

	class_words(old, others);
	return others[0] == words[0] && others[1] == words[1] && others[2] == words[2];
}

/* The class of @new: that of an aggregation before it, or its own; -ENOMEM. */
static int find_class(struct dbk_planner *p, struct dbk_aggregation *new)
{
	uint64_t words[CLASS_WORDS], at;

	if (p->classes == NULL)
		p->classes = dbk_host_alloc(CLASS_SLOTS * sizeof(*p->classes));
	if (p->classes == NULL)
		return dbk_refuse(p->reason, -ENOMEM, "no memory for the enabling");
	class_words(new, words);
	at = dbk_hash(&p->consumer->engine->cpus[0]->secret, CLASS_WORDS, (const uint8_t *)words,
		      sizeof(words));
	dbk_assert(p->consumer->class_count < DBK_AGGREGATIONS_MAX);
	for (at %= CLASS_SLOTS; p->classes[at] != NULL; at = (at + 1) % CLASS_SLOTS)
		if (same_class(p->classes[at], words)) {
			new->class_id = p->classes[at]->class_id;
			return 0;
		}
	p->classes[at] = new;
	new->class_id = ++p->consumer->class_count;
	return 0;
}

int dbk_plan_aggregation_engine(struct dbk_planner *p, uint32_t action)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	uint32_t index = p->plan->aggregation_count;
	struct dbk_aggregation *agg = &p->plan->aggregations[index];
	const struct dbk_expr *increment = increment_of(p, action);
	struct dbk_area key;
	uint64_t key_bytes_max;

	memset(&key, 0, sizeof(key));
	key.classic.bytes = 4;
	dbk_classic_add(&key.classic, 8); /* the aggregation's id */
	dbk_plan_step(p, DBK_STEP_KEY_BEGIN, action)->aggregation = index;
	plan_keys(p, &key, action);
	dbk_plan_step(p, DBK_STEP_AGGREGATE, action)->aggregation = index;
	key_bytes_max = DBK_ROUND_UP(key.at, 8) + key.tail_max;
	if (key_bytes_max > DBK_RECORD_BYTES_MAX)
		return dbk_refuse(p->reason, -E2BIG,
				  "%s(): its key may take %U bytes, at most %u are kept",
				  dbk_action_name(desc->kind), key_bytes_max, DBK_RECORD_BYTES_MAX);
	agg->kind = desc->kind;
	agg->action = (uint16_t)action;
	agg->variable_id = (uint32_t)desc[-(int64_t)desc->tuple_count].difo->expr.constant;
	agg->key_fixed_bytes = (uint16_t)DBK_ROUND_UP(key.at, 8);
	agg->key_bytes_max = (uint32_t)key_bytes_max;
	agg->arg = desc->arg;
	agg->cell_count = dbk_agg_cells(desc->kind, desc->arg);
	dbk_classic_add(&key.classic, agg->cell_count * 8ull);
	agg->classic_bytes = key.classic.bytes;
	agg->has_increment = increment != NULL;
	if (increment != NULL)
		agg->increment = *increment;
	if (desc->kind != DTRACEAGG_COUNT)
		agg->value = desc->difo->expr;
	/* What count() does not have is zeros, which is an argument: as good as simple. */
	if (!dbk_is_simple(&agg->increment) || !dbk_is_simple(&agg->value))
		p->plan->tier = DBK_TIER_GENERAL;
	p->plan->aggregation_count++;
	return find_class(p, agg);
}
