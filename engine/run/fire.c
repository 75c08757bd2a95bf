/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* fire.c - the hot path; see fire.h */
#include "engine/memory/speculation.h"
#include "engine/run/fire.h"
#include "engine/run/simple.h"

/* ---- expressions --------------------------------------------------------------------- */

__probe_ctx __attribute__((__noinline__)) uint64_t
dbk_thread_value(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint32_t var)
{
	return dbk_thread_load(cpu, consumer, var);
}

static __probe_ctx_inline uint64_t binary_value(struct dbk_cpu *cpu, const struct dbk_expr *expr,
						const struct dbk_probe *probe, const uint64_t *args,
						void *frame)
{
	uint64_t left, right;

	left = dbk_operand_value(cpu, expr->left, expr->operand, expr->consumer, probe, args,
				 frame);
	right = dbk_operand_value(cpu, expr->right, expr->constant, expr->consumer, probe, args,
				  frame);
	return dbk_binary(expr->op, left, right);
}

__probe_ctx __attribute__((__noinline__)) static uint64_t
divided_value(struct dbk_cpu *cpu, const struct dbk_expr *expr, const struct dbk_probe *probe,
	      const uint64_t *args, void *frame)
{
	const struct dbk_expr *dividend = expr->dividend;
	uint64_t value = dividend->kind == DBK_EXPR_BINARY
				 ? binary_value(cpu, dividend, probe, args, frame)
				 : dbk_operand_value(cpu, dividend->kind, dividend->operand,
						     dividend->consumer, probe, args, frame);

	return dbk_quotient(expr->op, value, expr->operand);
}

__probe_ctx __attribute__((__noinline__)) uint64_t
dbk_composed_value(struct dbk_cpu *cpu, const struct dbk_expr *expr, const struct dbk_probe *probe,
		   const uint64_t *args, void *frame)
{
	if (expr->kind == DBK_EXPR_BINARY)
		return binary_value(cpu, expr, probe, args, frame);
	if (expr->kind == DBK_EXPR_DIVIDED)
		return divided_value(cpu, expr, probe, args, frame);
	return dbk_thread_value(cpu, expr->consumer, expr->operand);
}

__probe_ctx __attribute__((__noinline__)) static void
aggregate_values(struct dbk_cpu *cpu, const struct dbk_aggregation *agg, uint32_t key_bytes,
		 const uint64_t *args, void *frame)
{
	const struct dbk_probe *probe = cpu->ecb->probe;
	int64_t value = 0, increment = 1;

	if (agg->has_increment)
		increment = (int64_t)dbk_simple_value(cpu, &agg->increment, probe, args, frame);
	if (agg->kind != DTRACEAGG_COUNT)
		value = (int64_t)dbk_simple_value(cpu, &agg->value, probe, args, frame);
	dbk_aggregate(cpu, agg, cpu->buffer->key, key_bytes, value, increment);
}

/* What most count is an argument at hand, or nothing: that takes no registers to be saved. */
__probe_ctx __attribute__((__noinline__)) void
dbk_simple_aggregate(struct dbk_cpu *cpu, const struct dbk_step *step, uint32_t key_bytes,
		     const uint64_t *args, void *frame)
{
	const struct dbk_ecb *ecb = cpu->ecb;
	const struct dbk_aggregation *agg = &ecb->plan->aggregations[step->aggregation];
	const struct dbk_probe *probe = ecb->probe;

	if (likely(!agg->has_increment && agg->value.kind == DBK_EXPR_ARG &&
		   agg->value.operand < probe->arg_count))
		dbk_aggregate(cpu, agg, cpu->buffer->key, key_bytes,
			      (int64_t)args[probe->arg_word[agg->value.operand]], 1);
	else
		aggregate_values(cpu, agg, key_bytes, args, frame);
}

__probe_ctx __attribute__((__noinline__)) bool
dbk_simple_rest(struct dbk_cpu *cpu, const struct dbk_step *step, uint8_t *base,
		const uint64_t *args, void *frame)
{
	const struct dbk_ecb *ecb = cpu->ecb;

	if (step->kind == DBK_STEP_CHAIN)
		return dbk_simple_chain(cpu, step, base, args, frame);
	return dbk_thread_store(cpu, ecb->consumer, step->bytes,
				dbk_simple_value(cpu, &step->expr, ecb->probe, args, frame));
}

