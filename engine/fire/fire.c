/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* fire.c - the hot path; see fire.h */
#include "engine/fire/fire.h"
#include "engine/dif/thread.h"
#include "engine/speculation/speculation.h"

#define compiler_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* ---- expressions and predicates ------------------------------------------------------ */

/* Not inlined: other values shall not pay for its registers. */
__probe_ctx __attribute__((__noinline__)) static uint64_t
thread_value(struct dbk_cpu *cpu, struct dbk_consumer *consumer, uint32_t var)
{
	return dbk_thread_load(cpu, consumer, var);
}

/* @number: of the argument or the variable, or the constant. */
__probe_ctx_inline static uint64_t operand_value(struct dbk_cpu *cpu, uint32_t kind,
						 uint64_t number, struct dbk_consumer *consumer,
						 const struct dbk_probe *probe,
						 const uint64_t *args, void *frame)
{
	if (kind == DBK_EXPR_ARG)
		return dbk_argument(probe, args, frame, (uint32_t)number);
	if (kind == DBK_EXPR_VARIABLE)
		return dbk_builtin(cpu, (uint32_t)number);
	return kind == DBK_EXPR_CONST ? number : thread_value(cpu, consumer, (uint32_t)number);
}

__probe_ctx __attribute__((__noinline__)) static uint64_t
binary_value(struct dbk_cpu *cpu, const struct dbk_expr *expr, const struct dbk_probe *probe,
	     const uint64_t *args, void *frame)
{
	uint64_t left = operand_value(cpu, expr->left, expr->operand, expr->consumer, probe, args,
				      frame);
	uint64_t right = operand_value(cpu, expr->right, expr->constant, expr->consumer, probe,
				       args, frame);

	return dbk_binary(expr->op, left, right);
}

/* For an expression that dbk_is_simple(), and for any variable in an ECB that was entered. */
__probe_ctx_inline static uint64_t simple_value(struct dbk_cpu *cpu, const struct dbk_expr *expr,
						const struct dbk_probe *probe, const uint64_t *args,
						void *frame)
{
	if (expr->kind == DBK_EXPR_ARG)
		return dbk_argument(probe, args, frame, expr->operand);
	if (expr->kind == DBK_EXPR_VARIABLE)
		return dbk_builtin(cpu, expr->operand);
	if (expr->kind == DBK_EXPR_BINARY)
		return binary_value(cpu, expr, probe, args, frame);
	if (expr->kind == DBK_EXPR_THREAD)
		return thread_value(cpu, expr->consumer, expr->operand);
	return expr->constant;
}

__probe_ctx uint64_t dbk_expr_rest(struct dbk_cpu *cpu, const struct dbk_expr *expr)
{
	if (expr->kind == DBK_EXPR_DIF || expr->kind == DBK_EXPR_NAME ||
	    expr->kind == DBK_EXPR_COPYINSTR)
		return dbk_dif_exec(cpu, expr->difo);
	if (expr->kind == DBK_EXPR_NATIVE)
		return expr->native(cpu, expr->difo);
	if (expr->kind == DBK_EXPR_SPECULATION) {
		uint64_t id = dbk_speculation(cpu);

		if (unlikely(cpu->fault_set))
			cpu->fault_pc = expr->operand;
		return id;
	}
	return simple_value(cpu, expr, cpu->probe, cpu->args, cpu->frame);
}

__probe_ctx static uint32_t outcome(uint64_t a, uint64_t b)
{
	if (a == b)
		return DBK_OUTCOME_EQUAL;
	if ((int64_t)a < (int64_t)b)
		return a < b ? DBK_OUTCOME_LESS : DBK_OUTCOME_LESS_SIGNED;
	return a < b ? DBK_OUTCOME_LESS_UNSIGN : DBK_OUTCOME_GREATER;
}

/* Two words: a name of the host has 16 readable bytes, and bytes after its NUL do not count. */
__probe_ctx static bool execname_holds(const struct dbk_predicate *predicate)
{
	uint64_t name[2];
	bool same;

	__builtin_memcpy(name, dbk_host_execname(), sizeof(name));
	same = (((name[0] ^ predicate->name[0]) & predicate->name_mask[0]) |
		((name[1] ^ predicate->name[1]) & predicate->name_mask[1])) == 0;
	return same != (bool)predicate->inverted;
}

