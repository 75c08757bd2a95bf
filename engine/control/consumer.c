/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * consumer.c - an enabling at work, from creation to destruction
 *
 *   INACTIVE ─start─► WARMUP ─BEGIN done─► ACTIVE ─exit()─► DRAINING
 *       │                │ exit()             │                │
 *       │                └────────────────────┼───► DRAINING   │
 *       └──────────────stop──────────────► COOLDOWN ◄──────────┘
 *                                            │ END done
 *                                            ▼
 *                                         STOPPED
 *
 * From WARMUP and ACTIVE the deadman leads to KILLED, and so does destruction from anywhere; but in
 * META_RING, which may outlive the consumer (a bank, a mapping), that is STOPPED.
 *
 * What a firing looks at is not the activity but the gates of its CPU's
 * buffer: one load says whether ECBs of its kind may run.  The control path
 * changes the activity first, then the gates; exit() does the same from
 * probe context.
 */
#include "engine/control/options.h"
#include "engine/control/state.h"
#include "engine/load/program.h"
#include "engine/lower/lower.h"
#include "engine/memory/account.h"
#include "engine/memory/buffer.h"
#include "engine/memory/dynvar.h"
#include "engine/memory/speculation.h"
#include "engine/run/fire.h"

/* ---- create, destroy ------------------------------------------------------------------ */

/* What the C library calls ENOMEM. */
static int lacking(struct dbk_consumer *consumer, uint32_t option, struct dbk_reason *reason)
{
	consumer->lacking = option;
	return dbk_refuse(reason, -ENOMEM, "Cannot allocate memory");
}

/* Of the memory for them: a CPU has two buffers, and an index of half a buffer's size. */
#define AGGSIZE_SHARE(bytes) ((bytes) / 5 * 2)

/* A program that only counts records nothing but its faults: so much, if it does not ask for more. */
#define SEGMENTS_OF_FAULTS 8u

/* Every program that the compiler makes has a clause for ERROR: that is a record of a fault. */
static bool is_of_faults(const struct dbk_plan *plan)
{
	return plan->own_gates == DBK_GATE_ERROR;
}

static bool has_record(const struct dbk_consumer *consumer)
{
	uint32_t i;

	for (i = 0; i < consumer->plan_count; i++) {
		const struct dbk_plan *plan = &consumer->plans[i];

		if (plan->has_record && !is_of_faults(plan))
			return true;
	}
	return false;
}

static int init_buffers(struct dbk_consumer *consumer, enum dbk_pages_from from,
			struct dbk_reason *reason)
{
	struct dbk_engine *engine = consumer->engine;
	uint32_t cpu, key_bytes = dbk_plan_key_bytes(consumer);
	uint64_t reserve = 0, given;
	int error;

	if (consumer->bufsize == 0 || consumer->bufsize > DBK_BUFSIZE_MAX ||
	    consumer->bufsize > dbk_host_pages_max(from) / dbk_cpus_up(engine))
		return lacking(consumer, DBK_LACKING_BUFSIZE, reason);
	if (consumer->aggregate == DBK_AGGREGATE_ENGINE &&
	    (consumer->aggsize == 0 || consumer->aggsize > DBK_AGGSIZE_MAX ||
	     (consumer->class_count != 0 &&
	      consumer->aggsize > AGGSIZE_SHARE(dbk_host_alloc_max()) / dbk_cpus_up(engine))))
		return lacking(consumer, DBK_LACKING_AGGSIZE, reason);
	/* No plan has cells: no CPU needs the buffers for them. */
	if (consumer->class_count == 0) {
		consumer->aggregate = consumer->ring->aggregate = DBK_AGGREGATE_RECORD;
		consumer->ring->aggbuf_bytes = 0;
	}
	if (consumer->ring->segments_per_cpu > SEGMENTS_OF_FAULTS && !has_record(consumer) &&
	    !dbk_program_option(consumer->program, DTRACEOPT_BUFSIZE, &given))
		consumer->ring->segments_per_cpu = SEGMENTS_OF_FAULTS;
	if (consumer->policy == DBK_POLICY_FILL)
		reserve = dbk_account_end_reserve(consumer);
	if (consumer->bufsize < reserve)
		return dbk_refuse(reason, -E2BIG, "END enablings exceed size of principal buffer");
	if (consumer->counted && consumer->policy == DBK_POLICY_SWITCH &&
	    consumer->bufsize < dbk_account_exit_bytes(consumer))
		return dbk_refuse(reason, -E2BIG, "Enabling exceeds size of buffer");

