/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * lower.h - what a firing runs, made of what was loaded
 *
 * Control path.  lower.c makes expressions of decoded DIFOs (symbols.c runs them), plan.c plans of the
 * actions of an ECBDESC.
 */
#ifndef DBK_ENGINE_LOWER_H
#define DBK_ENGINE_LOWER_H

#include "engine/types/internal.h"
#include "engine/types/reason.h"

/** dbk_difo_lower() - finds the lowered forms of a decoded DIFO: many clauses may have the same */
void dbk_difo_lower(const struct dbk_program *program, struct dbk_difo *difo);

/** dbk_program_bind() - the lowered forms' variables are those of @consumer, which owns the program
 * and has its options */
void dbk_program_bind(struct dbk_program *program, struct dbk_consumer *consumer);

/** dbk_plans_init() - a plan for each enabling of the consumer's program, whatever its buffers' sizes come to;
 * pauses before each; -EINTR: it is no longer wanted */
int dbk_plans_init(struct dbk_consumer *consumer, struct dbk_reason *reason);

/** dbk_plans_count() - once the sizes are known: a counted buffer's records are made in the general way */
void dbk_plans_count(struct dbk_consumer *consumer);

void dbk_plans_deinit(struct dbk_consumer *consumer);

/** dbk_plan_key_bytes() - room for the largest aggregation key of the consumer */
uint32_t dbk_plan_key_bytes(const struct dbk_consumer *consumer);

#endif /* DBK_ENGINE_LOWER_H */
