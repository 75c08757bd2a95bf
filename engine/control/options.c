/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* options.c - the options of a ring: read, checked, put to work; see options.h */
#include "engine/control/options.h"
#include "engine/memory/account.h"
#include "engine/memory/buffer.h"

static int read_option(const struct dbk_program *program, uint32_t option, const char *name,
		       uint64_t low, uint64_t high, uint64_t *value, struct dbk_reason *reason)
{
	if (!dbk_program_option(program, option, value))
		return 0;
	if (*value < low || *value > high)
		return dbk_refuse(reason, -EINVAL, "option %s is %U, it must be %U to %U", name,
				  *value, low, high);
	return 0;
}

/* How far a ring reaches back, and what it may take for that. */
static int read_ringtime(const struct dbk_program *program, struct dbk_options *o,
			 struct dbk_reason *reason)
{
	static const char *const names[] = {"ring", "fill", "switch"};
	uint64_t given;
	int error;

	error = read_option(program, DBK_OPT_RINGTIME, "ringtime", DBK_RINGTIME_MIN_NS,
			    DBK_RINGTIME_MAX_NS, &o->ringtime_ns, reason);
	if (error == 0)
		error = read_option(program, DBK_OPT_RINGMAX, "ringmax",
				    DBK_SEGMENTS_MIN * o->segmentsize, DBK_BUFSIZE_MAX, &o->ringmax,
				    reason);
	if (error != 0)
		return error;
	if (o->ringtime_ns == 0) {
		if (o->ringmax != 0)
			return dbk_refuse(reason, -EINVAL,
					  "option ringmax is set, and option ringtime is not");
		return 0;
	}
	if (!dbk_program_option(program, DTRACEOPT_BUFPOLICY, &given))
		o->bufpolicy = DBK_POLICY_RING;
	if (o->bufpolicy != DBK_POLICY_RING)
		return dbk_refuse(reason, -EINVAL,
				  "option ringtime needs bufpolicy=ring, it is bufpolicy=%s",
				  names[o->bufpolicy]);
	if (!dbk_program_option(program, DTRACEOPT_BUFSIZE, &given) && o->ringmax != 0 &&
	    o->bufsize > o->ringmax)
		o->bufsize = o->ringmax;
	if (o->ringmax != 0 && o->bufsize > o->ringmax)
		return dbk_refuse(reason, -EINVAL, "option bufsize is %U, and ringmax is %U",
				  o->bufsize, o->ringmax);
	return 0;
}

int dbk_options_read(const struct dbk_engine *engine, const struct dbk_program *program,
		     const struct dbk_consumer_config *config, struct dbk_options *o,
		     struct dbk_reason *reason)
{
	uint64_t given;
	int error;

	o->bufsize = DBK_BUFSIZE_DEFAULT;
	o->bufpolicy = config->anonymous ? DBK_POLICY_RING : DBK_POLICY_SWITCH;
	o->segmentsize = DBK_SEGMENT_BYTES_DEFAULT;
	o->aggsize = DBK_AGGSIZE_DEFAULT;
	o->aggregate = config->aggregate_default;
	o->stackframes = o->ustackframes = DBK_STACKFRAMES_DEFAULT;
	o->jstackframes = DBK_JSTACKFRAMES_DEFAULT;
	o->dynvarsize = DBK_DYNVARSIZE_DEFAULT;
	o->bufresize = DBK_BUFRESIZE_AUTO;
	o->cpu = DBK_CPU_ALL;
	o->ringtime_ns = o->ringmax = o->ustackbytes = 0;
	error = read_option(program, DTRACEOPT_BUFSIZE, "bufsize", 0, ~0ull, &o->bufsize, reason);
	if (error == 0)
		error = read_option(program, DTRACEOPT_BUFPOLICY, "bufpolicy", DBK_POLICY_RING,
				    DBK_POLICY_SWITCH, &o->bufpolicy, reason);
	if (error == 0)
		error = read_option(program, DBK_OPT_SEGMENTSIZE, "segmentsize",
				    DBK_SEGMENT_BYTES_MIN, DBK_SEGMENT_BYTES_MAX, &o->segmentsize,
				    reason);
	if (error == 0)
		error = read_option(program, DTRACEOPT_AGGSIZE, "aggsize", 0, ~0ull, &o->aggsize,
				    reason);
	if (error == 0)
		error = read_option(program, DTRACEOPT_BUFRESIZE, "bufresize", DBK_BUFRESIZE_AUTO,
				    DBK_BUFRESIZE_MANUAL, &o->bufresize, reason);
	if (error == 0)
		error = read_option(program, DBK_OPT_AGGREGATE, "aggregate", DBK_AGGREGATE_RECORD,
				    DBK_AGGREGATE_ENGINE, &o->aggregate, reason);
	if (error == 0)
		error = read_option(program, DTRACEOPT_STACKFRAMES, "stackframes", 1,
				    DBK_STACKFRAMES_MAX, &o->stackframes, reason);
	if (error == 0)
		error = read_option(program, DTRACEOPT_USTACKFRAMES, "ustackframes", 1,
				    DBK_STACKFRAMES_MAX, &o->ustackframes, reason);
	if (error == 0)
		error = read_option(program, DTRACEOPT_JSTACKFRAMES, "jstackframes", 1,
				    DBK_STACKFRAMES_MAX, &o->jstackframes, reason);
	if (error == 0)
		error = read_option(program, DBK_OPT_USTACKBYTES, "ustackbytes", 0,
				    DBK_USTACKBYTES_MAX, &o->ustackbytes, reason);
	if (error == 0 && o->ustackbytes > o->segmentsize / 2)
		error = dbk_refuse(reason, -EINVAL,
				   "option ustackbytes is %U, segmentsize must be twice that at "
				   "least, it is %U",
				   o->ustackbytes, o->segmentsize);
	if (error == 0)
		error = read_option(program, DTRACEOPT_DYNVARSIZE, "dynvarsize", 0, ~0ull,
				    &o->dynvarsize, reason);
	if (error == 0)
		error = read_option(program, DTRACEOPT_CPU, "cpu", 0, engine->cpu_count - 1,
				    &o->cpu, reason);
	if (error == 0 && !DBK_IS_POWER_OF_TWO(o->segmentsize))
		error = dbk_refuse(reason, -EINVAL, "option segmentsize is %U, no power of two",
				   o->segmentsize);
	if (error == 0)
		error = read_ringtime(program, o, reason);
	if (o->bufpolicy == DBK_POLICY_SWITCH &&
	    !dbk_program_option(program, DTRACEOPT_BUFSIZE, &given))
		o->bufsize = DBK_BUFSIZE_SWITCH;
	return error;
}

