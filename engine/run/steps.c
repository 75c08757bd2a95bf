/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * steps.c - the steps of a plan that is more than integers; see fire.h
 *
 * Probe context.  A record or key is built in place: the fixed part first, then
 * the tail, which grows as strings and stacks come.  A record that does not fit
 * into what is left of the segment moves to the next one, as far as it is built.
 */
#include "engine/api/trigger.h"
#include "engine/memory/account.h"
#include "engine/memory/speculation.h"
#include "engine/memory/thread.h"
#include "engine/run/simple.h"

/* A record or a key while it is built. */
struct build {
	uint8_t *base;
	uint32_t used; /* fixed part and tail so far */
	uint32_t room;
	struct dbk_draft *draft; /* NULL: a key or a speculative record, which cannot move */
};

struct run {
	struct dbk_cpu *cpu;
	const struct dbk_plan *plan;
	struct dbk_draft draft;
	struct build record;
	struct build key;
	struct build *build;	     /* the one that steps store into */
	struct dbk_specbuf *specbuf; /* where the record goes, once it speculates */
	uint32_t speculation;	     /* whose that is */
	uint64_t spec_ticks;	     /* the record's time */
	bool withdrawn;		     /* the speculation ended within the clause */
	bool dropped;
};

__probe_ctx static bool drop(struct run *run, uint32_t cause)
{
	if (!run->dropped)
		dbk_drop(run->cpu->buffer, cause);
	run->dropped = true;
	return false;
}

/* Whether that is the record, in a speculation's buffer. */
__probe_ctx static bool is_speculative(const struct run *run, const struct build *build)
{
	return build == &run->record && run->specbuf != NULL;
}

/* A speculative drop is none before the speculation is committed. */
__probe_ctx static bool drop_speculative(struct run *run)
{
	if (!run->dropped)
		run->specbuf->drop_count++;
	run->dropped = true;
	return false;
}

/* What is built does not fit where it is. */
__probe_ctx static bool no_room(struct run *run, const struct build *build)
{
	if (is_speculative(run, build))
		return drop_speculative(run);
	return drop(run, build->draft == NULL ? DBK_DROP_AGGREGATION : DBK_DROP_TOOBIG);
}

/* Moves the record to the next segment, if that has room for @more bytes. */
__probe_ctx static bool move_record(struct run *run, struct build *build, uint32_t more)
{
	struct dbk_buffer *buffer = run->cpu->buffer;
	uint32_t fresh = buffer->segment_bytes - DBK_SEGMENT_DATA_OFFSET;
	const uint8_t *old = build->base;

	if (build->draft == NULL || more > fresh - build->used)
		return no_room(run, build);
	if (!dbk_segment_open(run->cpu->consumer, buffer, run->cpu->ecb->gate == DBK_GATE_END)) {
		run->dropped = true; /* counted there */
		return false;
	}
	dbk_record_begin(run->cpu, build->used + more, build->draft);
	build->base = build->draft->record;
	build->room = build->draft->room;
	/* With one segment, or a ring that came round, old and new may overlap. */
	memmove(build->base, old, build->used);
	return true;
}

/* Makes sure that @bytes more fit; false: dropped. */
__probe_ctx static bool want(struct run *run, struct build *build, uint32_t bytes)
{
	if (bytes > DBK_RECORD_BYTES_MAX - build->used)
		return drop(run, DBK_DROP_TOOBIG);
	return bytes <= build->room - build->used || move_record(run, build, bytes);
}

/* Of a tail that has its zeros up to a multiple of 8 bytes. */
__probe_ctx static void refer_to_tail(struct build *build, uint32_t offset, uint32_t at,
				      uint32_t bytes)
{
	struct dbk_tail_ref *ref = (struct dbk_tail_ref *)(build->base + offset);

	ref->offset = (uint16_t)at;
	ref->bytes = (uint16_t)bytes;
	build->used = (uint32_t)DBK_ROUND_UP(at + bytes, 8);
}

/* Rounds the tail up to 8 bytes with zeros, which fit. */
__probe_ctx static void close_tail(struct build *build, uint32_t offset, uint32_t at,
				   uint32_t bytes)
{
	uint32_t rest = bytes & 7;

	dbk_probe_assert(at % 8 == 0 && build->room % 8 == 0 && at + bytes <= build->room);
	if (rest != 0)
		*(uint64_t *)(build->base + at + bytes - rest) &= ~(~0ull << rest * 8);
	refer_to_tail(build, offset, at, bytes);
}

