/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * plan.h - what plans are made with; plan.c has the model.  Control path
 */
#ifndef DBK_ENGINE_PLAN_H
#define DBK_ENGINE_PLAN_H

#include "engine/lower/lower.h"
#include "engine/memory/account.h"

#define DBK_AGGREGATIONS_MAX 4096u /* of one program, in their enablings */

/* Where fields are being put: the record, or an aggregation's key. */
struct dbk_area {
	uint32_t at; /* next free byte of the fixed part */
	uint64_t tail_max;
	uint64_t stacks_max; /* of that the user stacks with memory */
	uint32_t stack_count;
	bool has_gaps;
	struct dbk_classic classic;
};

struct dbk_planner {
	struct dbk_consumer *consumer;
	struct dbk_plan *plan;
	const struct dbk_ecbdesc *desc;
	struct dbk_area record;
	struct dbk_reason *reason;
	const struct dbk_aggregation **classes; /* hash table of the first of each; NULL: none yet */
};

/** dbk_plan_step() - the next step of the plan, empty */
struct dbk_step *dbk_plan_step(struct dbk_planner *p, enum dbk_step_kind kind, uint32_t action);

/** dbk_plan_integer() - a step and a field for an integer of @bytes at its alignment */
void dbk_plan_integer(struct dbk_planner *p, struct dbk_area *area, uint32_t action,
		      enum dbk_step_kind kind, const struct dbk_expr *expr, uint32_t bytes,
		      uint8_t flags);

/** dbk_plan_action() - what an action stores, aggregating ones left out */
void dbk_plan_action(struct dbk_planner *p, struct dbk_area *area, uint32_t action, uint8_t flags);

/** dbk_plan_aggregation_record() - aggregate=record: keys, increment and value are fields */
void dbk_plan_aggregation_record(struct dbk_planner *p, uint32_t action);

/** dbk_plan_aggregation_engine() - aggregate=engine: a key of their own, and cells; -E2BIG, -ENOMEM */
int dbk_plan_aggregation_engine(struct dbk_planner *p, uint32_t action);

/** dbk_plan_snapshot() - snapshot(): whether it was taken is a field, its name a trigger of the
 * consumer; -ENOMEM, -E2BIG */
int dbk_plan_snapshot(struct dbk_planner *p, struct dbk_area *area, uint32_t action, uint8_t flags);

#endif /* DBK_ENGINE_PLAN_H */
