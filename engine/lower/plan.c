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
#include "engine/api/trigger.h"
#include "engine/lower/plan.h"
#include "engine/memory/speculation.h"
#include "engine/run/dif.h"
#include "engine/types/actions.h"

struct dbk_step *dbk_plan_step(struct dbk_planner *p, enum dbk_step_kind kind, uint32_t action)
{
	struct dbk_step *step = &p->plan->steps[p->plan->step_count++];

	dbk_assert(p->plan->step_count <= p->plan->desc->action_count + 1);
	step->kind = (uint8_t)kind;
	step->action = (uint16_t)action;
	switch (kind) {
	case DBK_STEP_STORE:
	case DBK_STEP_EXECNAME:
		break;
	case DBK_STEP_THREAD:
	case DBK_STEP_CHAIN:
		p->plan->stores_threads |= kind == DBK_STEP_THREAD;
		p->plan->loads |= kind == DBK_STEP_CHAIN;
		p->plan->may_fail |= kind == DBK_STEP_CHAIN;
		p->plan->cells = true;
		break;
	case DBK_STEP_TEXT:
	case DBK_STEP_KEY_BEGIN:
	case DBK_STEP_AGGREGATE:
		p->plan->cells = true;
		break;
	default:
		p->plan->tier = DBK_TIER_GENERAL;
		break;
	}
	return step;
}

static void add_field(struct dbk_planner *p, const struct dbk_step *step, uint32_t bytes,
		      uint8_t shape, uint8_t flags)
{
	struct dbk_meta_field *field = &p->plan->fields[p->plan->field_count++];

	dbk_assert(p->plan->field_count <= p->plan->desc->action_count + 1);
	field->offset = step->offset;
	field->bytes = bytes;
	field->action = step->action;
	field->shape = shape;
	field->flags = flags;
}

/* Alignment: the largest of 8, 4, 2, 1 that divides the size, as in every port. */
static uint32_t place(struct dbk_area *area, uint32_t bytes)
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

static uint32_t place_tail(struct dbk_area *area, uint64_t bytes_max)
{
	area->tail_max += DBK_ROUND_UP(bytes_max, 8);
	return place(area, (uint32_t)sizeof(struct dbk_tail_ref));
}

/* Fields of up to 8 bytes never lie across two words, so each word begins with one of them, which
 * can bring the zeros of the padding. */
static uint64_t word_mask(uint32_t offset, uint32_t bytes)
{
	dbk_assert((offset & 7) + bytes <= 8);
	if ((offset & 7) != 0)
		return 0;
	return bytes == 8 ? ~0ull : (1ull << bytes * 8) - 1;
}

void dbk_plan_integer(struct dbk_planner *p, struct dbk_area *area, uint32_t action,
		      enum dbk_step_kind kind, const struct dbk_expr *expr, uint32_t bytes,
		      uint8_t flags)
{
	bool loads = kind == DBK_STEP_STORE && expr->kind == DBK_EXPR_CHAIN;
	struct dbk_step *step = dbk_plan_step(p, loads ? DBK_STEP_CHAIN : kind, action);

	if (flags == 0 || (flags & DBK_FIELD_F_KEY) != 0)
		dbk_classic_add(&area->classic, bytes);
	step->offset = place(area, bytes);
	step->size = (uint8_t)bytes;
	step->bytes = bytes;
	step->word_mask = word_mask(step->offset, bytes);
	step->expr = *expr;
	if (!loads && !dbk_is_simple(expr))
		p->plan->tier = DBK_TIER_GENERAL;
	add_field(p, step, bytes, DBK_FIELD_FIXED, flags);
}

/* Whether a text needs nothing but program and probe, or an argument that is given. */
static bool is_at_hand(const struct dbk_consumer *consumer, const struct dbk_expr *expr)
{
	if (expr->kind == DBK_EXPR_LITERAL)
		return true;
	return consumer->strsize < DBK_SIMPLE_TEXT_MAX &&
	       (expr->kind == DBK_EXPR_NAME ||
		(expr->kind == DBK_EXPR_ARG && consumer->program->args_given != 0 &&
		 (consumer->program->lacks & DBK_LACKS_KERNEL) == 0));
}

