/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * plan.c - what an enabling's actions store, and where: computed once
 *
 * Control path.  A plan is a list of steps for the probe context and a list of
 * fields for readers; both come from one walk over the actions, so that they
 * cannot disagree.  segment.md and meta.md say what a record looks like.
 *
 *   aggregate=record   an aggregating action is key fields, value, increment in the record
 *   aggregate=engine   the same key fields make a key of their own, whose offsets count
 *                      from its start; value and increment go into the cells
 *
 * The first member of a tuple is the aggregation's id: known here, never stored.
 */
#include "engine/buffer/account.h"
#include "engine/dif/dif.h"
#include "engine/program/program.h"
#include "engine/speculation/speculation.h"
#include "engine/state/state.h"

#define AGGREGATIONS_MAX 4096u /* of one program, in their enablings */

/* Where fields are being put: the record, or an aggregation's key. */
struct area {
	uint32_t at; /* next free byte of the fixed part */
	uint64_t tail_max;
	bool has_gaps;
	struct dbk_classic classic;
};

struct planner {
	struct dbk_consumer *consumer;
	struct dbk_plan *plan;
	const struct dbk_ecbdesc *desc;
	struct area record;
	struct dbk_reason *reason;
};

static struct dbk_step *add_step(struct planner *p, enum dbk_step_kind kind, uint32_t action)
{
	struct dbk_step *step = &p->plan->steps[p->plan->step_count++];

	step->kind = (uint8_t)kind;
	step->action = (uint16_t)action;
	if (kind != DBK_STEP_STORE)
		p->plan->kind = DBK_PLAN_GENERAL;
	return step;
}

static void add_field(struct planner *p, const struct dbk_step *step, uint32_t bytes, uint8_t shape,
		      uint8_t flags)
{
	struct dbk_meta_field *field = &p->plan->fields[p->plan->field_count++];

	field->offset = step->offset;
	field->bytes = bytes;
	field->action = step->action;
	field->shape = shape;
	field->flags = flags;
}

/* Alignment: the largest of 8, 4, 2, 1 that divides the size, as in every port. */
static uint32_t place(struct area *area, uint32_t bytes)
{
	uint32_t align = 8, offset;

	while ((bytes & (align - 1)) != 0)
		align >>= 1;
	offset = (uint32_t)DBK_ROUND_UP(area->at, align);
	if (offset != area->at)
		area->has_gaps = true;
	area->at = offset + bytes;
	return offset;
}

static uint32_t place_tail(struct area *area, uint64_t bytes_max)
{
	area->tail_max += DBK_ROUND_UP(bytes_max, 8);
	return place(area, (uint32_t)sizeof(struct dbk_tail_ref));
}

static void plan_integer(struct planner *p, struct area *area, uint32_t action,
			 enum dbk_step_kind kind, const struct dbk_expr *expr, uint32_t bytes,
			 uint8_t flags)
{
	struct dbk_step *step = add_step(p, kind, action);

	if (flags == 0 || (flags & DBK_FIELD_F_KEY) != 0)
		dbk_classic_add(&area->classic, bytes);
	step->offset = place(area, bytes);
	step->size = (uint8_t)bytes;
	step->bytes = bytes;
	step->expr = *expr;
	if (!dbk_is_simple(expr))
		p->plan->kind = DBK_PLAN_GENERAL;
	add_field(p, step, bytes, DBK_FIELD_FIXED, flags);
}

