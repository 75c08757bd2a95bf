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

static const uint8_t *ways_of(const struct dbk_native_part *part)
{
	return (const uint8_t *)(part + 1);
}

static bool is_of_program(const struct dbk_native_part *part, const struct dbk_program *program)
{
	const uint8_t *dof = ways_of(part) + part->clause_count;

	return part->clause_count == program->ecbdesc_count &&
	       part->dof_bytes == program->image_bytes &&
	       __builtin_memcmp(dof, program->image, part->dof_bytes) == 0;
}

uint32_t dbk_native_count(const struct dbk_native_program *native, enum dbk_native_way way)
{
	uint32_t count = 0, i;

	for (i = 0; i < native->part->clause_count; i++)
		count += ways_of(native->part)[i] == way;
	return count;
}

bool dbk_native_is_whole(const struct dbk_native_program *native)
{
	const struct dbk_native_part *part = native->part;
	uint32_t i;

	if (native->version != DBK_NATIVE_VERSION || part == NULL || part->magic != DBK_NATIVE_MAGIC ||
	    native->values == NULL || native->clauses == NULL || native->firings == NULL)
		return false;
	for (i = 0; i < part->clause_count; i++) {
		bool whole = ways_of(part)[i] == DBK_NATIVE_WHOLE;

		if ((native->clauses[i] != NULL) != whole || (native->firings[i] != NULL) != whole)
			return false;
	}
	return true;
}

bool dbk_consumer_bind(struct dbk_consumer *consumer, const struct dbk_native_program *native)
{
	uint32_t i;

	if (!dbk_native_is_whole(native) || !is_of_program(native->part, consumer->program) ||
	    native->lacks != consumer->program->lacks ||
	    native->aggregate != consumer->aggregate || native->counted != consumer->counted)
		return false;
	for (i = 0; i < consumer->plan_count; i++) {
		bind_plan(&consumer->plans[i], native);
		consumer->plans[i].native = native->clauses[i];
		consumer->plans[i].native_firing = native->firings[i];
		consumer->plans[i].native_pays = !dbk_plan_is_simple(&consumer->plans[i]);
		consumer->plans[i].native_way = ways_of(native->part)[i];
	}
	return true;
}