/* ---- strings ---------------------------------------------------------------------- */

__probe_ctx static bool store_execname(struct run *run, const struct dbk_step *step)
{
	struct build *build = run->build;
	uint32_t at, length;

	if (!want(run, build, DBK_EXECNAME_BYTES))
		return false;
	at = build->used;
	length = dbk_copy_execname((uint64_t *)(build->base + at));
	refer_to_tail(build, step->offset, at, length);
	return true;
}

/* A built-in string, or a literal: no scratch, no interpreter. */
__probe_ctx static bool store_name(struct run *run, const struct dbk_step *step)
{
	struct build *build = run->build;
	uint32_t length = step->expr.operand, at;
	const char *name = step->expr.text;
	char *to;

	if (step->expr.kind == DBK_EXPR_NAME)
		name = dbk_name(run->cpu, step->expr.operand, &length);
	if (length >= step->bytes)
		length = step->bytes - 1;
	if (!want(run, build, (uint32_t)DBK_ROUND_UP(length, 8)))
		return false;
	at = build->used;
	to = (char *)build->base + at;
	dbk_text_copy(to, name, length);
	if (step->expr.kind == DBK_EXPR_NAME && step->expr.operand == DIF_VAR_EXECNAME)
		length = dbk_text_length(to, length);
	close_tail(build, step->offset, at, length);
	return true;
}

__probe_ctx static uint64_t value_of(struct run *run, const struct dbk_expr *expr)
{
	struct dbk_cpu *cpu = run->cpu;

	return dbk_expr_value(cpu, expr, cpu->probe, cpu->args, cpu->frame);
}

/* Of copyinstr(), at @pc: a fault if @done is false. */
__probe_ctx static bool faulted_at(struct dbk_cpu *cpu, uint32_t pc, bool done)
{
	if (unlikely(!done))
		cpu->fault_pc = pc;
	return !done;
}

/* A string of the process, into the record at once.  What the interpreter would charge for its copy in
 * scratch is charged, and that memory counts as used, so that the two fault alike. */
__probe_ctx static bool store_user_string(struct run *run, const struct dbk_step *step)
{
	struct dbk_cpu *cpu = run->cpu;
	struct build *build = run->build;
	const struct dbk_difo *difo = step->expr.difo;
	uint32_t at = build->used, call = step->expr.operand;
	uint64_t address = value_of(run, &difo->stored);
	int32_t length;

	if (faulted_at(cpu, 0, dbk_spend(cpu, difo->work)) ||
	    faulted_at(cpu, call, dbk_may_see_process(cpu)))
		return false;
	length = dbk_host_load_user_string((char *)build->base + at, address,
					   cpu->consumer->strsize);
	if (length < 0)
		dbk_fault(cpu, DTRACEFLT_BADADDR, address);
	if (faulted_at(cpu, call,
		       length >= 0 && dbk_spend(cpu, (uint64_t)length * DBK_WORK_CHAR)) ||
	    !dbk_spend(cpu, DBK_WORK_CALL + (uint64_t)length * DBK_WORK_CHAR))
		return false;
	cpu->scratch_used += (uint32_t)DBK_ROUND_UP(length + 1, 8);
	close_tail(build, step->offset, at, (uint32_t)length);
	return true;
}

/* Whether the interpreter would find room for it in scratch, and then in the record where it is; a
 * strsize of 0 is its to know. */
__probe_ctx static bool has_room(const struct run *run, uint32_t bytes)
{
	const struct build *build = run->build;

	return bytes <= build->room - build->used &&
	       bytes <= DBK_RECORD_BYTES_MAX - build->used &&
	       run->cpu->consumer->strsize - 1 < DBK_SCRATCH_BYTES - run->cpu->scratch_used;
}