	consumer->buffers = dbk_host_alloc(engine->cpu_count * sizeof(*consumer->buffers));
	if (consumer->buffers == NULL)
		return dbk_refuse(reason, -ENOMEM, "no memory for the ring");
	for (cpu = 0; cpu < engine->cpu_count; cpu++) {
		struct dbk_buffer *buffer = &consumer->buffers[cpu];

		buffer->cpu = (uint16_t)cpu;
		buffer->owner = engine->cpus[cpu];
		buffer->segment_bytes = consumer->ring->segment_bytes;
		buffer->room_bytes = buffer->used_bytes = buffer->segment_bytes;
		buffer->segment_count = consumer->ring->segments_per_cpu;
		if (consumer->policy == DBK_POLICY_FILL && consumer->program->has_end)
			buffer->segment_reserve = 1;
		if (consumer->aggregate == DBK_AGGREGATE_ENGINE)
			buffer->key_bytes = key_bytes;
		if (consumer->counted) {
			buffer->account.limit_bytes = consumer->bufsize;
			buffer->account.reserve_bytes = reserve;
		}
		if (consumer->aggsize <= DBK_ACCOUNT_AGG_BYTES_MAX)
			buffer->account.agg_limit_bytes = dbk_account_agg_room(consumer->aggsize);
	}
	error = dbk_meta_create(consumer, from, reason);
	if (error == 0)
		error = dbk_cpus_prepare(consumer, from);
	if (error != 0 && consumer->lacking != DBK_LACKING_NOTHING)
		return dbk_refuse(reason, error, "Cannot allocate memory");
	if (error == 0)
		error = dbk_speculations_init(consumer, reason);
	return error;
}

/* Those that there are stay: their size was found before that of the buffers. */
static int init_variables(struct dbk_consumer *consumer, uint64_t dynvarsize,
			  struct dbk_reason *reason)
{
	const struct dbk_program *program = consumer->program;
	int error;

	if (consumer->dynvars.chunks != NULL)
		return 0;
	if (dynvarsize > DBK_DYNVARSIZE_MAX ||
	    (program->dynamic_data_bytes != 0 && dynvarsize > dbk_host_alloc_max()))
		return lacking(consumer, DBK_LACKING_DYNVARSIZE, reason);
	consumer->globals_bytes = program->globals_bytes;
	consumer->locals_bytes = program->locals_bytes;
	if (consumer->globals == NULL)
		consumer->globals = dbk_host_alloc(consumer->globals_bytes + 8);
	if (consumer->globals == NULL)
		return dbk_refuse(reason, -ENOMEM, "no memory for %u bytes of variables",
				  consumer->globals_bytes);
	error = dbk_dynvars_init(consumer, dynvarsize);
	return error != 0 ? lacking(consumer, DBK_LACKING_DYNVARSIZE, reason) : 0;
}

static void release_buffers(struct dbk_consumer *consumer)
{
	bool ring_published = consumer->region_count != 0;

	dbk_speculations_deinit(consumer);
	dbk_buffers_deinit(consumer);
	if (!ring_published)
		dbk_host_free(consumer->ring);
	dbk_regions_free(consumer);
	consumer->ring = NULL;
}

static void release(struct dbk_consumer *consumer)
{
	release_buffers(consumer);
	dbk_dynvars_deinit(&consumer->dynvars);
	dbk_plans_deinit(consumer);
	dbk_host_free(consumer->globals);
	dbk_host_free(consumer);
}

static void append_consumer(struct dbk_engine *engine, struct dbk_consumer *consumer)
{
	if (engine->last_consumer == NULL)
		engine->consumers = consumer;
	else
		engine->last_consumer->next = consumer;
	engine->last_consumer = consumer;
}