static enum dbk_step_kind string_kind(const struct dbk_consumer *consumer,
				      const struct dbk_expr *expr)
{
	if (expr->kind == DBK_EXPR_NAME && expr->operand == DIF_VAR_EXECNAME)
		return consumer->strsize + 1 >= DBK_EXECNAME_BYTES ? DBK_STEP_EXECNAME
								   : DBK_STEP_STRING;
	return is_at_hand(consumer, expr) ? DBK_STEP_TEXT : DBK_STEP_STRING;
}

static void plan_string(struct dbk_planner *p, struct dbk_area *area, uint32_t action,
			uint8_t flags)
{
	const struct dbk_expr *expr = &p->desc->actions[action].difo->expr;
	uint32_t strsize = p->consumer->strsize;
	struct dbk_step *step = dbk_plan_step(p, string_kind(p->consumer, expr), action);

	p->plan->may_fail |= step->kind == DBK_STEP_TEXT && expr->kind == DBK_EXPR_ARG;

	dbk_classic_add(&area->classic, strsize);
	step->offset = place_tail(area, strsize + 1);
	step->size = (uint8_t)sizeof(struct dbk_tail_ref);
	step->bytes = strsize + 1;
	step->word_mask = word_mask(step->offset, step->size);
	step->expr = *expr;
	add_field(p, step, strsize, DBK_FIELD_STRING, flags);
}

static void plan_value(struct dbk_planner *p, struct dbk_area *area, uint32_t action, uint8_t flags)
{
	const struct dbk_difo *difo = p->desc->actions[action].difo;
	struct dbk_step *step;

	if (difo->type.size == 0 && difo->stores) {
		step = dbk_plan_step(p, DBK_STEP_THREAD, action);
		step->expr = difo->stored;
		step->bytes = difo->stored_var;
		if (!dbk_is_simple(&step->expr))
			p->plan->tier = DBK_TIER_GENERAL;
	} else if (difo->type.size == 0) {
		step = dbk_plan_step(p, DBK_STEP_EVALUATE, action);
		step->expr = difo->expr;
	} else if (difo->type.kind == DIF_TYPE_STRING) {
		plan_string(p, area, action, flags);
	} else if ((difo->type.flags & DIF_TF_BYREF) != 0) {
		dbk_classic_add(&area->classic, difo->type.size);
		step = dbk_plan_step(p, DBK_STEP_BYTES, action);
		step->offset = place(area, difo->type.size);
		step->bytes = difo->type.size;
		step->expr = difo->expr;
		add_field(p, step, step->bytes, DBK_FIELD_FIXED, flags);
	} else {
		dbk_plan_integer(p, area, action, DBK_STEP_STORE, &difo->expr, difo->type.size,
				 flags);
	}
}

static bool is_kernel_stack(uint32_t kind)
{
	return kind == DTRACEACT_STACK || kind == DBK_ACT_CAPTURE_STACK;
}

static uint32_t stack_depth(const struct dbk_planner *p, const struct dbk_actdesc *action)
{
	uint32_t depth = (uint32_t)action->arg;

	if (depth != 0)
		return depth;
	if (action->kind == DTRACEACT_JSTACK)
		return p->consumer->jstackframes;
	return is_kernel_stack(action->kind) ? p->consumer->stackframes : p->consumer->ustackframes;
}