static void plan_value(struct planner *p, struct area *area, uint32_t action, uint8_t flags)
{
	const struct dbk_difo *difo = p->desc->actions[action].difo;
	struct dbk_step *step;

	if (difo->type.size == 0) {
		step = add_step(p, DBK_STEP_EVALUATE, action);
		step->expr = difo->expr;
	} else if (difo->type.kind == DIF_TYPE_STRING) {
		dbk_classic_add(&area->classic, p->consumer->strsize);
		step = add_step(p, DBK_STEP_STRING, action);
		step->offset = place_tail(area, p->consumer->strsize + 1);
		step->bytes = p->consumer->strsize + 1;
		step->expr = difo->expr;
		add_field(p, step, p->consumer->strsize, DBK_FIELD_STRING, flags);
	} else if ((difo->type.flags & DIF_TF_BYREF) != 0) {
		dbk_classic_add(&area->classic, difo->type.size);
		step = add_step(p, DBK_STEP_BYTES, action);
		step->offset = place(area, difo->type.size);
		step->bytes = difo->type.size;
		step->expr = difo->expr;
		add_field(p, step, step->bytes, DBK_FIELD_FIXED, flags);
	} else {
		plan_integer(p, area, action, DBK_STEP_STORE, &difo->expr, difo->type.size, flags);
	}
}

static uint32_t stack_depth(const struct planner *p, const struct dbk_actdesc *action)
{
	uint32_t depth = (uint32_t)action->arg;

	if (depth != 0)
		return depth;
	if (action->kind == DTRACEACT_JSTACK)
		return p->consumer->jstackframes;
	return action->kind == DTRACEACT_STACK ? p->consumer->stackframes
					       : p->consumer->ustackframes;
}

static void plan_stack(struct planner *p, struct area *area, uint32_t action, uint8_t flags)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	bool user = desc->kind != DTRACEACT_STACK;
	struct dbk_step *step = add_step(p, user ? DBK_STEP_USTACK : DBK_STEP_STACK, action);

	/* DTrace's ustack() has two words in front, process and thread group. */
	dbk_classic_add(&area->classic, (stack_depth(p, desc) + (user ? 2 : 0)) * 8);
	/* ustack() begins with the process id: its addresses mean nothing without. */
	step->bytes = (stack_depth(p, desc) + user) * 8;
	step->offset = place_tail(area, step->bytes + 8);
	add_field(p, step, step->bytes, DBK_FIELD_STACK, flags);
}

/* usym() and kin: process id, then the address. */
static void plan_pid_value(struct planner *p, struct area *area, uint32_t action, uint8_t flags)
{
	struct dbk_step *step = add_step(p, DBK_STEP_PID_VALUE, action);

	dbk_classic_add(&area->classic, 24);
	step->offset = place(area, 16);
	step->bytes = 16;
	step->expr = p->desc->actions[action].difo->expr;
	add_field(p, step, 16, DBK_FIELD_FIXED, flags);
}

/* Nothing is stored: a clause of such actions alone leaves no record. */
static void plan_act(struct planner *p, uint32_t action)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	struct dbk_step *step = add_step(p, DBK_STEP_ACT, action);

	step->bytes = desc->kind;
	if (desc->difo != NULL)
		step->expr = desc->difo->expr;
	else
		step->expr.kind = DBK_EXPR_CONST;
}

static void plan_action(struct planner *p, struct area *area, uint32_t action, uint8_t flags)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];

	switch (desc->kind) {
	case DTRACEACT_STACK:
	case DTRACEACT_USTACK:
	case DTRACEACT_JSTACK:
		plan_stack(p, area, action, flags);
		break;
	case DTRACEACT_USYM:
	case DTRACEACT_UMOD:
	case DTRACEACT_UADDR:
		plan_pid_value(p, area, action, flags);
		break;
	case DTRACEACT_SYM:
	case DTRACEACT_MOD:
		plan_integer(p, area, action, DBK_STEP_STORE, &desc->difo->expr, 8, flags);
		break;
	case DTRACEACT_RAISE:
	case DTRACEACT_STOP:
	case DTRACEACT_CHILL:
	case DTRACEACT_BREAKPOINT:
	case DTRACEACT_PANIC:
		plan_act(p, action);
		break;
	case DTRACEACT_SPECULATE:
		p->plan->speculates = true;
		add_step(p, DBK_STEP_SPECULATE, action)->expr = desc->difo->expr;
		break;
	case DTRACEACT_COMMIT:
		add_step(p, DBK_STEP_COMMIT, action)->expr = desc->difo->expr;
		break;
	case DTRACEACT_DISCARD:
		add_step(p, DBK_STEP_DISCARD, action)->expr = desc->difo->expr;
		break;
	case DTRACEACT_EXIT:
		plan_integer(p, area, action, DBK_STEP_EXIT, &desc->difo->expr,
			     desc->difo->type.size, flags);
		break;
	default:
		plan_value(p, area, action, flags);
		break;
	}
}