__probe_ctx __attribute__((__noinline__)) static uint64_t speculation(struct dbk_cpu *cpu,
								       const struct dbk_expr *expr)
{
	uint64_t id = dbk_speculation(cpu);

	if (unlikely(cpu->fault_set))
		cpu->fault_pc = expr->operand;
	return id;
}

/* Each call is its last: it saves no registers. */
__probe_ctx uint64_t dbk_expr_rest(struct dbk_cpu *cpu, const struct dbk_expr *expr)
{
	if (expr->kind == DBK_EXPR_THREAD)
		return dbk_thread_value(cpu, expr->consumer, expr->operand);
	if (expr->kind == DBK_EXPR_CONST)
		return expr->constant;
	if (expr->kind == DBK_EXPR_VARIABLE)
		return dbk_builtin(cpu, expr->operand);
	if (expr->kind == DBK_EXPR_BINARY || expr->kind == DBK_EXPR_DIVIDED)
		return dbk_composed_value(cpu, expr, cpu->probe, cpu->args, cpu->frame);
	if (expr->kind == DBK_EXPR_CHAIN)
		return dbk_chain_value(cpu, expr->chain);
	if (expr->kind == DBK_EXPR_NATIVE)
		return expr->native(cpu, expr->difo);
	if (expr->kind == DBK_EXPR_SPECULATION)
		return speculation(cpu, expr);
	if (expr->kind == DBK_EXPR_ARG)
		return dbk_argument(cpu->probe, cpu->args, cpu->frame, expr->operand);
	/* DIF; NAME, LITERAL and COPYINSTR where they are not copied at once. */
	return dbk_dif_exec(cpu, expr->difo);
}

/* ---- the firing's state ------------------------------------------------------------------ */

/* What a plan or predicate that is not simple finds in the dbk_cpu. */
__probe_ctx static void enter_ecb(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
				  const uint64_t *args, void *frame, const struct dbk_ecb *ecb)
{
	cpu->probe = ecb->probe;
	cpu->args = args;
	cpu->frame = frame;
	cpu->ecb = ecb;
	cpu->consumer = ecb->consumer;
	cpu->buffer = buffer;
	cpu->fault_set = false;
	cpu->fault_pc = DBK_FAULT_PC_NONE;
	cpu->scratch_used = 0;
	dbk_work_begin(cpu, ecb->consumer);
}

__probe_ctx bool dbk_turn_off(struct dbk_consumer *consumer, enum dbk_activity activity,
			      uint32_t gates, int32_t status)
{
	uint32_t before = dbk_load_acquire(&consumer->activity), i;

	do {
		if (before != DBK_ACTIVITY_WARMUP && before != DBK_ACTIVITY_ACTIVE)
			return false;
	} while (!dbk_compare_swap(&consumer->activity, &before, (uint32_t)activity));
	dbk_store_relaxed(&consumer->exit_status, status);
	dbk_store_release(&consumer->ring->activity, (uint32_t)activity);
	for (i = 0; i < consumer->engine->cpu_count; i++)
		if (dbk_load_relaxed(&consumer->buffers[i].gate) != 0)
			dbk_store_release(&consumer->buffers[i].gate, gates);
	return true;
}

__probe_ctx void dbk_exit(struct dbk_cpu *cpu, int32_t status)
{
	struct dbk_consumer *consumer = cpu->consumer;

	/* ERROR goes on: what fails in the clauses that are running is still reported. */
	if (dbk_turn_off(consumer, DBK_ACTIVITY_DRAINING, DBK_GATE_ERROR, status))
		return;
	/* exit() in END: too late to stop anything, but it still says how. */
	if (dbk_load_acquire(&consumer->activity) == DBK_ACTIVITY_COOLDOWN)
		dbk_store_relaxed(&consumer->exit_status, status);
}

/* ---- one ECB -------------------------------------------------------------------------------- */

/* Predicate, if @ask, and plan of the ECB that was entered.  When it faults, *action_ret says
 * where: 0 in the predicate, else the action's number from 1. */
__probe_ctx_inline static void run_entered(struct dbk_cpu *cpu, bool ask, uint32_t *action_ret)
{
	const struct dbk_plan *plan = cpu->ecb->plan;

	*action_ret = 0;
	if (plan->uses_locals && cpu->buffer->locals_serial != cpu->serial) {
		if (!dbk_spend(cpu, cpu->consumer->program->locals_work))
			return;
		dbk_locals_clear(cpu);
	}
	if (ask) {
		uint64_t value = dbk_expr_rest(cpu, &plan->predicate.left);

		if (cpu->fault_set || !dbk_value_holds(&plan->predicate, value))
			return;
	}
	dbk_run_plan(cpu, action_ret);
}