/* Rounds an aggregation buffer's size up to pages that the allocator has without waste; a counted
 * one never fills before its account. */
static uint32_t aggbuf_bytes(uint64_t aggsize)
{
	uint32_t bytes = DBK_AGGSIZE_MIN;

	if (aggsize <= DBK_ACCOUNT_AGG_BYTES_MAX)
		aggsize *= 4;
	while (bytes < aggsize && bytes < DBK_AGGSIZE_MAX)
		bytes *= 2;
	return bytes;
}

static void copy_name(char *to, const char *from)
{
	uint32_t i;

	for (i = 0; i < 31 && from != NULL && from[i] != '\0'; i++)
		to[i] = from[i];
}

/* Without option ringmax a quarter of the machine's memory, over all CPUs. */
static uint64_t ringmax_bytes(const struct dbk_consumer *consumer, const struct dbk_options *o,
			      enum dbk_pages_from from)
{
	uint64_t cpus = o->cpu == DBK_CPU_ALL ? dbk_cpus_up(consumer->engine) : 1;
	uint64_t bytes = o->ringmax != 0 ? o->ringmax : dbk_host_pages_max(from) / 2 / cpus;

	if (bytes < consumer->bufsize)
		bytes = consumer->bufsize;
	return (bytes < DBK_BUFSIZE_MAX ? bytes : DBK_BUFSIZE_MAX) & ~(o->segmentsize - 1);
}

int dbk_options_apply(struct dbk_consumer *consumer, const struct dbk_consumer_config *config,
		      const struct dbk_options *o)
{
	struct dbk_engine *engine = consumer->engine;
	struct dbk_meta_ring *ring;
	struct dbk_clocks clocks;
	uint64_t segments;

	dbk_assert(DBK_IS_POWER_OF_TWO(o->segmentsize) && o->segmentsize <= DBK_SEGMENT_BYTES_MAX);
	/* DTrace rounds down, and refuses what then holds nothing. */
	consumer->bufsize = o->bufsize & ~7ull;
	consumer->aggsize = o->aggsize & ~7ull;
	consumer->dynvarsize = o->dynvarsize;
	consumer->ringtime_ns = o->ringtime_ns;
	consumer->counted =
		consumer->bufsize <= DBK_ACCOUNT_SEGMENTS * o->segmentsize && o->ringtime_ns == 0;
	segments = (consumer->bufsize + o->segmentsize - 1) / o->segmentsize;
	/* The one being written, the one before, and one for what the account leaves out. */
	if (consumer->counted)
		segments = DBK_ACCOUNT_SEGMENTS * 2 + 1;
	consumer->policy = (uint32_t)o->bufpolicy;
	consumer->aggregate = (uint32_t)o->aggregate;
	consumer->clock = engine->clock;
	consumer->strsize = consumer->program->strsize;
	consumer->stackframes = (uint32_t)o->stackframes;
	consumer->ustackframes = (uint32_t)o->ustackframes;
	consumer->ustackbytes = (uint32_t)o->ustackbytes & ~7u;
	consumer->jstackframes = (uint32_t)o->jstackframes;
	consumer->only_cpu = (uint32_t)o->cpu;
	/* Lives here until META_RING has its memory. */
	ring = consumer->ring = dbk_host_alloc(sizeof(*ring));
	if (ring == NULL)
		return -ENOMEM;
	dbk_host_clocks(&clocks);
	ring->policy = consumer->policy;
	ring->aggregate = consumer->aggregate;
	ring->clock = consumer->clock;
	ring->segment_bytes = (uint32_t)o->segmentsize;
	ring->segments_per_cpu =
		segments < DBK_SEGMENTS_MIN ? DBK_SEGMENTS_MIN : (uint32_t)segments;
	ring->strsize_bytes = consumer->strsize;
	ring->ticks_per_second = engine->ticks_per_second;
	ring->start_ticks = clocks.ticks;
	ring->start_mono_ns = clocks.mono_ns;
	ring->start_boot_ns = clocks.boot_ns;
	ring->start_wall_ns = clocks.wall_ns;
	ring->anonymous = config->anonymous;
	if (consumer->aggregate == DBK_AGGREGATE_ENGINE)
		ring->aggbuf_bytes = aggbuf_bytes(o->aggsize);
	ring->stackframes = consumer->stackframes;
	ring->ringtime_ns = o->ringtime_ns;
	if (o->ringtime_ns != 0)
		ring->ringmax_bytes = ringmax_bytes(consumer, o, config->pages_from);
	copy_name(ring->name, config->name);
	return 0;
}