static void plan_stack(struct dbk_planner *p, struct dbk_area *area, uint32_t action, uint8_t flags)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	bool user = !is_kernel_stack(desc->kind);
	struct dbk_step *step = dbk_plan_step(p, user ? DBK_STEP_USTACK : DBK_STEP_STACK, action);

	uint32_t memory = 0;

	/* A key in the engine's cells is what is equal: memory is not.  In a record its reader
	 * unwinds it. */
	if ((flags == 0 || p->consumer->aggregate == DBK_AGGREGATE_RECORD) &&
	    (desc->kind == DTRACEACT_USTACK || desc->kind == DTRACEACT_JSTACK) &&
	    p->consumer->ustackbytes != 0) {
		step->aggregation = p->consumer->ustackbytes;
		memory = step->aggregation + (DBK_USER_REGISTERS + 2) * 8;
		flags |= DBK_FIELD_F_MEMORY;
		area->stack_count++;
		area->stacks_max += (stack_depth(p, desc) + 1) * 8 + memory;
	}
	/* DTrace's ustack() has two words in front, process and thread group. */
	dbk_classic_add(&area->classic, (stack_depth(p, desc) + (user ? 2 : 0)) * 8 + memory);
	/* ustack() begins with the process id: its addresses mean nothing without. */
	step->bytes = (stack_depth(p, desc) + user) * 8;
	step->offset = place_tail(area, step->bytes + memory + 8);
	add_field(p, step, step->bytes + memory, DBK_FIELD_STACK, flags);
}

/* usym() and kin: process id, then the address. */
static void plan_pid_value(struct dbk_planner *p, struct dbk_area *area, uint32_t action,
			   uint8_t flags)
{
	struct dbk_step *step = dbk_plan_step(p, DBK_STEP_PID_VALUE, action);

	dbk_classic_add(&area->classic, 24);
	step->offset = place(area, 16);
	step->bytes = 16;
	step->expr = p->desc->actions[action].difo->expr;
	add_field(p, step, 16, DBK_FIELD_FIXED, flags);
}

/* Nothing is stored: a clause of such actions alone leaves no record. */
static void plan_act(struct dbk_planner *p, uint32_t action)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	struct dbk_step *step = dbk_plan_step(p, DBK_STEP_ACT, action);

	step->bytes = desc->kind;
	if (desc->difo != NULL)
		step->expr = desc->difo->expr;
	else
		step->expr.kind = DBK_EXPR_CONST;
}

void dbk_plan_action(struct dbk_planner *p, struct dbk_area *area, uint32_t action, uint8_t flags)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];

	switch (desc->kind) {
	case DTRACEACT_STACK:
	case DTRACEACT_USTACK:
	case DTRACEACT_JSTACK:
	case DBK_ACT_CAPTURE_STACK:
	case DBK_ACT_CAPTURE_USTACK:
		plan_stack(p, area, action, flags);
		break;
	case DTRACEACT_USYM:
	case DTRACEACT_UMOD:
	case DTRACEACT_UADDR:
		plan_pid_value(p, area, action, flags);
		break;
	case DTRACEACT_SYM:
	case DTRACEACT_MOD:
		dbk_plan_integer(p, area, action, DBK_STEP_STORE, &desc->difo->expr, 8, flags);
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
		dbk_plan_step(p, DBK_STEP_SPECULATE, action)->expr = desc->difo->expr;
		break;
	case DTRACEACT_COMMIT:
		dbk_plan_step(p, DBK_STEP_COMMIT, action)->expr = desc->difo->expr;
		break;
	case DTRACEACT_DISCARD:
		dbk_plan_step(p, DBK_STEP_DISCARD, action)->expr = desc->difo->expr;
		break;
	case DTRACEACT_EXIT:
		dbk_plan_integer(p, area, action, DBK_STEP_EXIT, &desc->difo->expr,
				 desc->difo->type.size, flags);
		break;
	default:
		plan_value(p, area, action, flags);
		break;
	}
}

/* The first aggregating action at or after @from; action_count when there is none. */
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

static int plan_actions(struct dbk_planner *p)
{
	const struct dbk_ecbdesc *desc = p->desc;
	uint32_t i, aggregation = next_aggregation(desc, 0);
	int error = 0;

	for (i = 0; i < desc->action_count && error == 0; i++) {
		if (i > aggregation)
			aggregation = next_aggregation(desc, i);
		if (desc->actions[i].kind == DBK_ACT_SNAPSHOT) {
			error = dbk_plan_snapshot(p, &p->record, i, 0);
			continue;
		}
		if (!in_tuple(desc, i, aggregation)) {
			dbk_plan_action(p, &p->record, i, 0);
			continue;
		}
		i = aggregation;
		if (p->consumer->aggregate == DBK_AGGREGATE_ENGINE)
			error = dbk_plan_aggregation_engine(p, i);
		else
			dbk_plan_aggregation_record(p, i);
	}
	return error;
}