/* Whether a predicate that is simple does not hold. */
__probe_ctx __attribute__((__noinline__)) static bool
rejected(struct dbk_cpu *cpu, const struct dbk_predicate *predicate, const struct dbk_probe *probe,
	 const uint64_t *args, void *frame)
{
	return !dbk_simple_holds(cpu, predicate, probe, args, frame);
}

/* Whether it has to be asked once the ECB is entered. */
__probe_ctx static bool must_ask(const struct dbk_predicate *predicate)
{
	return predicate->kind != DBK_PREDICATE_NONE && !predicate->simple;
}

/* An ECB of the ERROR probe, after another one's fault. */
__probe_ctx static void run_error_ecb(struct dbk_cpu *cpu, const struct dbk_ecb *ecb, void *frame)
{
	const struct dbk_predicate *predicate = &ecb->plan->predicate;
	struct dbk_probe *probe = ecb->probe;
	uint32_t action;

	enter_ecb(cpu, dbk_buffer_here(ecb), cpu->error_args, frame, ecb);
	if ((dbk_load_relaxed(&cpu->buffer->gate) & DBK_GATE_ERROR) == 0)
		return;
	dbk_count(&cpu->buffer->counters->firings, 1);
	if (predicate->simple && rejected(cpu, predicate, probe, cpu->error_args, frame))
		return;
	run_entered(cpu, must_ask(predicate), &action);
	if (cpu->fault_set && cpu->fault != DBK_FAULT_DROP) {
		cpu->buffer->counters->errors++;
		dbk_drop(cpu->buffer, DBK_DROP_DBLERROR);
	}
}

/* arg1 EPID, arg2 action, arg3 DIF offset in bytes or -1, arg4 fault, arg5 address. */
__probe_ctx static void fire_error(struct dbk_cpu *cpu, const struct dbk_ecb *failed, void *frame,
				   uint32_t action)
{
	struct dbk_engine *engine = failed->consumer->engine;
	const struct dbk_ecb *ecb;
	uint32_t left;

	cpu->buffer->counters->errors++;
	if (cpu->fault == DTRACEFLT_WORK)
		dbk_drop(cpu->buffer, DBK_DROP_WORK);
	if (!dbk_affords(cpu, DBK_WORK_FAULT))
		cpu->work_left = 0;
	/* ERROR clauses have an account of their own, so that they say why the others stopped. */
	if (cpu->error_work_left < DBK_WORK_FAULT) {
		dbk_drop(cpu->buffer, DBK_DROP_DBLERROR);
		return;
	}
	left = cpu->work_left;
	cpu->work_left = cpu->error_work_left - DBK_WORK_FAULT;
	cpu->error_args[0] = 0;
	cpu->error_args[1] = failed->epid;
	cpu->error_args[2] = action;
	cpu->error_args[3] =
		cpu->fault_pc == DBK_FAULT_PC_NONE ? ~0ull : (uint64_t)cpu->fault_pc * 4;
	cpu->error_args[4] = cpu->fault;
	cpu->error_args[5] = cpu->fault_address;
	for (ecb = dbk_load_acquire(&engine->error.ecbs); ecb != NULL;
	     ecb = dbk_load_acquire(&ecb->next))
		if (ecb->consumer == failed->consumer)
			run_error_ecb(cpu, ecb, frame);
	cpu->error_work_left = cpu->work_left;
	cpu->work_left = left;
}

__probe_ctx __attribute__((__noinline__)) static void run_slowly(struct dbk_cpu *cpu,
								 struct dbk_buffer *buffer,
								 const uint64_t *args, void *frame,
								 const struct dbk_ecb *ecb)
{
	bool pays = ecb->tier == DBK_TIER_GENERAL || ecb->plan->native_pays;
	bool timed = pays && cpu->unsampled-- == 0;
	uint64_t began = timed ? dbk_host_ticks() : 0;
	uint32_t action, left;

	enter_ecb(cpu, buffer, args, frame, ecb);
	left = cpu->work_left;
	/* What is not charged where there is room is not charged here either. In the general way it
	 * costs more than its plan says: characters DBK_WORK_CHAR each, and a key twice. */
	if (!pays)
		cpu->work_left = (2 + DBK_WORK_CHAR) * DBK_SIMPLE_WORK_MAX + DBK_WORK_FAULT;
	run_entered(cpu, must_ask(&ecb->plan->predicate), &action);
	if (!pays)
		cpu->work_left = left;
	if (unlikely(cpu->fault_set) && cpu->fault != DBK_FAULT_DROP)
		fire_error(cpu, ecb, frame, action);
	if (unlikely(timed))
		dbk_deadman(cpu, ecb->consumer, began);
}