static void unlink_consumer(struct dbk_engine *engine, struct dbk_consumer *consumer)
{
	struct dbk_consumer **link = &engine->consumers, *last = NULL;

	while (*link != NULL) {
		if (*link == consumer) {
			*link = consumer->next;
			continue;
		}
		last = *link;
		link = &last->next;
	}
	engine->last_consumer = last;
}

static int init_memory(struct dbk_consumer *consumer, const struct dbk_consumer_config *config,
		       const struct dbk_options *options, struct dbk_reason *reason)
{
	int error = init_variables(consumer, options->dynvarsize, reason);

	if (error != 0)
		return error;
	/* A CPU that comes up now finds it in the list, or is up before it asks. */
	dbk_host_cpus_lock();
	error = init_buffers(consumer, config->pages_from, reason);
	if (error == 0) {
		dbk_plans_count(consumer);
		append_consumer(consumer->engine, consumer);
	}
	dbk_host_cpus_unlock();
	return error;
}

/* Halves the size that memory was short for: half of it may be there.  False: it is not to be, or DTrace gives
 * up, below one word. */
static bool lower_size(uint32_t lacking, struct dbk_options *options)
{
	uint64_t *size = lacking == DBK_LACKING_BUFSIZE	     ? &options->bufsize
			 : lacking == DBK_LACKING_AGGSIZE    ? &options->aggsize
			 : lacking == DBK_LACKING_DYNVARSIZE ? &options->dynvarsize
							     : NULL;

	if (options->bufresize == DBK_BUFRESIZE_MANUAL || size == NULL ||
	    *size / 2 < sizeof(uint64_t))
		return false;
	*size /= 2;
	return true;
}

/* With the sizes of @options, or what is left of them after halving.  The plans do not depend on them. */
static int find_memory(struct dbk_consumer *consumer, const struct dbk_consumer_config *config,
		       struct dbk_options *options, struct dbk_reason *reason)
{
	int error;

	for (;;) {
		error = init_memory(consumer, config, options, reason);
		if (error != -ENOMEM || !lower_size(consumer->lacking, options))
			return error;
		error = dbk_host_pause();
		if (error != 0)
			return error;
		consumer->lacking = DBK_LACKING_NOTHING;
		release_buffers(consumer);
		if (dbk_options_apply(consumer, config, options) != 0)
			return dbk_refuse(reason, -ENOMEM, "no memory for the ring");
	}
}

static int create(struct dbk_engine *engine, struct dbk_program *program,
		  const struct dbk_consumer_config *config, struct dbk_options *options,
		  struct dbk_reason *reason, struct dbk_consumer **consumer_ret)
{
	struct dbk_consumer *consumer = dbk_host_alloc(sizeof(*consumer));
	uint64_t destructive = 0;
	int error = 0;

	if (consumer == NULL)
		return dbk_refuse(reason, -ENOMEM, "no memory for the ring");
	consumer->engine = engine;
	consumer->program = program;
	consumer->ring_id = config->ring_id;
	consumer->next_epid = 1;
	dbk_program_option(program, DTRACEOPT_DESTRUCTIVE, &destructive);
	consumer->immortal = destructive != 0;
	if (dbk_options_apply(consumer, config, options) != 0)
		error = dbk_refuse(reason, -ENOMEM, "no memory for the ring");
	dbk_program_bind(program, consumer);
	if (error == 0)
		error = dbk_plans_init(consumer, reason);
	if (error == 0)
		error = find_memory(consumer, config, options, reason);
	if (error != 0) {
		release(consumer);
		return error;
	}
	engine->program_bytes += program->memory_bytes;
	*consumer_ret = consumer;
	return 0;
}