static bool is_tail(const struct dbk_actdesc *action)
{
	if (dbk_action_is_stack(action->kind))
		return true;
	return !DTRACEACT_IS_AGG(action->kind) && action->difo != NULL &&
	       action->difo->type.kind == DIF_TYPE_STRING;
}

/* Whether the record will have a tail: then its length stands after the header. */
static bool stores_tail(const struct dbk_planner *p)
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

static uint32_t aggregations_of(const struct dbk_ecbdesc *desc)
{
	uint32_t i, count = 0;

	for (i = 0; i < desc->action_count; i++)
		count += DTRACEACT_IS_AGG(desc->actions[i].kind);
	return count;
}

static int allocate(struct dbk_plan *plan, const struct dbk_ecbdesc *desc,
		    struct dbk_reason *reason)
{
	uint32_t aggregations = aggregations_of(desc);

	/* One step an action; KEY_BEGIN takes the place of the id, which has none. */
	plan->steps = dbk_host_alloc((desc->action_count + 1) * sizeof(*plan->steps));
	plan->fields = dbk_host_alloc((desc->action_count + 1) * sizeof(*plan->fields));
	plan->aggregations = dbk_host_alloc((aggregations + 1) * sizeof(*plan->aggregations));
	if (plan->steps == NULL || plan->fields == NULL || plan->aggregations == NULL)
		return dbk_refuse(reason, -ENOMEM, "no memory for the enabling");
	return 0;
}

static uint32_t insns_of(uint32_t kind)
{
	return kind == DBK_EXPR_DIVIDED ? 3 : kind == DBK_EXPR_BINARY ? 2 : 1;
}

/* What the steps cost besides their expressions, which charge themselves. */
static uint32_t plan_work(const struct dbk_plan *plan)
{
	uint32_t work = DBK_WORK_CALL + plan->fixed_bytes, i;

	for (i = 0; i < plan->step_count; i++) {
		uint32_t kind = plan->steps[i].kind;

		if (kind == DBK_STEP_EXECNAME)
			work += 2 * DBK_WORK_INSN;
		else if (kind == DBK_STEP_TEXT) /* by words, it is not charged where it is copied */
			work += DBK_WORK_CALL + dbk_step_text_most(&plan->steps[i]);
		else if (kind == DBK_STEP_STRING)
			work += 2 * DBK_WORK_CALL;
		else if (kind == DBK_STEP_STORE || kind == DBK_STEP_EVALUATE ||
			 kind == DBK_STEP_KEY_BEGIN)
			work += insns_of(plan->steps[i].expr.kind) * DBK_WORK_INSN;
		else if (kind == DBK_STEP_CHAIN) /* a general clause pays for each load besides */
			work += DBK_WORK_INSN +
				2 * DBK_WORK_INSN * plan->steps[i].expr.chain->link_count;
		else if (kind == DBK_STEP_USTACK) /* the process chooses where it leads */
			work += DBK_WORK_FAULT;
		else
			work += DBK_WORK_CALL;
	}
	return work;
}

/* What the record of a simple plan takes at most. */
static uint32_t simple_bytes(const struct dbk_plan *plan)
{
	uint32_t bytes = plan->fixed_bytes, i;
	bool in_key = false;

	if (!plan->has_record)
		return 0;
	for (i = 0; i < plan->step_count; i++) {
		uint32_t kind = plan->steps[i].kind;

		if (kind == DBK_STEP_KEY_BEGIN || kind == DBK_STEP_AGGREGATE)
			in_key = kind == DBK_STEP_KEY_BEGIN;
		else if (kind == DBK_STEP_EXECNAME && !in_key)
			bytes += DBK_EXECNAME_BYTES;
		else if (kind == DBK_STEP_TEXT && !in_key)
			bytes += (uint32_t)DBK_ROUND_UP(dbk_step_text_most(&plan->steps[i]), 8);
	}
	return bytes;
}