__probe_ctx_inline static bool is_quick(uint32_t predicate_kind)
{
	return predicate_kind <= DBK_PREDICATE_EXECNAME;
}

/* Whether one of the hottest predicates does not hold: they need nothing but the arguments. */
__probe_ctx_inline static bool quickly_rejected(const struct dbk_ecb *ecb, uint32_t kind,
						const uint64_t *args)
{
	if (kind == DBK_PREDICATE_EQUAL_ARG)
		return args[ecb->predicate_word] != ecb->predicate_constant;
	if (kind == DBK_PREDICATE_EQUAL_PID)
		return dbk_host_pid() != ecb->predicate_constant;
	return kind == DBK_PREDICATE_EXECNAME && !dbk_execname_holds(&ecb->plan->predicate);
}

/* A closed gate; the CPU that has no memory would have recorded something, as far as is known. */
__probe_ctx __attribute__((__noinline__)) static void lose(struct dbk_cpu *cpu,
							   struct dbk_buffer *buffer,
							   const struct dbk_ecb *ecb,
							   const uint64_t *args)
{
	/* It may be the first ECB of its consumer, and the gate open before the second. */
	cpu->same_firing = 0;
	if (dbk_load_relaxed(&buffer->gate) == DBK_GATE_LOST &&
	    !quickly_rejected(ecb, ecb->own_kind, args))
		dbk_drop(buffer, DBK_DROP_PRINCIPAL);
}

/* The record of a clause of tier ARGUMENTS, to be counted; false: no room, or time for a new base, and
 * nothing was done. @now: the record's time.  @flags: in its EPID. */
__probe_ctx_inline static bool run_arguments(struct dbk_buffer *buffer, const struct dbk_ecb *ecb,
					     const uint64_t *args, uint64_t now, uint32_t flags)
{
	uint32_t used = buffer->used_bytes, end = used + ecb->record_bytes;
	uint32_t count = ecb->word_count, i;
	uint64_t delta = now - buffer->base_ticks;
	uint64_t *record;

	if (unlikely(end > dbk_load_relaxed(&buffer->room_bytes) || (delta >> 32) != 0))
		return false;
	record = (uint64_t *)(buffer->segment + used);
	/* struct dbk_record_header in one store: the EPID is its low half. */
	record[0] = delta << 32 | ecb->epid | flags;
	for (i = 0; i < count; i++)
		record[1 + i] = args[ecb->words[i]];
	buffer->used_bytes = end;
	dbk_store_release(&((struct dbk_segment_header *)buffer->segment)->committed_bytes, end);
	return true;
}

/* The same of tier MEMBERS; false as well: a load faults, which the general way reports. */
__probe_ctx_inline static bool run_members(struct dbk_buffer *buffer, const struct dbk_ecb *ecb,
					   const uint64_t *args, uint64_t now, uint32_t flags)
{
	const struct dbk_step *step = ecb->plan->steps, *end = step + ecb->word_count;
	const uint8_t *word = ecb->words;
	uint32_t used = buffer->used_bytes, after = used + ecb->record_bytes;
	uint64_t delta = now - buffer->base_ticks, value;
	uint8_t *record;

	if (unlikely(after > dbk_load_relaxed(&buffer->room_bytes) || (delta >> 32) != 0))
		return false;
	record = buffer->segment + used;
	do {
		value = args[*word++];
		if (likely(step->kind == DBK_STEP_CHAIN) &&
		    unlikely(!dbk_follow(NULL, step->expr.chain, false, &value)))
			return false;
		dbk_store_step(step, record, value);
	} while (++step != end);
	*(uint64_t *)record = delta << 32 | ecb->epid | flags;
	buffer->used_bytes = after;
	dbk_store_release(&((struct dbk_segment_header *)buffer->segment)->committed_bytes, after);
	return true;
}

__probe_ctx_inline static void count_record(struct dbk_meta_cpu *counters,
					    const struct dbk_ecb *ecb)
{
	counters->records++;
	counters->bytes += ecb->record_bytes;
}

/* A record of tier MEMBERS beside other clauses', counted and marked.  Not inlined: other tiers
 * shall not pay for its registers. */