/* In META_RING, the sizes that are less than asked for; rounding to words aside. */
static void note_lowered(struct dbk_consumer *consumer, const struct dbk_options *asked)
{
	uint64_t wanted[DBK_SIZE_COUNT] = {
		[DBK_SIZE_BUFFER] = asked->bufsize,
		[DBK_SIZE_AGGREGATION] = asked->aggsize,
		[DBK_SIZE_SPECULATION] = DBK_SPECSIZE_DEFAULT,
		[DBK_SIZE_DYNAMIC] = asked->dynvarsize,
	};
	const uint64_t given[DBK_SIZE_COUNT] = {
		[DBK_SIZE_BUFFER] = consumer->bufsize,
		[DBK_SIZE_AGGREGATION] = consumer->aggsize,
		[DBK_SIZE_SPECULATION] =
			consumer->speculation_count != 0 ? consumer->spec_bytes : ~0ull,
		[DBK_SIZE_DYNAMIC] = consumer->dynvarsize,
	};
	int which;

	dbk_program_option(consumer->program, DTRACEOPT_SPECSIZE, &wanted[DBK_SIZE_SPECULATION]);
	for (which = 0; which < DBK_SIZE_COUNT; which++)
		if (given[which] < (wanted[which] & ~7ull))
			consumer->ring->lowered_bytes[which] = given[which];
}

/* All programs together, of every consumer. */
static uint64_t programs_max(void)
{
	return dbk_host_alloc_max();
}

int dbk_consumer_create(struct dbk_engine *engine, struct dbk_program *program,
			const struct dbk_consumer_config *config, struct dbk_reason *reason,
			struct dbk_consumer **consumer_ret)
{
	uint64_t destructive = 0;
	struct dbk_options options, asked;
	int error;

	dbk_program_option(program, DTRACEOPT_DESTRUCTIVE, &destructive);
	if (destructive != 0 && !config->destructive)
		return dbk_refuse(
			reason, -EINVAL,
			"option destructive is set, and destructive actions are not allowed here");
	if (engine->program_bytes + program->memory_bytes > programs_max())
		return dbk_refuse(reason, -E2BIG,
				  "the programs of this machine would take %U bytes of memory, at "
				  "most %U may",
				  engine->program_bytes + program->memory_bytes, programs_max());
	error = dbk_options_read(engine, program, config, &options, reason);
	if (error != 0)
		return error;
	asked = options;
	error = create(engine, program, config, &options, reason, consumer_ret);
	if (error == 0)
		note_lowered(*consumer_ret, &asked);
	return error;
}

bool dbk_consumer_size(const struct dbk_consumer *consumer, uint32_t option, uint64_t *bytes_ret)
{
	switch (option) {
	case DTRACEOPT_SPECSIZE:
		*bytes_ret = consumer->spec_bytes;
		return consumer->speculation_count != 0;
	case DTRACEOPT_BUFSIZE:
		*bytes_ret = consumer->bufsize;
		return true;
	case DTRACEOPT_AGGSIZE:
		*bytes_ret = consumer->aggsize;
		return true;
	case DTRACEOPT_DYNVARSIZE:
		*bytes_ret = consumer->dynvarsize;
		return true;
	default:
		return false;
	}
}

const char *dbk_consumer_lowered(const struct dbk_consumer *consumer, enum dbk_size which,
				 uint64_t *bytes_ret)
{
#define NAME(name, value, option, text) [DBK_SIZE_##name] = text,
	static const char *const names[DBK_SIZE_COUNT] = {DBK_SIZES(NAME)};
#undef NAME

	*bytes_ret = consumer->ring->lowered_bytes[which];
	return *bytes_ret != 0 ? names[which] : NULL;
}

void dbk_consumer_destroy(struct dbk_consumer *consumer)
{
	struct dbk_program *program;
	bool aborted;

	if (consumer == NULL)
		return;
	aborted = dbk_load_acquire(&consumer->activity) == DBK_ACTIVITY_KILLED;
	dbk_store_release(&consumer->activity, (uint32_t)DBK_ACTIVITY_KILLED);
	if (!aborted)
		dbk_store_release(&consumer->ring->activity, (uint32_t)DBK_ACTIVITY_STOPPED);
	dbk_gates_set(consumer, 0);
	dbk_host_cpus_lock();
	unlink_consumer(consumer->engine, consumer);
	dbk_host_cpus_unlock();
	dbk_ecbs_remove_consumer(consumer);
	program = consumer->program;
	dbk_assert(consumer->engine->program_bytes >= program->memory_bytes);
	consumer->engine->program_bytes -= program->memory_bytes;
	release(consumer);
	dbk_program_destroy(program);
}