/* Whether what may fail comes before anything that must not be done twice: when it does, the clause
 * is run once more, in the general way, which reports that. */
static bool fails_first(const struct dbk_plan *plan)
{
	const struct dbk_step *step;
	bool counted = false;

	for (step = plan->steps; step != plan->steps_end; step++) {
		if ((step->kind == DBK_STEP_CHAIN || step->kind == DBK_STEP_TEXT) && counted)
			return false;
		counted |= step->kind == DBK_STEP_AGGREGATE;
	}
	return !plan->stores_threads;
}

/* Refuses a record that no segment has room for: the fixed part; and user stacks with as much memory
 * as was asked for, which nearly every process has.  A longer tail, of strings, is a drop where it is one. */
static int check_room(const struct dbk_planner *p)
{
	const struct dbk_plan *plan = p->plan;
	uint32_t segment = p->consumer->ring->segment_bytes;
	uint32_t beside = DBK_SEGMENT_DATA_OFFSET + (plan->speculates ? DBK_COMMIT_PART_BYTES : 0);
	uint32_t limit = segment - beside < DBK_RECORD_BYTES_MAX ? segment - beside : DBK_RECORD_BYTES_MAX;
	uint32_t count = p->record.stack_count, bytes = p->consumer->ustackbytes;
	uint64_t needed = plan->fixed_bytes + p->record.stacks_max, other = needed - (uint64_t)count * bytes;

	if (plan->fixed_bytes > limit)
		return dbk_refuse(p->reason, -E2BIG,
				  "its records take %u bytes, a segment has room for %u",
				  plan->fixed_bytes, limit);
	if (count == 0 || needed <= limit)
		return 0;
	bytes = other < limit ? (uint32_t)(limit - other) / count & ~7u : 0;
	if (needed > DBK_RECORD_BYTES_MAX)
		return dbk_refuse(p->reason, -E2BIG,
				  "with its %u user stacks a record takes up to %U bytes, and has "
				  "room for %u: ustackbytes=%u at most",
				  count, needed, limit, bytes);
	while (segment < needed + beside)
		segment *= 2;
	return dbk_refuse(p->reason, -E2BIG,
			  "with its %u user stacks a record takes up to %U bytes, a segment has room "
			  "for %u: ustackbytes=%u at most, or segmentsize=%u",
			  count, needed, limit, bytes, segment);
}

/* DBK_GATE_ of the engine's own probes that @desc names. */
static uint8_t own_gates(const struct dbk_consumer *consumer, const struct dbk_ecbdesc *desc)
{
	const struct dbk_probedesc *probes = &consumer->program->probedescs[desc->probedesc];
	const struct dbk_engine *engine = consumer->engine;

	return (uint8_t)((dbk_probedesc_match(probes, &engine->begin) ? DBK_GATE_BEGIN : 0) |
			 (dbk_probedesc_match(probes, &engine->end) ? DBK_GATE_END : 0) |
			 (dbk_probedesc_match(probes, &engine->error) ? DBK_GATE_ERROR : 0));
}