__probe_ctx __attribute__((__noinline__)) static bool
run_members_of_several(struct dbk_cpu *cpu, struct dbk_buffer *buffer, const struct dbk_ecb *ecb,
		       const uint64_t *args)
{
	if (unlikely(!run_members(buffer, ecb, args, dbk_host_ticks(), cpu->same_firing)))
		return false;
	count_record(buffer->counters, ecb);
	cpu->same_firing = DBK_RECORD_F_SAME_FIRING;
	return true;
}

/* The same of tier ARGUMENTS, inlined. */
__probe_ctx_inline static bool
run_arguments_of_several(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
			 struct dbk_meta_cpu *counters, const struct dbk_ecb *ecb,
			 const uint64_t *args)
{
	if (unlikely(!run_arguments(buffer, ecb, args, dbk_host_ticks(), cpu->same_firing)))
		return false;
	count_record(counters, ecb);
	cpu->same_firing = DBK_RECORD_F_SAME_FIRING;
	return true;
}

/*
 * What each tier does with a clause whose predicate holds or is asked within.  @tier: the ECB's;
 * @alone: its probe has no other; constants, but for run_other_tier()'s tier.  @counters: the
 * buffer's, of ARGUMENTS beside others only.  false: nothing was done, which is then the general
 * way's to do.
 *
 * Beside others the firing was counted, and the record is.  Alone ARGUMENTS and MEMBERS count
 * nothing, run_alone() does; the others count both.
 */
__probe_ctx_inline static bool run_tier(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
					struct dbk_meta_cpu *counters, const struct dbk_ecb *ecb,
					const uint64_t *args, void *frame, uint32_t tier,
					bool alone)
{
	if (tier == DBK_TIER_ARGUMENTS)
		return alone ? run_arguments(buffer, ecb, args, dbk_host_quick_ticks(), 0)
			     : run_arguments_of_several(cpu, buffer, counters, ecb, args);
	if (tier == DBK_TIER_MEMBERS)
		return alone ? run_members(buffer, ecb, args, dbk_host_quick_ticks(), 0)
			     : run_members_of_several(cpu, buffer, ecb, args);
	if (tier == DBK_TIER_CELLS)
		return dbk_run_cells(cpu, buffer, ecb, args, frame, alone);
	if (tier == DBK_TIER_NATIVE)
		return ecb->plan->native(cpu, ecb, buffer, args, frame);
	if (tier == DBK_TIER_SIMPLE)
		return dbk_run_simple(cpu, buffer, ecb, args, frame,
				      alone ? dbk_host_quick_ticks() : dbk_host_ticks(), alone);
	return false;
}

/* Not inlined: ARGUMENTS shall not pay for the others' registers. */
__probe_ctx __attribute__((__noinline__)) static bool
run_other_tier(struct dbk_cpu *cpu, struct dbk_buffer *buffer, const struct dbk_ecb *ecb,
	       const uint64_t *args, void *frame)
{
	/* So that the compiler leaves it out. */
	if (ecb->tier == DBK_TIER_ARGUMENTS)
		__builtin_unreachable();
	return run_tier(cpu, buffer, NULL, ecb, args, frame, ecb->tier, false);
}

/* A clause whose predicate holds or has to be asked within. */
__probe_ctx_inline static void run_clause(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
					  struct dbk_meta_cpu *counters, const uint64_t *args,
					  void *frame, const struct dbk_ecb *ecb)
{
	if (unlikely(cpu->same_firing == DBK_FIRING_SPECULATES)) {
		run_slowly(cpu, buffer, args, frame, ecb); /* the record has another time */
		return;
	}
	/* Two tiers are distinguished before run_tier() does, for speed. */
	if (likely(ecb->tier == DBK_TIER_ARGUMENTS)) {
		if (likely(run_tier(cpu, buffer, counters, ecb, args, frame, DBK_TIER_ARGUMENTS,
				    false)))
			return;
	} else if (ecb->tier != DBK_TIER_GENERAL && run_other_tier(cpu, buffer, ecb, args, frame)) {
		return;
	}
	run_slowly(cpu, buffer, args, frame, ecb);
}