__probe_ctx static bool value_holds(const struct dbk_predicate *predicate, uint64_t value)
{
	if (predicate->kind == DBK_PREDICATE_EXPR)
		return value != 0;
	return ((predicate->outcomes >> outcome(value, predicate->constant)) & 1) != 0;
}

__probe_ctx_inline static bool term_holds(struct dbk_cpu *cpu,
					  const struct dbk_predicate *predicate,
					  const struct dbk_probe *probe, const uint64_t *args,
					  void *frame)
{
	if (predicate->kind == DBK_PREDICATE_EXECNAME)
		return execname_holds(predicate);
	return value_holds(predicate, simple_value(cpu, &predicate->left, probe, args, frame));
}

/* A simple predicate that is none of those that run_ecb() has inline; for an early one @cpu is not
 * looked at. */
__probe_ctx_inline static bool simple_holds(struct dbk_cpu *cpu,
					    const struct dbk_predicate *predicate,
					    const struct dbk_probe *probe, const uint64_t *args,
					    void *frame)
{
	uint32_t i = 0;

	if (predicate->kind != DBK_PREDICATE_ALL)
		return term_holds(cpu, predicate, probe, args, frame);
	while (i < predicate->term_count &&
	       term_holds(cpu, &predicate->terms[i], probe, args, frame))
		i++;
	return (i == predicate->term_count) != (bool)predicate->inverted;
}

/* What the ECB's consumer has on this CPU; index times size is computed once, not here. */
__probe_ctx_inline static struct dbk_buffer *buffer_here(const struct dbk_cpu *cpu,
							 const struct dbk_ecb *ecb)
{
	return (void *)((uint8_t *)ecb->buffers + cpu->buffer_offset);
}

/* ---- the firing's state ------------------------------------------------------------------ */

/* What a consumer's clauses may cost in a firing, from the first of them on. */
__probe_ctx static void begin_work(struct dbk_cpu *cpu, const struct dbk_consumer *consumer)
{
	if (cpu->work_serial == cpu->serial && cpu->work_consumer == consumer)
		return;
	cpu->work_serial = cpu->serial;
	cpu->work_consumer = consumer;
	cpu->work_left = DBK_WORK_FIRING;
	cpu->error_work_left = DBK_WORK_ERROR;
}

/* What a plan or predicate that is not simple finds in the dbk_cpu. */
__probe_ctx static void enter_ecb(struct dbk_cpu *cpu, const struct dbk_probe *probe,
				  const uint64_t *args, void *frame, const struct dbk_ecb *ecb)
{
	cpu->probe = probe;
	cpu->args = args;
	cpu->frame = frame;
	cpu->ecb = ecb;
	cpu->consumer = ecb->consumer;
	cpu->buffer = buffer_here(cpu, ecb);
	cpu->fault_set = false;
	cpu->fault_pc = DBK_FAULT_PC_NONE;
	cpu->scratch_used = 0;
	begin_work(cpu, ecb->consumer);
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
__probe_ctx static void run_entered(struct dbk_cpu *cpu, bool ask, uint32_t *action_ret)
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

		if (cpu->fault_set || !value_holds(&plan->predicate, value))
			return;
	}
	dbk_run_plan(cpu, action_ret);
}

/* Whether a predicate that is simple does not hold. */
__probe_ctx __attribute__((__noinline__)) static bool
rejected(struct dbk_cpu *cpu, const struct dbk_predicate *predicate, const struct dbk_probe *probe,
	 const uint64_t *args, void *frame)
{
	return !simple_holds(cpu, predicate, probe, args, frame);
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

	enter_ecb(cpu, probe, cpu->error_args, frame, ecb);
	if ((dbk_load_relaxed(&cpu->buffer->gate) & DBK_GATE_ERROR) == 0)
		return;
	cpu->buffer->counters->firings++;
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
								 const struct dbk_probe *probe,
								 const uint64_t *args, void *frame,
								 const struct dbk_ecb *ecb)
{
	bool timed = cpu->unsampled-- == 0;
	uint64_t began = timed ? dbk_host_ticks() : 0;
	uint32_t action;

	enter_ecb(cpu, probe, args, frame, ecb);
	run_entered(cpu, must_ask(&ecb->plan->predicate), &action);
	if (unlikely(cpu->fault_set) && cpu->fault != DBK_FAULT_DROP)
		fire_error(cpu, ecb, frame, action);
	if (unlikely(timed))
		dbk_deadman(cpu, ecb->consumer, began);
}