/* ---- enable, start, stop ------------------------------------------------------------------- */

int dbk_consumer_enable(struct dbk_consumer *consumer, struct dbk_reason *reason,
			uint32_t *matched_ret)
{
	uint32_t matched = 0, ecbs, i;
	int error = 0, settled;

	if (consumer->enabled)
		return dbk_refuse(reason, -EINVAL, "the enabling is enabled already");
	consumer->enabled = true;
	/* Clause by clause, as DTrace does: EPIDs count in the program's order.  All gates are
	 * closed, so no CPU sees a part. */
	dbk_assert(dbk_load_relaxed(&consumer->activity) == DBK_ACTIVITY_INACTIVE);
	for (i = 0; i < consumer->plan_count && error == 0; i++) {
		ecbs = consumer->ecb_count;
		error = dbk_ecbs_add_plan(consumer, &consumer->plans[i], reason, &matched);
		consumer->plans[i].waits = consumer->ecb_count == ecbs;
	}
	settled = dbk_host_probes_settle();
	if (error == 0 && settled != 0)
		error = dbk_refuse(reason, settled, "the probes cannot be armed");
	*matched_ret = matched;
	return error;
}

const struct dbk_probedesc *dbk_consumer_waiting(const struct dbk_consumer *consumer,
						 uint32_t *clause)
{
	while (*clause < consumer->plan_count) {
		const struct dbk_plan *plan = &consumer->plans[(*clause)++];

		if (plan->waits)
			return &consumer->program->probedescs[plan->desc->probedesc];
	}
	return NULL;
}

void dbk_activity_set(struct dbk_consumer *consumer, enum dbk_activity activity)
{
	dbk_store_release(&consumer->activity, (uint32_t)activity);
	dbk_store_release(&consumer->ring->activity, (uint32_t)activity);
}

/* BEGIN or END, on the CPU of option cpu when there is one: no other's records are kept. */
static void fire_own(struct dbk_consumer *consumer, struct dbk_probe *probe, uint32_t gates)
{
	struct dbk_own_firing firing = {consumer, probe, gates};

	if (consumer->only_cpu == DBK_CPU_ALL)
		dbk_fire_own(&firing, DBK_CPU_ALL);
	else
		dbk_host_on_cpu(consumer->only_cpu, dbk_fire_own, &firing);
}