static int init_plan(struct dbk_planner *p, const struct dbk_ecbdesc *desc, struct dbk_plan *plan)
{
	struct dbk_consumer *consumer = p->consumer;
	int error = allocate(plan, desc, p->reason);

	if (error != 0)
		return error;
	p->desc = desc;
	p->plan = plan;
	memset(&p->record, 0, sizeof(p->record));
	plan->desc = desc;
	plan->own_gates = own_gates(consumer, desc);
	plan->tier = DBK_TIER_SIMPLE;
	plan->uses_locals = uses_locals(desc);
	if (desc->predicate != NULL)
		plan->predicate = desc->predicate->predicate;
	/* A clause without actions records that it fired, and so does one that only speculates. */
	plan->has_record =
		desc->action_count == 0 ||
		(desc->action_count == 1 && desc->actions[0].kind == DTRACEACT_SPECULATE);
	plan->variable = stores_tail(p);
	p->record.at = (uint32_t)sizeof(struct dbk_record_header) + (plan->variable ? 4 : 0);
	p->record.classic.bytes = p->record.classic.align = 4;
	error = plan_actions(p);
	if (error != 0)
		return error;
	plan->fixed_bytes = (uint32_t)DBK_ROUND_UP(p->record.at, DBK_RECORD_ALIGN_BYTES);
	error = check_room(p);
	if (error != 0)
		return error;
	plan->work = plan_work(plan);
	plan->zero_fixed = p->record.has_gaps || p->record.at != plan->fixed_bytes;
	if (p->record.at != sizeof(struct dbk_record_header) + (plan->variable ? 4 : 0))
		plan->has_record = true;
	plan->classic_bytes = (uint32_t)DBK_ROUND_UP(p->record.classic.bytes, 4);
	plan->classic_align = p->record.classic.align;
	plan->steps_end = plan->steps + plan->step_count;
	plan->simple_bytes = simple_bytes(plan);
	if (plan->has_record && !plan->speculates)
		plan->most_bytes = p->record.tail_max < DBK_RECORD_BYTES_MAX - plan->fixed_bytes
					   ? plan->fixed_bytes + (uint32_t)p->record.tail_max
					   : DBK_RECORD_BYTES_MAX;
	/* What is the kernel's, and what the program's own, is looked at in the general way. */
	if (plan->may_fail &&
	    ((consumer->program->lacks & DBK_LACKS_KERNEL) != 0 || !fails_first(plan)))
		plan->tier = DBK_TIER_GENERAL;
	if (plan->uses_locals || plan->work > DBK_SIMPLE_WORK_MAX ||
	    plan->simple_bytes > DBK_RECORD_BYTES_MAX)
		plan->tier = DBK_TIER_GENERAL;
	return 0;
}

static int plan_all(struct dbk_planner *p)
{
	struct dbk_consumer *consumer = p->consumer;
	const struct dbk_program *program = consumer->program;
	uint32_t i, aggregations = 0;
	int error;

	for (i = 0; i < program->ecbdesc_count; i++) {
		const struct dbk_ecbdesc *desc = &program->ecbdescs[i];

		consumer->plan_count = i;
		error = dbk_host_pause();
		if (error != 0)
			return error;
		if (consumer->aggregate == DBK_AGGREGATE_ENGINE)
			aggregations += aggregations_of(desc);
		if (aggregations > DBK_AGGREGATIONS_MAX)
			return dbk_refuse(p->reason, -E2BIG, "more than %u aggregating actions",
					  DBK_AGGREGATIONS_MAX);
		error = init_plan(p, desc, &consumer->plans[i]);
		if (error != 0) {
			dbk_reason_prefix(p->reason, "enabling in section", desc->section);
			return error;
		}
		if ((consumer->plans[i].own_gates & DBK_GATE_ERROR) != 0)
			consumer->fault_bytes += consumer->plans[i].most_bytes;
	}
	consumer->plan_count = program->ecbdesc_count;
	return 0;
}

int dbk_plans_init(struct dbk_consumer *consumer, struct dbk_reason *reason)
{
	struct dbk_planner p = {.consumer = consumer, .reason = reason};
	int error;

	consumer->plans =
		dbk_host_alloc((consumer->program->ecbdesc_count + 1) * sizeof(*consumer->plans));
	if (consumer->plans == NULL)
		return dbk_refuse(reason, -ENOMEM, "no memory for the enabling");
	error = plan_all(&p);
	dbk_host_free(p.classes);
	return error;
}

void dbk_plans_count(struct dbk_consumer *consumer)
{
	uint32_t i;

	for (i = 0; consumer->counted && i < consumer->plan_count; i++)
		consumer->plans[i].tier = DBK_TIER_GENERAL;
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
	dbk_host_free(consumer->triggers);
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