__probe_ctx static bool store_string(struct run *run, const struct dbk_step *step)
{
	struct build *build = run->build;
	uint32_t limit = (uint32_t)DBK_ROUND_UP(step->bytes, 8), room, at;
	uint64_t address;
	int32_t length;

	if (step->expr.kind == DBK_EXPR_NAME || step->expr.kind == DBK_EXPR_LITERAL)
		return store_name(run, step);
	if (step->expr.kind == DBK_EXPR_COPYINSTR && has_room(run, limit))
		return store_user_string(run, step);
	address = dbk_expr_rest(run->cpu, &step->expr);
	if (run->cpu->fault_set)
		return false;
	/* Where its length is not known yet, a fresh segment has the best chance. */
	if (limit > build->room - build->used && build->draft != NULL &&
	    build->room < run->cpu->buffer->segment_bytes - DBK_SEGMENT_DATA_OFFSET &&
	    !move_record(run, build, 8))
		return false;
	room = build->room - build->used;
	if (room > DBK_RECORD_BYTES_MAX - build->used)
		room = DBK_RECORD_BYTES_MAX - build->used;
	if (room > step->bytes)
		room = step->bytes;
	if (room == 0)
		return no_room(run, build);
	at = build->used;
	length = dbk_copy_string(run->cpu, (char *)build->base + at, address, room);
	if (length < 0)
		return false;
	/* Cut by the room and not by strsize, or just as long: it is not known. */
	if ((uint32_t)length == room - 1 && room < step->bytes)
		return no_room(run, build);
	close_tail(build, step->offset, at, (uint32_t)length);
	return true;
}

/* ---- stacks ----------------------------------------------------------------------------- */

/* Stores what there is of a user stack's first @bytes_max bytes, page by page: its end may come
 * first, and of pages that are not in memory there is nothing. */
__probe_ctx static uint32_t load_user_stack(uint8_t *to, uint64_t address, uint32_t bytes_max)
{
	uint32_t done = 0, bytes;

	for (; done < bytes_max; done += bytes) { /* at most DBK_USTACKBYTES_MAX / 4096 + 2 times */
		bytes = (uint32_t)(4096 - ((address + done) & 4095));
		if (bytes > bytes_max - done)
			bytes = bytes_max - done;
		if (!dbk_host_load_user(to + done, address + done, bytes))
			break;
	}
	return done & ~7u;
}

/* What an unwinder needs of the user's stack, after @at: struct dbk_user_memory.  Returns its
 * bytes. */
__probe_ctx static uint32_t store_user_memory(struct run *run, const struct dbk_step *step,
					      uint64_t *at)
{
	struct dbk_user_memory memory = {0};
	uint64_t *registers = at + 1;
	uint8_t *stack = (uint8_t *)(registers + DBK_USER_REGISTERS);
	uint32_t used = 0;

	if (dbk_host_user_registers(run->cpu->frame, registers)) {
		at[0] = 0;
		memory.registers = DBK_USER_REGISTERS;
		memory.depth = (uint16_t)(step->bytes / 8 - 1);
		memory.bytes =
			load_user_stack(stack, registers[DBK_USER_REGISTER_SP], step->aggregation);
		used = (1 + DBK_USER_REGISTERS) * 8 + memory.bytes;
	}
	memcpy((uint8_t *)at + used, &memory, sizeof(memory));
	return used + (uint32_t)sizeof(memory);
}

__probe_ctx static bool store_stack(struct run *run, const struct dbk_step *step)
{
	struct build *build = run->build;
	bool user = step->kind == DBK_STEP_USTACK;
	uint32_t memory = step->aggregation ? step->aggregation + (DBK_USER_REGISTERS + 2) * 8 : 0;
	uint32_t at, bytes, count, room = step->bytes / 8;
	uint64_t *pcs, bad = 0;

	if (!want(run, build, step->bytes + memory))
		return false;
	at = build->used;
	pcs = (uint64_t *)(build->base + at);
	if (user ? !dbk_may_see_process(run->cpu) : !dbk_may_see_kernel(run->cpu))
		return false;
	if (user) {
		pcs[0] = dbk_host_pid();
		count = 1 + dbk_host_ustack(run->cpu->frame, pcs + 1, room - 1, &bad);
	} else {
		count = dbk_host_stack(run->cpu->frame, pcs, room);
	}
	if (bad != 0) {
		dbk_fault(run->cpu, DTRACEFLT_BADSTACK, bad);
		return false;
	}
	if (!dbk_spend(run->cpu, (uint64_t)count * DBK_WORK_FRAME + memory))
		return false;
	bytes = (count < room ? count : room) * 8;
	if (memory != 0)
		bytes += store_user_memory(run, step, pcs + bytes / 8);
	close_tail(build, step->offset, at, bytes);
	return true;
}

/* ---- all kinds ----------------------------------------------------------------------------- */