static bool is_weighted(uint32_t kind)
{
	return kind == DTRACEAGG_QUANTIZE || kind == DTRACEAGG_LQUANTIZE ||
	       kind == DTRACEAGG_LLQUANTIZE;
}

/* The last member of a weighted aggregation's tuple, if it has no size, is the increment. */
static const struct dbk_expr *increment_of(const struct planner *p, uint32_t action)
{
	const struct dbk_actdesc *agg = &p->desc->actions[action], *last = agg - 1;

	if (!is_weighted(agg->kind) || agg->tuple_count < 2 || last->kind != DTRACEACT_DIFEXPR ||
	    last->difo->type.size != 0)
		return NULL;
	return &last->difo->expr;
}

static void plan_keys(struct planner *p, struct area *area, uint32_t action)
{
	uint32_t end = action - (increment_of(p, action) != NULL), i;

	for (i = action - p->desc->actions[action].tuple_count + 1; i < end; i++)
		plan_action(p, area, i, DBK_FIELD_F_KEY);
}

static void plan_aggregation_record(struct planner *p, uint32_t action)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	const struct dbk_expr *increment = increment_of(p, action);

	plan_keys(p, &p->record, action);
	if (increment != NULL)
		plan_integer(p, &p->record, action - 1, DBK_STEP_STORE, increment, 8,
			     DBK_FIELD_F_INCREMENT);
	if (desc->kind != DTRACEAGG_COUNT)
		plan_integer(p, &p->record, action, DBK_STEP_STORE, &desc->difo->expr, 8,
			     DBK_FIELD_F_VALUE);
	p->plan->has_record = true;
}

/* Entries may be one when id, function and layout are the same, whichever enabling made them. */
static uint32_t find_class(struct planner *p, const struct dbk_aggregation *new)
{
	struct dbk_consumer *consumer = p->consumer;
	uint32_t i, j;

	for (i = 0; i <= consumer->plan_count; i++) {
		const struct dbk_plan *plan = &consumer->plans[i];

		for (j = 0; j < plan->aggregation_count; j++) {
			const struct dbk_aggregation *old = &plan->aggregations[j];

			if (old != new && old->variable_id == new->variable_id &&
			    old->kind == new->kind && old->arg == new->arg &&
			    old->key_fixed_bytes == new->key_fixed_bytes &&
			    old->key_bytes_max == new->key_bytes_max)
				return old->class_id;
		}
	}
	return ++consumer->class_count;
}

static int plan_aggregation_engine(struct planner *p, uint32_t action)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	uint32_t index = p->plan->aggregation_count;
	struct dbk_aggregation *agg = &p->plan->aggregations[index];
	const struct dbk_expr *increment = increment_of(p, action);
	struct area key;
	uint64_t key_bytes_max;

	memset(&key, 0, sizeof(key));
	key.classic.bytes = 4;
	dbk_classic_add(&key.classic, 8); /* the aggregation's id */
	add_step(p, DBK_STEP_KEY_BEGIN, action)->aggregation = index;
	plan_keys(p, &key, action);
	add_step(p, DBK_STEP_AGGREGATE, action)->aggregation = index;
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
	p->plan->aggregation_count++;
	agg->class_id = find_class(p, agg);
	return 0;
}

/* The first aggregating action at or behind @from; action_count when there is none. */
static uint32_t next_aggregation(const struct dbk_ecbdesc *desc, uint32_t from)
{
	while (from < desc->action_count && !DTRACEACT_IS_AGG(desc->actions[from].kind))
		from++;
	return from;
}

