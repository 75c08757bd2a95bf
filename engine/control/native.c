/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* native.c - puts translated functions where plans have what is interpreted; engine/native.h */
#include "engine/control/state.h"

static void bind_expr(struct dbk_expr *expr, const struct dbk_native_program *native)
{
	dbk_native_value *value;

	if (expr->kind != DBK_EXPR_DIF)
		return;
	value = native->values[expr->difo->section];
	if (value == NULL)
		return;
	expr->kind = DBK_EXPR_NATIVE;
	expr->native = value;
}

static void bind_plan(struct dbk_plan *plan, const struct dbk_native_program *native)
{
	uint32_t i;

	bind_expr(&plan->predicate.left, native);
	for (i = 0; i < plan->step_count; i++)
		bind_expr(&plan->steps[i].expr, native);
	for (i = 0; i < plan->aggregation_count; i++) {
		bind_expr(&plan->aggregations[i].value, native);
		bind_expr(&plan->aggregations[i].increment, native);
	}
}

bool dbk_consumer_bind(struct dbk_consumer *consumer, const struct dbk_native_program *native)
{
	uint32_t i;

	if (native->lacks != consumer->program->lacks || native->strsize != consumer->strsize ||
	    native->aggregate != consumer->aggregate || native->counted != consumer->counted ||
	    native->section_count != consumer->program->section_count ||
	    native->clause_count != consumer->plan_count)
		return false;
	for (i = 0; i < consumer->plan_count; i++) {
		bind_plan(&consumer->plans[i], native);
		consumer->plans[i].native = native->clauses[i];
		consumer->plans[i].native_pays = !dbk_plan_is_simple(&consumer->plans[i]);
	}
	return true;
}