/* Only integers that need nothing set up: no fault can happen. */
__probe_ctx static void run_fast(struct dbk_cpu *cpu, const struct dbk_probe *probe,
				 const uint64_t *args, void *frame, const struct dbk_ecb *ecb)
{
	const struct dbk_plan *plan = ecb->plan;
	struct dbk_buffer *buffer = buffer_here(cpu, ecb);
	const struct dbk_step *step = plan->steps, *end = step + plan->step_count;
	struct dbk_slot slot;

	if (!dbk_record_reserve(ecb, buffer, plan->fixed_bytes, &slot))
		return;
	if (plan->zero_fixed)
		dbk_zero_words(slot.record, plan->fixed_bytes);
	for (; step < end; step++)
		dbk_store_integer(slot.record + step->offset,
				  simple_value(cpu, &step->expr, probe, args, frame), step->size);
	dbk_record_commit(cpu, buffer, &slot, ecb->epid, plan->fixed_bytes);
}

/* The same with thread-locals that are stored, and maybe no record.  One that finds no room ends the
 * clause, and nothing is recorded. */
__probe_ctx __attribute__((__noinline__)) static void
run_threads(struct dbk_cpu *cpu, const struct dbk_probe *probe, const uint64_t *args, void *frame,
	    const struct dbk_ecb *ecb)
{
	const struct dbk_plan *plan = ecb->plan;
	struct dbk_buffer *buffer = buffer_here(cpu, ecb);
	const struct dbk_step *step = plan->steps, *end = step + plan->step_count;
	struct dbk_slot slot;

	if (plan->has_record) {
		if (!dbk_record_reserve(ecb, buffer, plan->fixed_bytes, &slot))
			return;
		dbk_zero_words(slot.record, plan->fixed_bytes);
	}
	for (; step < end; step++) {
		uint64_t value = simple_value(cpu, &step->expr, probe, args, frame);

		if (step->kind == DBK_STEP_STORE)
			dbk_store_integer(slot.record + step->offset, value, step->size);
		else if (!dbk_thread_store(cpu, ecb->consumer, step->bytes, value))
			return;
	}
	if (plan->has_record)
		dbk_record_commit(cpu, buffer, &slot, ecb->epid, plan->fixed_bytes);
}

__probe_ctx __attribute__((__noinline__)) static void run_rest(struct dbk_cpu *cpu,
							       const struct dbk_probe *probe,
							       const uint64_t *args, void *frame,
							       const struct dbk_ecb *ecb)
{
	if (ecb->plan->kind == DBK_PLAN_THREAD && !must_ask(&ecb->plan->predicate)) {
		begin_work(cpu, ecb->consumer);
		if (dbk_affords(cpu, ecb->plan->work)) {
			run_threads(cpu, probe, args, frame, ecb);
			return;
		}
	}
	run_slowly(cpu, probe, args, frame, ecb);
}