int dbk_consumer_start(struct dbk_consumer *consumer)
{
	uint32_t warmup = DBK_ACTIVITY_WARMUP;

	if (dbk_load_relaxed(&consumer->activity) != DBK_ACTIVITY_INACTIVE)
		return -EINVAL;
	dbk_activity_set(consumer, DBK_ACTIVITY_WARMUP);
	fire_own(consumer, &consumer->engine->begin, DBK_GATE_BEGIN | DBK_GATE_ERROR);
	if (!dbk_compare_swap(&consumer->activity, &warmup, (uint32_t)DBK_ACTIVITY_ACTIVE))
		return 0; /* BEGIN called exit() */
	dbk_store_release(&consumer->ring->activity, (uint32_t)DBK_ACTIVITY_ACTIVE);
	dbk_gates_set(consumer, DBK_GATE_ORDINARY | DBK_GATE_ERROR);
	/* A CPU that was let in first may have called exit() and closed gates opened after it: they
	 * are open before it is looked, as in open_gates(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (dbk_load_acquire(&consumer->activity) != DBK_ACTIVITY_ACTIVE) {
		dbk_gates_set(consumer, 0);
		dbk_store_release(&consumer->ring->activity, dbk_load_relaxed(&consumer->activity));
	}
	return 0;
}

/* Nothing is recorded any more: a reader that copies the ring finds every segment sealed. */
static void end_ring(struct dbk_consumer *consumer)
{
	uint32_t cpu;

	dbk_consumer_clean(consumer);
	for (cpu = 0; cpu < consumer->engine->cpu_count; cpu++)
		dbk_consumer_seal(consumer, cpu, DBK_SEAL_DEAD);
}

int dbk_consumer_stop(struct dbk_consumer *consumer)
{
	uint32_t activity = dbk_load_acquire(&consumer->activity);

	/* exit() and the deadman may come before; what the latter ended fires no END. */
	do {
		if (activity == DBK_ACTIVITY_COOLDOWN || activity == DBK_ACTIVITY_STOPPED)
			return 0;
		if (activity == DBK_ACTIVITY_INACTIVE) {
			dbk_activity_set(consumer, DBK_ACTIVITY_STOPPED);
			return 0;
		}
		if (activity == DBK_ACTIVITY_KILLED) {
			dbk_host_synchronize();
			end_ring(consumer);
			return 0;
		}
	} while (!dbk_compare_swap(&consumer->activity, &activity, (uint32_t)DBK_ACTIVITY_COOLDOWN));
	dbk_gates_set(consumer, 0);
	/* A firing that is inside finishes, exit() included: nothing opens or closes gates after this. */
	dbk_host_synchronize();
	dbk_activity_set(consumer, DBK_ACTIVITY_COOLDOWN);
	/* What was committed is in the ring before END, and what END commits after it. */
	dbk_consumer_clean(consumer);
	fire_own(consumer, &consumer->engine->end, DBK_GATE_END | DBK_GATE_ERROR);
	dbk_activity_set(consumer, DBK_ACTIVITY_STOPPED);
	end_ring(consumer);
	return 0;
}

/* ---- tending ------------------------------------------------------------------------------- */

/* There was no memory for the CPU when it came up. */
static void prepare_again(struct dbk_consumer *consumer, uint32_t cpu, enum dbk_pages_from from)
{
	struct dbk_buffer *buffer = &consumer->buffers[cpu];
	bool prepared;

	if (dbk_load_relaxed(&consumer->activity) >= DBK_ACTIVITY_COOLDOWN ||
	    dbk_memory_paused(buffer))
		return;
	dbk_host_cpus_lock();
	prepared = dbk_cpu_prepare(consumer, cpu, from);
	dbk_host_cpus_unlock();
	if (!prepared)
		dbk_memory_refused(buffer);
}

void dbk_consumer_tend(struct dbk_consumer *consumer, enum dbk_pages_from from)
{
	struct dbk_clocks clocks = {0};
	uint32_t cpu;

	if (dbk_consumer_grows(consumer))
		dbk_host_clocks(&clocks);
	for (cpu = 0; cpu < consumer->engine->cpu_count; cpu++) {
		struct dbk_buffer *buffer = &consumer->buffers[cpu];
		uint64_t open = dbk_load_acquire(&buffer->sequence);

		if (!buffer->ready)
			prepare_again(consumer, cpu, from);
		if (open == 0)
			continue;
		dbk_segments_seal(buffer);
		if (dbk_consumer_grows(consumer))
			dbk_segments_grow(consumer, buffer, clocks.mono_ns, from);
		buffer->tended_sequence = open;
	}
}

/* ---- looking --------------------------------------------------------------------------------- */

enum dbk_activity dbk_consumer_activity(const struct dbk_consumer *consumer)
{
	return (enum dbk_activity)dbk_load_acquire(&consumer->activity);
}

const struct dbk_meta_ring *dbk_consumer_ring(const struct dbk_consumer *consumer)
{
	return consumer->ring;
}

uint16_t dbk_consumer_ring_id(const struct dbk_consumer *consumer)
{
	return consumer->ring_id;
}

const struct dbk_program *dbk_consumer_program(const struct dbk_consumer *consumer)
{
	return consumer->program;
}

const struct dbk_meta_cpu *dbk_consumer_counters(const struct dbk_consumer *consumer, uint32_t cpu)
{
	return cpu < consumer->engine->cpu_count ? consumer->buffers[cpu].counters : NULL;
}

int32_t dbk_consumer_exit_status(const struct dbk_consumer *consumer)
{
	return dbk_load_relaxed(&consumer->exit_status);
}

void dbk_consumer_release(struct dbk_consumer *consumer, uint32_t cpu, uint64_t sequence)
{
	if (cpu >= consumer->engine->cpu_count)
		return;
	dbk_store_release(&consumer->buffers[cpu].released_sequence, sequence);
	dbk_account_release(&consumer->buffers[cpu]);
}