__probe_ctx static bool store_bytes(struct run *run, const struct dbk_step *step)
{
	uint64_t address = value_of(run, &step->expr);

	if (run->cpu->fault_set)
		return false;
	return dbk_load(run->cpu, run->build->base + step->offset, address, step->bytes);
}

__probe_ctx static bool store_value(struct run *run, const struct dbk_step *step)
{
	uint64_t value = value_of(run, &step->expr);

	if (unlikely(run->cpu->fault_set))
		return false;
	dbk_store_integer(run->build->base + step->offset, value, step->size);
	if (unlikely(step->kind == DBK_STEP_EXIT))
		dbk_exit(run->cpu, (int32_t)value);
	return true;
}

__probe_ctx static bool store_thread(struct run *run, const struct dbk_step *step)
{
	struct dbk_cpu *cpu = run->cpu;
	uint64_t value = value_of(run, &step->expr);

	if (unlikely(cpu->fault_set))
		return false;
	if (likely(dbk_thread_store(cpu, cpu->consumer, step->bytes, value)))
		return true;
	dbk_fault(cpu, DBK_FAULT_DROP, 0);
	return false;
}

__probe_ctx static bool store_pid_value(struct run *run, const struct dbk_step *step)
{
	uint64_t value = value_of(run, &step->expr);
	uint64_t *to = (uint64_t *)(run->build->base + step->offset);

	if (run->cpu->fault_set)
		return false;
	to[0] = dbk_host_pid();
	to[1] = value;
	return true;
}

__probe_ctx static void begin_key(struct run *run, const struct dbk_step *step)
{
	const struct dbk_aggregation *agg = &run->plan->aggregations[step->aggregation];

	run->key.base = run->cpu->buffer->key;
	run->key.room = run->cpu->buffer->key_bytes;
	run->key.used = agg->key_fixed_bytes;
	run->key.draft = NULL;
	dbk_zero_words(run->key.base, agg->key_fixed_bytes);
	run->build = &run->key;
}

__probe_ctx static bool aggregate(struct run *run, const struct dbk_step *step)
{
	const struct dbk_aggregation *agg = &run->plan->aggregations[step->aggregation];
	int64_t value = 0, increment = 1;

	run->build = &run->record;
	if (agg->has_increment)
		increment = (int64_t)value_of(run, &agg->increment);
	if (!run->cpu->fault_set && agg->kind != DTRACEAGG_COUNT)
		value = (int64_t)value_of(run, &agg->value);
	if (run->cpu->fault_set)
		return false;
	if (!dbk_spend(run->cpu, run->key.used))
		return false;
	dbk_aggregate(run->cpu, agg, run->key.base, run->key.used, value, increment);
	return true;
}

/* The sequence number of what was entered, 0 when it was too soon. */
__probe_ctx static void store_snapshot(struct run *run, const struct dbk_step *step)
{
	struct dbk_cpu *cpu = run->cpu;
	struct dbk_trigger *trigger = &cpu->consumer->triggers[step->aggregation];
	uint64_t sequence = dbk_trigger_fire(cpu->consumer->engine, trigger, cpu->ecb->epid);

	dbk_store_integer(run->build->base + step->offset, sequence, 8);
}

/* ---- speculations ---------------------------------------------------------------------- */

/* The record is built in the speculation's buffer from here on.  Where that cannot be, the clause
 * ends here, and nothing is said. */
__probe_ctx static bool speculate(struct run *run, uint32_t id)
{
	struct dbk_cpu *cpu = run->cpu;
	struct dbk_specbuf *specbuf = dbk_speculate(cpu, id);

	if (specbuf == NULL)
		return false;
	run->specbuf = specbuf;
	run->speculation = id;
	if (!run->plan->has_record)
		return true;
	run->spec_ticks = dbk_speculated_ticks(cpu);
	run->record.base = dbk_specbuf_record(specbuf);
	run->record.room = dbk_specbuf_room(cpu->ecb, cpu->buffer, specbuf);
	run->record.used = run->plan->fixed_bytes;
	run->record.draft = NULL;
	if (run->plan->fixed_bytes > run->record.room)
		return drop_speculative(run);
	if (run->plan->zero_fixed)
		dbk_zero_words(run->record.base, run->plan->fixed_bytes);
	return true;
}