/* Everything that is not quick, or has no room in the open segment. */
__probe_ctx __attribute__((__noinline__)) static void run_other(struct dbk_cpu *cpu,
								const struct dbk_probe *probe,
								const uint64_t *args, void *frame,
								const struct dbk_ecb *ecb)
{
	if (ecb->plan->kind == DBK_PLAN_FAST && !must_ask(&ecb->plan->predicate)) {
		begin_work(cpu, ecb->consumer);
		if (dbk_affords(cpu, ecb->plan->work)) {
			run_fast(cpu, probe, args, frame, ecb);
			return;
		}
	}
	run_rest(cpu, probe, args, frame, ecb);
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
	return kind == DBK_PREDICATE_EXECNAME && !execname_holds(&ecb->plan->predicate);
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

/* A record of nothing but arguments; false: no room, or time for a new base. */
__probe_ctx_inline static bool run_quick(struct dbk_cpu *cpu, struct dbk_buffer *buffer,
					 const struct dbk_ecb *ecb, struct dbk_meta_cpu *counters,
					 const uint64_t *args)
{
	uint32_t bytes = ecb->record_bytes, used = buffer->used_bytes, end = used + bytes, i;
	uint64_t delta = dbk_host_ticks() - buffer->base_ticks;
	uint8_t *segment = buffer->segment;
	uint64_t *record;

	if (unlikely(end > dbk_load_relaxed(&buffer->room_bytes) || (delta >> 32) != 0))
		return false;
	record = (uint64_t *)(segment + used);
	for (i = 0; i < ecb->quick_count; i++)
		record[1 + i] = args[ecb->quick_words[i]];
	/* struct dbk_record_header in one store: the EPID is its low half. */
	record[0] = delta << 32 | ecb->epid | cpu->same_firing;
	cpu->same_firing = DBK_RECORD_F_SAME_FIRING;
	buffer->used_bytes = end;
	dbk_store_release(&((struct dbk_segment_header *)segment)->committed_bytes, end);
	counters->records++;
	counters->bytes += bytes;
	return true;
}

__probe_ctx_inline static void run_ecb(struct dbk_cpu *cpu, const struct dbk_probe *probe,
				       const uint64_t *args, void *frame, const struct dbk_ecb *ecb)
{
	struct dbk_buffer *buffer = buffer_here(cpu, ecb);
	struct dbk_meta_cpu *counters = buffer->counters;
	uint32_t kind;

	if (unlikely((dbk_load_relaxed(&buffer->gate) & ecb->gate) == 0)) {
		lose(cpu, buffer, ecb, args);
		return;
	}
	counters->firings++;
	kind = dbk_load_relaxed(&ecb->predicate_kind);
	if (kind != DBK_PREDICATE_NONE) {
		if (quickly_rejected(ecb, kind, args))
			return;
		if (!is_quick(kind)) {
			if (kind == DBK_ECB_AFTER_OTHERS)
				cpu->same_firing = 0;
			if (ecb->plan->predicate.simple) {
				if (rejected(cpu, &ecb->plan->predicate, probe, args, frame))
					return;
			} else if (must_ask(&ecb->plan->predicate)) {
				run_slowly(cpu, probe, args, frame, ecb);
				return;
			}
		}
	}
	if (likely(ecb->quick_count != DBK_NOT_QUICK) &&
	    run_quick(cpu, buffer, ecb, counters, args))
		return;
	run_other(cpu, probe, args, frame, ecb);
}

/* ---- a firing ---------------------------------------------------------------------------------
 */

/* Each consumer that enabled the probe lost firings; its ECBs stand together in the list. */
__probe_ctx __attribute__((__noinline__)) static void
count_lost(uint32_t cpu_index, struct dbk_probe *probe, uint32_t cause, uint32_t count)
{
	const struct dbk_consumer *last = NULL;
	const struct dbk_ecb *ecb;

	for (ecb = dbk_load_acquire(&probe->ecbs); ecb != NULL;
	     ecb = dbk_load_acquire(&ecb->next)) {
		struct dbk_buffer *buffer = &ecb->consumer->buffers[cpu_index];

		if (ecb->consumer != last && (dbk_load_relaxed(&buffer->gate) & ecb->gate) != 0)
			dbk_drops(buffer, cause, count);
		last = ecb->consumer;
	}
}

__probe_ctx void dbk_probe_missed(struct dbk_engine *engine, struct dbk_probe *probe,
				  uint32_t count)
{
	(void)engine;
	count_lost(dbk_host_cpu(), probe, DBK_DROP_MISSED, count);
}

/* Not inlined: what dbk_probe_fire() does before it then needs no stack frame. */
__probe_ctx __attribute__((__noinline__)) static void
fire(struct dbk_engine *engine, struct dbk_probe *probe, const uint64_t *args, void *frame)
{
	unsigned long flags = dbk_host_enter();
	struct dbk_cpu *cpu = engine->cpus[dbk_host_cpu()];
	const struct dbk_ecb *ecb;

	if (unlikely(cpu->nesting != 0)) {
		count_lost(cpu->index, probe, DBK_DROP_NESTED, 1);
		dbk_host_leave(flags);
		return;
	}
	cpu->nesting = 1;
	cpu->same_firing = 0;
	compiler_barrier();
	cpu->serial++;
	for (ecb = dbk_load_acquire(&probe->ecbs); ecb != NULL; ecb = dbk_load_acquire(&ecb->next))
		run_ecb(cpu, probe, args, frame, ecb);
	compiler_barrier();
	cpu->nesting = 0;
	dbk_host_leave(flags);
}

/* A firing that ends with its predicate: only this CPU's count of firings is touched, by an
 * addition that an interrupt can only be before or after. */
__probe_ctx_inline static void count_rejected(const struct dbk_ecb *ecb)
{
	struct dbk_buffer *buffer = &ecb->buffers[dbk_host_cpu()];

	if ((dbk_load_relaxed(&buffer->gate) & ecb->gate) != 0)
		buffer->counters->firings++;
}

/* Whether an early predicate of a thread-local holds, or may hold: one that has no slot is looked for
 * within the firing. */
__probe_ctx __attribute__((__noinline__)) static bool
thread_may_hold(const struct dbk_predicate *predicate)
{
	const struct dbk_expr *left = &predicate->left;
	uint64_t value;

	return !dbk_thread_peek(&left->consumer->dynvars, left->operand, &value) ||
	       value_holds(predicate, value);
}

/* Asks a predicate that run_ecb() has not inline.  Not inlined, as fire(). */
__probe_ctx __attribute__((__noinline__)) static void
fire_if_it_holds(struct dbk_engine *engine, struct dbk_probe *probe, const void *args, void *frame,
		 const struct dbk_ecb *ecb)
{
	const struct dbk_predicate *predicate = &ecb->plan->predicate;

	if (predicate->left.kind == DBK_EXPR_THREAD
		    ? thread_may_hold(predicate)
		    : simple_holds(NULL, predicate, probe, args, frame))
		fire(engine, probe, args, frame);
	else
		count_rejected(ecb);
}

/*
 * Most firings of a probe that is enabled once end with its predicate.  It is
 * asked before anything is set up; docs/design/0061-predicates-asked-early.md.
 */
__probe_ctx void dbk_probe_fire(struct dbk_engine *engine, struct dbk_probe *probe,
				const void *args, void *frame)
{
	const struct dbk_ecb *ecb = dbk_load_acquire(&probe->ecbs);
	uint32_t kind;

	if (unlikely(ecb == NULL))
		return;
	kind = dbk_load_relaxed(&ecb->predicate_kind);
	if (kind != DBK_PREDICATE_NONE && ecb->next == NULL) {
		if (quickly_rejected(ecb, kind, args)) {
			count_rejected(ecb);
			return;
		}
		if (!is_quick(kind) && ecb->plan->predicate.early) {
			fire_if_it_holds(engine, probe, args, frame, ecb);
			return;
		}
	}
	fire(engine, probe, args, frame);
}

__probe_ctx void dbk_fire_own(struct dbk_consumer *consumer, struct dbk_probe *probe,
			      uint32_t gates)
{
	static const uint64_t no_args[DBK_PROBE_ARGS_MAX];
	unsigned long flags = dbk_host_enter();
	struct dbk_cpu *cpu = consumer->engine->cpus[dbk_host_cpu()];
	struct dbk_buffer *buffer = &consumer->buffers[cpu->index];
	const struct dbk_ecb *ecb;

	/* The control path is never inside a firing: nesting is 0 here. */
	cpu->nesting = 1;
	cpu->same_firing = 0;
	compiler_barrier();
	cpu->serial++;
	if (consumer->only_cpu == DBK_CPU_ALL || consumer->only_cpu == cpu->index)
		dbk_store_relaxed(&buffer->gate, buffer->ready ? gates : DBK_GATE_LOST);
	for (ecb = dbk_load_acquire(&probe->ecbs); ecb != NULL; ecb = dbk_load_acquire(&ecb->next))
		if (ecb->consumer == consumer)
			run_ecb(cpu, probe, no_args, NULL, ecb);
	dbk_store_relaxed(&buffer->gate, 0);
	compiler_barrier();
	cpu->nesting = 0;
	dbk_host_leave(flags);
}