/* Whether @action is in the tuple of the next aggregating action, or is that itself. */
static bool in_tuple(const struct dbk_ecbdesc *desc, uint32_t action, uint32_t aggregation)
{
	return aggregation < desc->action_count &&
	       aggregation - desc->actions[aggregation].tuple_count <= action;
}

static int plan_actions(struct planner *p)
{
	const struct dbk_ecbdesc *desc = p->desc;
	uint32_t i, aggregation = next_aggregation(desc, 0);
	int error = 0;

	for (i = 0; i < desc->action_count && error == 0; i++) {
		if (i > aggregation)
			aggregation = next_aggregation(desc, i);
		if (!in_tuple(desc, i, aggregation)) {
			plan_action(p, &p->record, i, 0);
			continue;
		}
		i = aggregation;
		if (p->consumer->aggregate == DBK_AGGREGATE_ENGINE)
			error = plan_aggregation_engine(p, i);
		else
			plan_aggregation_record(p, i);
	}
	return error;
}

static bool is_tail(const struct dbk_actdesc *action)
{
	if (action->kind == DTRACEACT_STACK || action->kind == DTRACEACT_USTACK ||
	    action->kind == DTRACEACT_JSTACK)
		return true;
	return !DTRACEACT_IS_AGG(action->kind) && action->difo != NULL &&
	       action->difo->type.kind == DIF_TYPE_STRING;
}

/* Whether the record will have a tail: then its length stands behind the header. */
static bool stores_tail(const struct planner *p)
{
	bool engine = p->consumer->aggregate == DBK_AGGREGATE_ENGINE;
	uint32_t i, aggregation = next_aggregation(p->desc, 0);

	for (i = 0; i < p->desc->action_count; i++) {
		if (i > aggregation)
			aggregation = next_aggregation(p->desc, i);
		if (engine && in_tuple(p->desc, i, aggregation))
			i = aggregation;
		else if (is_tail(&p->desc->actions[i]))
			return true;
	}
	return false;
}

static bool uses_locals(const struct dbk_ecbdesc *desc)
{
	uint32_t i;

	if (desc->predicate != NULL && desc->predicate->uses_locals)
		return true;
	for (i = 0; i < desc->action_count; i++)
		if (desc->actions[i].difo != NULL && desc->actions[i].difo->uses_locals)
			return true;
	return false;
}

static int allocate(struct dbk_plan *plan, const struct dbk_ecbdesc *desc,
		    struct dbk_reason *reason)
{
	uint32_t i, aggregations = 0;

	for (i = 0; i < desc->action_count; i++)
		aggregations += DTRACEACT_IS_AGG(desc->actions[i].kind);
	/* One step an action; KEY_BEGIN takes the place of the id, which has none. */
	plan->steps = dbk_host_alloc((desc->action_count + 1) * sizeof(*plan->steps));
	plan->fields = dbk_host_alloc((desc->action_count + 1) * sizeof(*plan->fields));
	plan->aggregations = dbk_host_alloc((aggregations + 1) * sizeof(*plan->aggregations));
	if (plan->steps == NULL || plan->fields == NULL || plan->aggregations == NULL)
		return dbk_refuse(reason, -ENOMEM, "no memory for the enabling");
	return 0;
}

static int init_plan(struct dbk_consumer *consumer, const struct dbk_ecbdesc *desc,
		     struct dbk_plan *plan, struct dbk_reason *reason)
{
	uint32_t limit = consumer->ring->segment_bytes - DBK_SEGMENT_DATA_OFFSET;
	struct planner p = {.consumer = consumer, .plan = plan, .desc = desc, .reason = reason};
	int error = allocate(plan, desc, reason);