__probe_ctx_inline static void run_ecb(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
				       const struct dbk_probe *probe, const uint64_t *args,
				       void *frame, const struct dbk_ecb *ecb)
{
	struct dbk_meta_cpu *counters = buffer->counters;
	uint32_t kind;

	if (unlikely((dbk_load_relaxed(&buffer->gate) & ecb->gate) == 0)) {
		lose(cpu, buffer, ecb, args);
		return;
	}
	dbk_count(&counters->firings, 1);
	kind = dbk_load_relaxed(&ecb->predicate_kind);
	if (kind != DBK_PREDICATE_NONE) {
		if (quickly_rejected(ecb, kind, args))
			return;
		if (!is_quick(kind)) {
			if (kind == DBK_ECB_AFTER_OTHERS)
				cpu->same_firing = 0;
			if (ecb->plan->predicate.simple &&
			    rejected(cpu, &ecb->plan->predicate, probe, args, frame))
				return;
		}
	}
	run_clause(cpu, buffer, counters, args, frame, ecb);
}

/* ---- a firing ---------------------------------------------------------------------------------
 */

/* Each consumer that enabled the probe lost firings, NESTED or MISSED; its ECBs stand together in the
 * list. */
__probe_ctx __attribute__((__noinline__)) static void
count_lost(uint32_t cpu_index, struct dbk_probe *probe, uint32_t cause, uint32_t count)
{
	const struct dbk_consumer *last = NULL;
	const struct dbk_ecb *ecb;

	for (ecb = dbk_load_acquire(&probe->ecbs); ecb != NULL;
	     ecb = dbk_load_acquire(&ecb->next)) {
		struct dbk_buffer *buffer = &ecb->consumer->buffers[cpu_index];

		if (ecb->consumer != last && (dbk_load_relaxed(&buffer->gate) & ecb->gate) != 0) {
			dbk_drops(buffer, cause, count);
			dbk_store_relaxed(cause == DBK_DROP_NESTED ? &buffer->counters->nested_probe_id
								   : &buffer->counters->missed_probe_id,
					  probe->id);
		}
		last = ecb->consumer;
	}
}

__probe_ctx void dbk_probe_missed(struct dbk_probe *probe, uint32_t count)
{
	unsigned long flags = dbk_host_enter();

	count_lost(dbk_host_cpu(), probe, DBK_DROP_MISSED, count);
	dbk_host_leave(flags);
}

/* Not inlined: what dbk_probe_fire() does before it then needs no stack frame. */
__probe_ctx __attribute__((__noinline__)) void
dbk_fire(struct dbk_probe *probe, const uint64_t *args, void *frame)
{
	unsigned long flags = dbk_host_enter();
	const struct dbk_ecb *ecb = dbk_load_acquire(&probe->ecbs);
	uint32_t here = dbk_here();
	struct dbk_cpu *cpu;

	/* It was disabled after its caller had looked. */
	if (unlikely(ecb == NULL)) {
		dbk_host_leave(flags);
		return;
	}
	cpu = dbk_buffer_at(ecb, here)->owner;
	if (unlikely(cpu->nesting != 0)) {
		count_lost(cpu->index, probe, DBK_DROP_NESTED, 1);
		dbk_host_leave(flags);
		return;
	}
	dbk_probe_assert(cpu->index == dbk_host_cpu());
	cpu->nesting = 1;
	cpu->same_firing = 0;
	compiler_barrier();
	cpu->serial++;
	do {
		run_ecb(cpu, dbk_buffer_at(ecb, here), probe, args, frame, ecb);
		ecb = dbk_load_acquire(&ecb->next);
	} while (ecb != NULL);
	compiler_barrier();
	cpu->nesting = 0;
	dbk_host_leave(flags);
}

__probe_ctx_inline static bool run_general(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
					   const struct dbk_ecb *ecb, const uint64_t *args,
					   void *frame)
{
	cpu->same_firing = 0;
	dbk_count(&buffer->counters->firings, 1);
	run_slowly(cpu, buffer, args, frame, ecb);
	return true;
}

/*
 * Most probes are enabled once, and most clauses are not general: then there is no list to
 * walk, and no record of the firing before this one.  What is not general does nothing before it
 * knows that all can be done; what cannot goes the general way, as if it came a moment later.
 * @tier: a constant.
 */