__probe_ctx static bool run_speculative(struct run *run, const struct dbk_step *step)
{
	uint32_t id = (uint32_t)value_of(run, &step->expr);

	if (run->cpu->fault_set)
		return false;
	if (step->kind == DBK_STEP_SPECULATE)
		return speculate(run, id);
	if (step->kind == DBK_STEP_COMMIT)
		dbk_speculation_commit(run->cpu, id);
	else
		dbk_speculation_discard(run->cpu, id);
	/* As in DTrace a clause that commits stores nothing; and what was discarded stays so. */
	if (step->kind == DBK_STEP_COMMIT || id == run->speculation)
		run->withdrawn = true;
	return !run->cpu->fault_set;
}

/* Without jump tables (in the kernel) the switch is a tree: what is hot is asked before. */
__probe_ctx static bool run_step(struct run *run, const struct dbk_step *step)
{
	uint64_t value;

	if (step->kind == DBK_STEP_STORE)
		return store_value(run, step);
	switch (step->kind) {
	case DBK_STEP_CHAIN:
	case DBK_STEP_EXIT:
		return store_value(run, step);
	case DBK_STEP_THREAD:
		return store_thread(run, step);
	case DBK_STEP_EVALUATE:
		value_of(run, &step->expr);
		return !run->cpu->fault_set;
	case DBK_STEP_EXECNAME:
		return store_execname(run, step);
	case DBK_STEP_TEXT:
	case DBK_STEP_STRING:
		return store_string(run, step);
	case DBK_STEP_PID_VALUE:
		return store_pid_value(run, step);
	case DBK_STEP_BYTES:
		return store_bytes(run, step);
	case DBK_STEP_AGGREGATE:
		return aggregate(run, step);
	case DBK_STEP_KEY_BEGIN:
		begin_key(run, step);
		return true;
	case DBK_STEP_ACT:
		value = value_of(run, &step->expr);
		return !run->cpu->fault_set && dbk_act(run->cpu, step->bytes, value);
	case DBK_STEP_SNAPSHOT:
		store_snapshot(run, step);
		return true;
	case DBK_STEP_SPECULATE:
	case DBK_STEP_COMMIT:
	case DBK_STEP_DISCARD:
		return run_speculative(run, step);
	default:
		return store_stack(run, step);
	}
}

__probe_ctx static bool begin_record(struct run *run)
{
	const struct dbk_plan *plan = run->plan;

	run->build = &run->record;
	if (unlikely(run->cpu->buffer->account.limit_bytes != 0) &&
	    !dbk_account_record(run->cpu->ecb, run->cpu->buffer))
		return false;
	if (!plan->has_record || plan->speculates)
		return true;
	if (!dbk_record_reserve(run->cpu, plan->fixed_bytes, &run->draft))
		return false;
	run->record.base = run->draft.record;
	run->record.room = run->draft.room;
	run->record.used = plan->fixed_bytes;
	run->record.draft = &run->draft;
	if (plan->zero_fixed)
		dbk_zero_words(run->record.base, plan->fixed_bytes);
	return true;
}

__probe_ctx static void end_record(struct run *run)
{
	const struct dbk_plan *plan = run->plan;
	uint32_t bytes = run->record.used;

	if (!plan->has_record || (plan->speculates && run->withdrawn))
		return;
	if (plan->variable)
		((uint32_t *)run->record.base)[2] = bytes;
	if (plan->speculates) {
		dbk_specbuf_append(run->cpu, run->specbuf, bytes, run->spec_ticks);
		return;
	}
	if (unlikely(run->cpu->buffer->account.limit_bytes != 0))
		dbk_account_commit(run->cpu->buffer);
	dbk_record_commit(run->cpu, &run->draft, bytes);
}

__probe_ctx void dbk_run_plan(struct dbk_cpu *cpu, uint32_t *action_ret)
{
	const struct dbk_plan *plan = cpu->ecb->plan;
	const struct dbk_step *step;
	struct run run;

	run.cpu = cpu;
	run.plan = plan;
	run.specbuf = NULL;
	run.speculation = 0;
	run.withdrawn = false;
	run.dropped = false;
	if (!dbk_spend(cpu, plan->work)) {
		*action_ret = 1;
		return;
	}
	if (!begin_record(&run))
		return;
	for (step = plan->steps; step != plan->steps_end; step++) {
		if (!run_step(&run, step)) {
			*action_ret = step->action + 1u;
			return;
		}
	}
	end_record(&run);
}