	if (error != 0)
		return error;
	plan->desc = desc;
	plan->kind = DBK_PLAN_FAST;
	plan->uses_locals = uses_locals(desc);
	dbk_predicate_lower(desc->predicate, &plan->predicate);
	/* A clause without actions records that it fired, and so does one that only speculates. */
	plan->has_record =
		desc->action_count == 0 ||
		(desc->action_count == 1 && desc->actions[0].kind == DTRACEACT_SPECULATE);
	plan->variable = stores_tail(&p);
	p.record.at = (uint32_t)sizeof(struct dbk_record_header) + (plan->variable ? 4 : 0);
	p.record.classic.bytes = p.record.classic.align = 4;
	error = plan_actions(&p);
	if (error != 0)
		return error;
	plan->fixed_bytes = (uint32_t)DBK_ROUND_UP(p.record.at, DBK_RECORD_ALIGN_BYTES);
	if (plan->speculates)
		limit -= DBK_COMMIT_PART_BYTES;
	if (plan->fixed_bytes > limit || plan->fixed_bytes > DBK_RECORD_BYTES_MAX)
		return dbk_refuse(reason, -E2BIG,
				  "its records take %u bytes, a segment has room for %u",
				  plan->fixed_bytes,
				  limit < DBK_RECORD_BYTES_MAX ? limit : DBK_RECORD_BYTES_MAX);
	plan->zero_fixed = p.record.has_gaps || p.record.at != plan->fixed_bytes;
	if (p.record.at != sizeof(struct dbk_record_header) + (plan->variable ? 4 : 0))
		plan->has_record = true;
	plan->classic_bytes = (uint32_t)DBK_ROUND_UP(p.record.classic.bytes, 4);
	plan->classic_align = p.record.classic.align;
	if (!plan->has_record || plan->uses_locals || plan->zero_fixed || consumer->counted)
		plan->kind = DBK_PLAN_GENERAL;
	return 0;
}

int dbk_plans_init(struct dbk_consumer *consumer, struct dbk_reason *reason)
{
	const struct dbk_program *program = consumer->program;
	uint32_t i, aggregations = 0;
	int error;

	consumer->plans = dbk_host_alloc((program->ecbdesc_count + 1) * sizeof(*consumer->plans));
	if (consumer->plans == NULL)
		return dbk_refuse(reason, -ENOMEM, "no memory for the enabling");
	for (i = 0; i < program->ecbdesc_count; i++) {
		consumer->plan_count = i;
		error = init_plan(consumer, &program->ecbdescs[i], &consumer->plans[i], reason);
		if (error != 0) {
			dbk_reason_prefix(reason, "enabling in section",
					  program->ecbdescs[i].section);
			return error;
		}
		aggregations += consumer->plans[i].aggregation_count;
		if (aggregations > AGGREGATIONS_MAX)
			return dbk_refuse(reason, -E2BIG, "more than %u aggregating actions",
					  AGGREGATIONS_MAX);
	}
	consumer->plan_count = program->ecbdesc_count;
	return 0;
}

void dbk_plans_deinit(struct dbk_consumer *consumer)
{
	uint32_t i;

	for (i = 0; consumer->plans != NULL && i < consumer->program->ecbdesc_count; i++) {
		dbk_host_free(consumer->plans[i].steps);
		dbk_host_free(consumer->plans[i].fields);
		dbk_host_free(consumer->plans[i].aggregations);
	}
	dbk_host_free(consumer->plans);
	consumer->plans = NULL;
}

uint32_t dbk_plan_key_bytes(const struct dbk_consumer *consumer)
{
	uint32_t i, j, bytes = 0;

	for (i = 0; i < consumer->plan_count; i++)
		for (j = 0; j < consumer->plans[i].aggregation_count; j++)
			if (consumer->plans[i].aggregations[j].key_bytes_max > bytes)
				bytes = consumer->plans[i].aggregations[j].key_bytes_max;
	/* A CPU whose aggregations have no key still has somewhere to begin one. */
	return bytes < 8 ? 8 : bytes;
}