__probe_ctx_inline static bool run_alone(const struct dbk_ecb *ecb, const uint64_t *args,
					 void *frame, enum dbk_tier tier)
{
	struct dbk_buffer *buffer = dbk_buffer_here(ecb);
	struct dbk_cpu *cpu = buffer->owner;
	bool done;

	if (unlikely(cpu->nesting != 0))
		return false;
	cpu->nesting = 1;
	compiler_barrier();
	if (tier > DBK_TIER_MEMBERS)
		cpu->serial++;
	if (unlikely(!(dbk_load_relaxed(&buffer->gate) & DBK_GATE_ORDINARY)))
		done = false;
	else if (tier == DBK_TIER_GENERAL)
		done = run_general(cpu, buffer, ecb, args, frame);
	else
		done = run_tier(cpu, buffer, NULL, ecb, args, frame, tier, true);
	if (tier <= DBK_TIER_MEMBERS && done) {
		dbk_count(&buffer->counters->firings, 1);
		count_record(buffer->counters, ecb);
	}
	compiler_barrier();
	cpu->nesting = 0;
	return done;
}

/* The clause alone on its probe: a function for each tier, which is a constant there. */
#define FIRE_ALONE(name, tier)                                                                     \
	__probe_ctx __attribute__((__noinline__)) static void name(                                \
		struct dbk_probe *probe, const uint64_t *args, void *frame,                        \
		const struct dbk_ecb *ecb)                                                         \
	{                                                                                          \
		unsigned long flags = dbk_host_enter();                                            \
                                                                                                   \
		if (likely(run_alone(ecb, args, frame, (tier)))) {                                 \
			dbk_host_leave(flags);                                                     \
			return;                                                                    \
		}                                                                                  \
		dbk_host_leave(flags);                                                             \
		dbk_fire(probe, args, frame);                                                      \
	}

FIRE_ALONE(fire_arguments, DBK_TIER_ARGUMENTS)
FIRE_ALONE(fire_members, DBK_TIER_MEMBERS)
FIRE_ALONE(fire_simple, DBK_TIER_SIMPLE)
FIRE_ALONE(fire_cells, DBK_TIER_CELLS)
FIRE_ALONE(fire_general, DBK_TIER_GENERAL)

/* The only ECB of its probe, whose predicate holds or is asked within.  @tier: its tier */
__probe_ctx_inline static void fire_tier(struct dbk_probe *probe, const uint64_t *args, void *frame,
					 const struct dbk_ecb *ecb, uint32_t tier)
{
	if (tier == DBK_TIER_SIMPLE && dbk_host_ticks_are_quick())
		fire_simple(probe, args, frame, ecb);
	else if (tier == DBK_TIER_ARGUMENTS && dbk_host_ticks_are_quick())
		fire_arguments(probe, args, frame, ecb);
	else if (tier == DBK_TIER_MEMBERS && dbk_host_ticks_are_quick())
		fire_members(probe, args, frame, ecb);
	else if (tier == DBK_TIER_CELLS)
		fire_cells(probe, args, frame, ecb);
	else if (tier == DBK_TIER_NATIVE)
		ecb->plan->native_firing(probe, args, frame, ecb);
	else if (tier == DBK_TIER_GENERAL)
		fire_general(probe, args, frame, ecb);
	else
		dbk_fire(probe, args, frame);
}

_Static_assert(DBK_IS_POWER_OF_TWO(sizeof(struct dbk_buffer)), "a buffer is found by a shift");

/* A firing that ends with its predicate: only this CPU's count of firings is touched. */
__probe_ctx_inline static void count_rejected(const struct dbk_ecb *ecb)
{
	struct dbk_buffer *buffer = dbk_buffer_here(ecb);

	if ((dbk_load_relaxed(&buffer->gate) & DBK_GATE_ORDINARY) != 0)
		dbk_count(&buffer->counters->firings, 1);
}

__probe_ctx_inline static void fire_unless(bool is_rejected, struct dbk_probe *probe,
					   const uint64_t *args, void *frame,
					   const struct dbk_ecb *ecb)
{
	if (is_rejected)
		count_rejected(ecb);
	else
		fire_tier(probe, args, frame, ecb, ecb->tier);
}

/* Asks an early predicate.  Not inlined, as dbk_fire(). */
__probe_ctx __attribute__((__noinline__)) static void
fire_if_it_holds(struct dbk_probe *probe, const uint64_t *args, void *frame,
		 const struct dbk_ecb *ecb)
{
	fire_unless(!dbk_simple_holds(NULL, &ecb->plan->predicate, probe, args, frame),
		    probe, args, frame, ecb);
}

/* The same for one value at hand: without calls, so that it needs no stack frame either. */
__probe_ctx __attribute__((__noinline__)) static void
fire_if_value_holds(struct dbk_probe *probe, const uint64_t *args, void *frame,
		    const struct dbk_ecb *ecb)
{
	const struct dbk_predicate *predicate = &ecb->plan->predicate;
	uint32_t operand = predicate->left.operand;
	uint64_t value = predicate->left.kind == DBK_EXPR_VARIABLE
				 ? dbk_early_variable(operand)
				 : args[probe->arg_word[operand]];

	fire_unless(!dbk_value_holds(predicate, value), probe, args, frame, ecb);
}

/* The same for a thread-local; one that has no seat is looked for within the firing. */
__probe_ctx __attribute__((__noinline__)) static void
fire_if_thread_holds(struct dbk_probe *probe, const uint64_t *args, void *frame,
		     const struct dbk_ecb *ecb)
{
	const struct dbk_predicate *predicate = &ecb->plan->predicate;
	uint64_t value;

	if (likely(dbk_thread_peek(&ecb->consumer->dynvars, predicate->left.operand, &value)))
		fire_unless(!dbk_value_holds(predicate, value), probe, args, frame, ecb);
	else
		dbk_fire(probe, args, frame);
}

/* Most firings of a probe that is enabled once end with its predicate. */
__probe_ctx void dbk_probe_fire(struct dbk_probe *probe, const void *args, void *frame)
{
	const struct dbk_ecb *ecb = dbk_load_acquire(&probe->ecbs);
	uint32_t alone;

	if (unlikely(ecb == NULL))
		return;
	alone = dbk_load_relaxed(&ecb->alone);
	if (alone == DBK_ALONE_EQUAL_ARG)
		fire_unless(quickly_rejected(ecb, DBK_PREDICATE_EQUAL_ARG, args), probe,
			    args, frame, ecb);
	else if (alone == DBK_ALONE_ARGUMENTS && dbk_host_ticks_are_quick())
		fire_arguments(probe, args, frame, ecb);
	else if (alone < DBK_ALONE_NOT)
		fire_tier(probe, args, frame, ecb, alone - DBK_ALONE_ARGUMENTS);
	else if (alone == DBK_ALONE_NOT)
		dbk_fire(probe, args, frame);
	else if (alone == DBK_ALONE_VALUE)
		fire_if_value_holds(probe, args, frame, ecb);
	else if (alone == DBK_ALONE_THREAD)
		fire_if_thread_holds(probe, args, frame, ecb);
	else if (alone == DBK_ALONE_EQUAL_PID)
		fire_unless(quickly_rejected(ecb, DBK_PREDICATE_EQUAL_PID, args), probe,
			    args, frame, ecb);
	else if (alone == DBK_ALONE_EXECNAME)
		fire_unless(quickly_rejected(ecb, DBK_PREDICATE_EXECNAME, args), probe,
			    args, frame, ecb);
	else
		fire_if_it_holds(probe, args, frame, ecb);
}

__probe_ctx void dbk_consumer_missed(void *consumer, uint32_t cpu)
{
	struct dbk_buffer *buffer = &((struct dbk_consumer *)consumer)->buffers[cpu];

	dbk_drop(buffer, DBK_DROP_MISSED);
	dbk_store_relaxed(&buffer->counters->missed_probe_id, 0u);
}

__probe_ctx void dbk_fire_own(void *own_firing, uint32_t cpu_asked)
{
	static const uint64_t no_args[DBK_PROBE_ARGS_MAX];
	const struct dbk_own_firing *own = own_firing;
	struct dbk_consumer *consumer = own->consumer;
	unsigned long flags = dbk_host_enter();
	struct dbk_cpu *cpu = consumer->engine->cpus[dbk_host_cpu()];
	struct dbk_buffer *buffer = &consumer->buffers[cpu->index];
	const struct dbk_ecb *ecb;

	(void)cpu_asked;
	/* The control path is never inside a firing. */
	dbk_probe_assert(cpu->nesting == 0);
	cpu->nesting = 1;
	cpu->same_firing = 0;
	compiler_barrier();
	cpu->serial++;
	if (consumer->only_cpu == DBK_CPU_ALL || consumer->only_cpu == cpu->index)
		dbk_store_relaxed(&buffer->gate, buffer->ready ? own->gates : DBK_GATE_LOST);
	for (ecb = dbk_load_acquire(&own->probe->ecbs); ecb != NULL;
	     ecb = dbk_load_acquire(&ecb->next))
		if (ecb->consumer == consumer)
			run_ecb(cpu, buffer, own->probe, no_args, NULL, ecb);
	dbk_store_relaxed(&buffer->gate, 0);
	compiler_barrier();
	cpu->nesting = 0;
	dbk_host_leave(flags);
}
