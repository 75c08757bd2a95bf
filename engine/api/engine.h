/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * engine.h - all that a host calls
 *
 *   struct dbk_engine    one per host: the CPUs' state, the probes, the consumers
 *   struct dbk_program   one verified DOF image; nothing runs that is not one
 *   struct dbk_consumer  one enabling at work: its ring, its variables, its ECBs
 *   struct dbk_probe     the host's; a named place that fires
 *
 *   engine_create
 *     probe_add ...                         providers publish what they have
 *   program_load(untrusted DOF)             verified, or a reason
 *     program_probedesc(i)                  providers make what was named (profile-97)
 *   consumer_create(program)                memory, metadata; owns the program now
 *   consumer_enable                         ECBs on every probe that matches
 *   consumer_start                          BEGIN, first and alone; then all others
 *       probe_fire ... probe_fire           probe_add() and probe_remove() as modules come and go
 *   consumer_stop                           END, last; nothing is recorded after it
 *   consumer_destroy
 *
 * Locks: none here.  The host calls everything but dbk_probe_fire() from a
 * context that may sleep, one call at a time (its control mutex).
 * dbk_probe_fire() runs anywhere, at any time, on any CPU, beside all of them:
 * it reads a probe's ECB list, which the control path only ever changes by one
 * release-store, and frees what it took out after dbk_host_synchronize().
 *
 * Errors: 0 or a negative errno; where a `struct dbk_reason` is asked for, it
 * holds one sentence for people whenever the call fails.
 */
#ifndef DBK_ENGINE_ENGINE_H
#define DBK_ENGINE_ENGINE_H

#include "engine/api/host.h"
#include "engine/api/platform.h"

#include "formats/abi/dof.h"
#include "formats/abi/drops.h"
#include "formats/abi/embed.h"
#include "formats/abi/faults.h"
#include "formats/abi/limits.h"
#include "formats/abi/meta.h"
#include "formats/abi/segment.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dbk_engine;
struct dbk_program;
struct dbk_consumer;
struct dbk_ecb;

/* Why something was refused: one NUL-terminated sentence, lower case, no full stop. */
#define DBK_ENGINE_REASON_BYTES 256u /* ioctl.h: DBK_REASON_BYTES */
struct dbk_reason {
	char text[DBK_ENGINE_REASON_BYTES];
};

/* ---- the engine ------------------------------------------------------------ */

#define DBK_CPUS_MAX 4096u /* a segment header has 16 bits for the CPU; this is a sane machine */

struct dbk_engine_config {
	uint32_t cpu_count;	   /* possible CPUs, 1 .. DBK_CPUS_MAX; none is up at first */
	uint32_t clock;		   /* DBK_CLOCK_: what dbk_host_ticks() counts */
	uint64_t ticks_per_second; /* of dbk_host_ticks() */
	uint64_t boot_id;	   /* first 8 bytes of the boot's UUID */
};

/**
 * dbk_engine_create() - the state shared by all consumers, and the probes of provider dtrace
 *
 * BEGIN, END and ERROR are the engine's own, with the ids 1, 2 and 3.
 * Return: NULL when there is no memory or the config is out of bounds.
 */
struct dbk_engine *dbk_engine_create(const struct dbk_engine_config *config);

/**
 * dbk_engine_cpu_up() - a CPU is about to come online, or the host says at the start that it is
 *
 * The engine, and each consumer there is, get the CPU's memory; what it had before it stays.
 * What is made later has memory for the CPUs that are up then.  Until this call a CPU has none and
 * must not fire.  On it runs what dbk_host_cpus_lock() keeps out.
 *
 * Context: May sleep.  Beside the control path, not under the host's control mutex.
 * Return: false when a consumer has no memory there: what fires in it is PRINCIPAL drops until
 * dbk_consumer_tend() finds some.
 */
bool dbk_engine_cpu_up(struct dbk_engine *engine, uint32_t cpu);

/** dbk_engine_cpu_down() - the CPU went offline: what it recorded stays, and consumers made from
 * now on have no memory for it.  Context as above. */
void dbk_engine_cpu_down(struct dbk_engine *engine, uint32_t cpu);

/** dbk_engine_destroy() - frees; every consumer is destroyed and every probe removed before */
void dbk_engine_destroy(struct dbk_engine *engine);

/* ---- probes ------------------------------------------------------------------ */

#define DBK_PROBE_ARGS_MAX	 10u  /* arg0 .. arg9 */

/*
 * A probe, in the host's memory from dbk_probe_add() until dbk_probe_remove()
 * has returned.  The host fills the first part.  Argument i of a firing is the
 * u64 at args[arg_word[i]], so a provider hands its pt_regs or its own array to
 * dbk_probe_fire() without copying; dbk_probe_args_in_order() fills the
 * plain case.  Arguments at or beyond arg_count are asked from dbk_host_arg().
 */
struct dbk_probe {
	const char *provider; /* NUL-terminated, "" when empty, never NULL */
	const char *module;
	const char *function;
	const char *name;
	void *host_data; /* the host's own */
	uint8_t arg_count;
	uint8_t arg_word[DBK_PROBE_ARGS_MAX];

	/* The engine's: zero before dbk_probe_add(). */
	uint8_t engine_flags;
	uint32_t id;		/* from 1, never reused within an engine */
	struct dbk_ecb *ecbs;	/* published list, in the order they run */
	struct dbk_probe *next; /* all probes, by id */
};

/** dbk_probe_args_in_order() - argument i is args[i] */
static inline void dbk_probe_args_in_order(struct dbk_probe *probe, uint8_t arg_count)
{
	uint8_t i;

	probe->arg_count = arg_count;
	for (i = 0; i < DBK_PROBE_ARGS_MAX; i++)
		probe->arg_word[i] = i;
}

/** dbk_probe_is_enabled() - whether a firing would find an ECB; probe context */
static inline bool dbk_probe_is_enabled(const struct dbk_probe *probe)
{
	return dbk_load_relaxed(&probe->ecbs) != NULL;
}

/** dbk_probe_is_awaited() - whether dbk_probe_add() of @probe would enable it */
bool dbk_probe_is_awaited(const struct dbk_engine *engine, const struct dbk_probe *probe);

/**
 * dbk_probe_add() - publishes a probe
 *
 * Sets its id and matches it with every consumer's enabling: a consumer that
 * named it gets an ECB, and the probe is enabled (host.h) and settled before the call
 * returns.  A host that adds many brackets them with dbk_probe_add_begin/end(),
 * and they are settled once.
 * Return: 0; -EINVAL for a bad name or arg_count.  Without memory for an ECB the
 * probe is still published, -ENOMEM says that not every ECB could be made, and each consumer
 * that lacks one has a MISSED drop.  So it is with an error of the host's: each consumer of a probe
 * that is not armed has one.
 */
int dbk_probe_add(struct dbk_engine *engine, struct dbk_probe *probe);
void dbk_probe_add_begin(struct dbk_engine *engine);
int dbk_probe_add_end(struct dbk_engine *engine);

/** dbk_engine_probe_ids_from() - probes to come get ids from @id on, if theirs would be lower */
void dbk_engine_probe_ids_from(struct dbk_engine *engine, uint32_t id);

/** dbk_probe_remove() - takes a probe and its ECBs out; its memory is the host's again */
void dbk_probe_remove(struct dbk_engine *engine, struct dbk_probe *probe);

/** dbk_probe_remove_many() - the same for @count probes, with one wait for all of them */
void dbk_probe_remove_many(struct dbk_engine *engine, struct dbk_probe **probes, uint32_t count);

/** dbk_probes_remove_unused() - takes out the probes of @host_data that have no ECBs, and waits for none: the host's hooks
 * of each are its own, and were away before the wait for the last of its ECBs */
void dbk_probes_remove_unused(struct dbk_engine *engine, const void *host_data);

/** dbk_engine_probe_count() - probes published now */
uint32_t dbk_engine_probe_count(const struct dbk_engine *engine);

/** dbk_engine_probe_at() - the @index-th published probe in the order of ids, or NULL.  Walking
 * all by `->next` from index 0 is cheaper. */
struct dbk_probe *dbk_engine_probe_at(const struct dbk_engine *engine, uint32_t index);

/**
 * dbk_glob_match() - one part of a probe description against a name
 *
 * `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before a character taken literally.  An
 * empty pattern matches anything.  Bounded: work grows with the product of the lengths.
 */
bool dbk_glob_match(const char *pattern, const char *name);

/* The four parts of a probe description, as the DOF has them. */
struct dbk_probedesc {
	const char *provider;
	const char *module;
	const char *function;
	const char *name;
	uint32_t id; /* not 0: exactly the probe with this id */
};

/** dbk_probedesc_match() - whether @probe is what @description names */
bool dbk_probedesc_match(const struct dbk_probedesc *description, const struct dbk_probe *probe);

/**
 * dbk_probe_fire() - the hot path: runs the probe's ECBs
 * @probe: with or without ECBs; most callers look at dbk_probe_is_enabled() first
 * @args:  see struct dbk_probe; may be NULL when arg_count is 0
 * @frame: handed back to the host's functions (stack, caller, errno ...)
 *
 * Disables interrupts once it knows that something is to be done: a firing that ends with an early
 * predicate only counts.  The caller keeps preemption off from before it looked whether the probe is
 * enabled: ECBs are freed after dbk_host_synchronize(), and counters are a CPU's own (dbk_count()).
 * A probe that fires inside this, on the same CPU, is a NESTED drop of each consumer that enabled it.
 *
 * Context: Any with preemption off, NMI included.  Bounded time.  Takes no lock.
 */
void dbk_probe_fire(struct dbk_probe *probe, const void *args, void *frame);

/**
 * dbk_probe_missed() - the host knows of @count firings of @probe that it could not deliver
 *
 * A MISSED drop of each consumer that enabled it, on this CPU.  Disables interrupts meanwhile.
 * Context: Any with preemption off, NMI included.
 */
void dbk_probe_missed(struct dbk_probe *probe, uint32_t count);

/* ---- programs ------------------------------------------------------------------ */

/**
 * dbk_program_load() - checks and verifies an untrusted DOF image
 * @untrusted_dof: @bytes of it; copied, the caller's memory is not kept
 * @reason:        on failure, why: "DIF object in section 14: instruction 3: register %r9 does
 *                 not exist"
 * @program_ret:   on success
 *
 * Return: 0; -EINVAL: refused; -E2BIG: beyond a limit; -ENOMEM.
 */
int dbk_program_load(const void *untrusted_dof, size_t bytes, struct dbk_reason *reason,
		     struct dbk_program **program_ret);

/** dbk_program_destroy() - frees a program that no consumer owns; NULL is fine */
void dbk_program_destroy(struct dbk_program *program);

/** dbk_program_probedesc_count() - probe descriptions the program names */
uint32_t dbk_program_probedesc_count(const struct dbk_program *program);

/** dbk_program_probedesc() - the @index-th; strings live as long as the program */
bool dbk_program_probedesc(const struct dbk_program *program, uint32_t index,
			   struct dbk_probedesc *description_ret);

/* Where an argument of a mark is.  Registers are the processor's (engine/arch/operands_*.c). */
enum dbk_operand_kind {
	DBK_OPERAND_NONE,     /* cannot be read: 0 */
	DBK_OPERAND_REGISTER, /* base */
	DBK_OPERAND_CONSTANT, /* value */
	DBK_OPERAND_MEMORY,   /* at base + index * scale + value */
};
#define DBK_OPERAND_NO_REGISTER 0xffu

struct dbk_operand {
	uint8_t kind;
	uint8_t bytes; /* 1, 2, 4 or 8 */
	uint8_t base, index, scale;
	bool is_signed;
	int64_t value;
};

/* A probe that the program wants made in a file that programs map as code: dof.h, struct
 * dbk_dof_place, whose fields these are, checked.  Strings live as long as the program. */
struct dbk_place {
	const char *provider, *module, *function, *name;
	const char *path;
	struct dbk_operand operands[DBK_PLACE_OPERANDS_MAX]; /* of a mark */
	uint32_t operand_count;
	uint32_t kind; /* DBK_PLACE_ */
	uint32_t pid;
	uint64_t offset, function_at, semaphore, build_id_at;
	uint32_t build_id_bytes;
	uint8_t build_id[DBK_PLACE_BUILD_ID_MAX];
};

/** dbk_program_place_count() - places that the program brings along */
uint32_t dbk_program_place_count(const struct dbk_program *program);

/** dbk_program_place() - the @index-th, or NULL */
const struct dbk_place *dbk_program_place(const struct dbk_program *program, uint32_t index);

/**
 * dbk_program_probedesc_is_heavy() - whether a firing of the @index-th may take long, in some clause
 *
 * It walks a stack, or touches memory that may not be there. A host may bound how many such
 * probes it enables at once.
 */
bool dbk_program_probedesc_is_heavy(const struct dbk_program *program, uint32_t index);

/** dbk_program_names_users() - whether it records addresses of processes, which get names by maps */
bool dbk_program_names_users(const struct dbk_program *program);

/** dbk_program_option() - value of a DTRACEOPT_ or DBK_OPT_ option; false when it is not set */
bool dbk_program_option(const struct dbk_program *program, uint32_t option, uint64_t *value_ret);

/**
 * dbk_program_target() - what the program was compiled for, from its TARGET section
 * @release_ret: uname -r, "" = any kernel; lives as long as the program
 * @typed_ret:   it uses kernel types and must not run on another kernel
 * @btf_id_ret:  16 bytes, zeros when unknown
 *
 * Return: false when there is no TARGET section.
 */
bool dbk_program_target(const struct dbk_program *program, const char **release_ret,
			bool *typed_ret, uint8_t btf_id_ret[16]);

/* Privileges that a program's owner may lack; DTrace's dtrace_kernel and dtrace_proc. */
#define DBK_LACKS_KERNEL 0x1u /* to look into the kernel: KPRIV */
#define DBK_LACKS_PROC	 0x2u /* to look into processes, and to stop them: UPRIV */

/**
 * dbk_program_restrict() - from here on the program has no more than its owner's privileges
 * @lacks: DBK_LACKS_ bits; without this call a program is root's
 *
 * Before dbk_consumer_create().  Loads of memory that is not the engine's own, stacks,
 * registers, the variables that say where the kernel or a process is, and destructive
 * actions then fault with KPRIV or UPRIV.
 */
void dbk_program_restrict(struct dbk_program *program, uint32_t lacks);

/**
 * dbk_program_give_args() - each firing has args[0] to args[@count - 1], wherever dbk_host_arg() has them
 *
 * Before dbk_consumer_create().  Those with a constant number are then as quick as arg0.  For a host
 * whose programs are made for its arguments: a replay.
 */
void dbk_program_give_args(struct dbk_program *program, uint32_t count);

/* ---- consumers ------------------------------------------------------------------- */

/* Limits of options; a value beyond is refused with a reason.  Those that compilers know are in
 * limits.h.  Defaults are the DTrace guide's ("Options and Tunables") where it has the option. */
#define DBK_BUFSIZE_DEFAULT  (4u << 20)	  /* per CPU; dtrace(1) sets 4m */
#define DBK_BUFSIZE_SWITCH   (2u << 20)	  /* per CPU, policy switch: a reader empties it */
#define DBK_BUFSIZE_MAX	     (1ull << 36) /* per CPU */
#define DBK_BUFRESIZE_AUTO   0u
#define DBK_BUFRESIZE_MANUAL 1u
#define DBK_SEGMENTS_MIN     2u		/* one is written while one is read */
#define DBK_RINGTIME_MIN_NS  1000000ull /* 1 ms; tending comes later than that */
#define DBK_RINGTIME_MAX_NS  (366ull * 86400 * 1000000000)
#define DBK_AGGSIZE_DEFAULT  (1u << 20) /* of one buffer; a CPU has two, and an index */
#define DBK_AGGSIZE_MIN	     4096u
#define DBK_AGGSIZE_MAX                                                                            \
	(4u << 20) /* one block of pages; option bufresize says what becomes of more */
#define DBK_DYNVARSIZE_DEFAULT	 (1u << 20)
#define DBK_DYNVARSIZE_MAX	 (1u << 30)
#define DBK_STACKFRAMES_DEFAULT	 20u
#define DBK_JSTACKFRAMES_DEFAULT 50u
#define DBK_CHILL_MAX_NS	 500000000ull /* of a second, per CPU; as DTrace */
#define DBK_NSPEC_DEFAULT	 1u
#define DBK_NSPEC_MAX		 65536u	      /* speculation() looks at each of them */
#define DBK_SPECSIZE_DEFAULT	 (32u << 10)
#define DBK_SPECSIZE_MIN	 8u	      /* a record without data */
/* nspec * specsize: what all speculations hold on a CPU. */
#define DBK_SPECULATIONS_BYTES_MAX (64u << 20)
#define DBK_SNAPSHOTRATE_DEFAULT_NS 1000000000ull /* a second between two of a name and ring */
#define DBK_SNAPSHOT_NAMES_MAX	   64u		 /* of a program */
#define DBK_CLEANRATE_DEFAULT_NS   9900990ull /* 101 hz */

/*
 * The deadman: a consumer whose clauses take 8 of 10 seconds of a CPU is stopped where it is, in
 * the activity KILLED.  DTrace's rule: nothing is heard of the machine for 10 seconds;
 * and as there, a program with option destructive is let alone.
 */
#define DBK_DEADMAN_WINDOW_NS 10000000000ull
#define DBK_DEADMAN_BUSY_NS   8000000000ull

struct dbk_consumer_config {
	const char *name; /* of the enabling, for people; cut to 31 bytes */
	uint16_t ring_id; /* from 1 */
	bool anonymous;	  /* embedded at build time */
	bool destructive; /* whether the host allows option destructive */
	/* Option aggregate when the program does not set it: DBK_AGGREGATE_ */
	uint32_t aggregate_default;
	enum dbk_pages_from pages_from; /* all of the ring, as it is made */
};

/**
 * dbk_consumer_create() - makes a ring for @program
 *
 * Allocates everything the enabling will ever need but ECBs: segments, metadata
 * blocks, aggregation buffers, dynamic variables.  On success the consumer
 * owns the program; on failure it stays the caller's.
 * Return: 0; -EINVAL: an option is out of bounds; -ENOMEM; both with a reason.
 */
int dbk_consumer_create(struct dbk_engine *engine, struct dbk_program *program,
			const struct dbk_consumer_config *config, struct dbk_reason *reason,
			struct dbk_consumer **consumer_ret);

/**
 * dbk_consumer_enable() - matches the enabling with every published probe, once
 * @matched_ret: probes that have an ECB of this consumer now; 0 is not an error
 *
 * Descriptions that match nothing are retained: dbk_probe_add() looks at them again.
 * Return: 0; or a negative errno of dbk_host_probe_enable() or _settle(), with a reason: destroy
 * the consumer then.
 */
int dbk_consumer_enable(struct dbk_consumer *consumer, struct dbk_reason *reason,
			uint32_t *matched_ret);

/** dbk_consumer_start() - fires BEGIN on this CPU, alone, then lets all probes in.  -EINVAL unless
 * INACTIVE.  exit() in BEGIN leaves it DRAINING. */
int dbk_consumer_start(struct dbk_consumer *consumer);

/** dbk_consumer_stop() - lets no probe in, waits for those inside, fires END on this CPU.  Stopping
 * what is stopped is fine; what never started becomes STOPPED without END, and what the deadman
 * stopped stays KILLED, without END too. */
int dbk_consumer_stop(struct dbk_consumer *consumer);

/**
 * dbk_consumer_size() - what a size option came to
 * @option: DTRACEOPT_BUFSIZE, _AGGSIZE, _DYNVARSIZE or _SPECSIZE
 *
 * With option bufresize auto, sizes that memory is short for are halved until they fit.
 * Return: false for another option.
 */
bool dbk_consumer_size(const struct dbk_consumer *consumer, uint32_t option, uint64_t *bytes_ret);

/**
 * dbk_consumer_waiting() - the next clause that matched no probe when the enabling was enabled
 * @clause: where to go on; 0 at first
 *
 * What a module brings later may match it.
 * Return: its description, the consumer's; NULL: there are no more.
 */
const struct dbk_probedesc *dbk_consumer_waiting(const struct dbk_consumer *consumer,
						 uint32_t *clause);

/** dbk_consumer_lowered() - the name of a size that is less than was asked for, and what it came
 * to; NULL: it is as asked.  The caller reports it: "buffer size lowered to 2m" */
const char *dbk_consumer_lowered(const struct dbk_consumer *consumer, enum dbk_size which,
				 uint64_t *bytes_ret);

/**
 * dbk_consumer_tend() - what a ring needs beside its writers
 * @from: of the memory that is added
 *
 * Seals the segments that were closed before the call before this one, adds memory for more
 * segments with option ringtime, and asks again for what a CPU that came up did not get.  To be called about every
 * dbk_consumer_tend_interval_ns() while the consumer exists.
 */
void dbk_consumer_tend(struct dbk_consumer *consumer, enum dbk_pages_from from);

/** dbk_consumer_tend_interval_ns() - shorter for a ring that grows.  Other rings may wait longer:
 * until the machine is awake anyway */
uint64_t dbk_consumer_tend_interval_ns(const struct dbk_consumer *consumer);

/** dbk_consumer_grows() - whether tending has to come in time: option ringtime, and not stopped */
bool dbk_consumer_grows(const struct dbk_consumer *consumer);

/* What dbk_consumer_seal() seals. */
enum dbk_seal {
	DBK_SEAL_CLOSED, /* the closed segments */
	DBK_SEAL_OPEN,	 /* the open one too; the CPU may go on, in another segment */
	DBK_SEAL_DEAD,	 /* the open one too; the CPU never goes on with what it was doing */
};

/**
 * dbk_consumer_seal() - seals the segments of a CPU now
 *
 * With DBK_SEAL_OPEN the open segment of a CPU that is inside a firing is closed, but
 * not sealed.  At most some thousand segments are sealed, the newest.
 *
 * Context: Any, NMI and a panic included; any CPU.  Takes no lock.  Bounded time.
 * Return: how many were sealed.
 */
uint32_t dbk_consumer_seal(const struct dbk_consumer *consumer, uint32_t cpu, enum dbk_seal how);

/**
 * dbk_consumer_clean() - makes speculations that were committed or discarded free again
 *
 * To be called once per dbk_consumer_clean_interval_ns() while the consumer exists:
 * what other CPUs than the one that committed hold goes to the ring here.
 * Return: whether there was anything to do.
 */
bool dbk_consumer_clean(struct dbk_consumer *consumer);

/** dbk_consumer_clean_interval_ns() - option cleanrate, within its limits; 0: it has no
 * speculations */
uint64_t dbk_consumer_clean_interval_ns(const struct dbk_consumer *consumer);

/** dbk_consumer_speculation_bytes() - memory of its speculations on all CPUs */
uint64_t dbk_consumer_speculation_bytes(const struct dbk_consumer *consumer);

/** dbk_consumer_destroy() - takes its ECBs out, waits, frees all, the program and the regions
 * included.  Does not fire END: stop first.  NULL is fine. */
void dbk_consumer_destroy(struct dbk_consumer *consumer);

/** dbk_consumer_activity() - DRAINING says that exit() was called, KILLED that the deadman ended it:
 * the host should stop it */
enum dbk_activity dbk_consumer_activity(const struct dbk_consumer *consumer);

/** dbk_consumer_ring() - the ring's description as published in META_RING */
const struct dbk_meta_ring *dbk_consumer_ring(const struct dbk_consumer *consumer);

/** dbk_consumer_ring_id() - as given to dbk_consumer_create() */
uint16_t dbk_consumer_ring_id(const struct dbk_consumer *consumer);

/** dbk_consumer_program() - owned by the consumer */
const struct dbk_program *dbk_consumer_program(const struct dbk_consumer *consumer);

/** dbk_consumer_counters() - what @cpu did so far; NULL beyond cpu_count */
const struct dbk_meta_cpu *dbk_consumer_counters(const struct dbk_consumer *consumer, uint32_t cpu);

/** dbk_consumer_exit_status() - the value given to exit(), 0 when there was none */
int32_t dbk_consumer_exit_status(const struct dbk_consumer *consumer);

/* ---- native programs --------------------------------------------------------------------- */

struct dbk_cpu;
struct dbk_difo;
struct dbk_buffer;

/* An expression, with the interpreter's contract; a clause from its predicate to its record, which is done, or
 * false: nothing was done, and it is to be interpreted; and a firing of a probe that has no other ECB, whose
 * predicate holds if it is simple. */
typedef uint64_t dbk_native_value(struct dbk_cpu *cpu, const struct dbk_difo *difo);
typedef bool dbk_native_clause(struct dbk_cpu *cpu, const struct dbk_ecb *ecb,
			       struct dbk_buffer *buffer, const uint64_t *args, void *frame);
typedef void dbk_native_firing(struct dbk_probe *probe, const uint64_t *args, void *frame,
			       const struct dbk_ecb *ecb);

/* Of struct dbk_native_program and of the three above: one more with each change of what they mean.  The translator writes
 * its own as a number, and the table may be compiled with the headers of another one. */
#define DBK_NATIVE_VERSION 3u

/*
 * A program translated to C (engine/translate) and compiled: by section of its DIFOs and by number of its ECBDESCs,
 * NULL where nothing was translated.
 */
struct dbk_native_program {
	uint32_t version; /* DBK_NATIVE_VERSION */
	const struct dbk_native_part *part; /* its DOF, and how much of each clause it is */
	/* What its instructions and plans depend on beside the DOF; of a consumer that differs it is not. */
	uint32_t lacks;	    /* DBK_LACKS_ of its owner */
	uint32_t aggregate; /* DBK_AGGREGATE_ */
	bool counted;	    /* its buffer is counted in DTrace's bytes */
	dbk_native_value *const *values;
	dbk_native_clause *const *clauses;
	dbk_native_firing *const *firings;
};

/**
 * dbk_consumer_bind() - lets the consumer run what was translated from its program
 *
 * Between dbk_consumer_create() and dbk_consumer_enable().  @native must outlive the consumer.
 * Return: false: it is of other DOF or of other options, or not dbk_native_is_whole(); nothing was bound then.
 */
bool dbk_consumer_bind(struct dbk_consumer *consumer, const struct dbk_native_program *native);

/** dbk_native_is_whole() - whether all is there that a table of this engine has; if not, it was translated by an older or a
 * newer daybreak than the sources are with which it was compiled */
bool dbk_native_is_whole(const struct dbk_native_program *native);

/** dbk_native_count() - clauses of the program that are native in @way */
uint32_t dbk_native_count(const struct dbk_native_program *native, enum dbk_native_way way);

/* ---- reading ------------------------------------------------------------------------ */

/* dbk_region.kind has the values of ioctl.h: DBK_REGION_SEGMENTS, DBK_REGION_META. */
struct dbk_region {
	uint32_t kind;
	uint32_t cpu; /* 0 for metadata */
	const struct dbk_pages *pages;
};

/** dbk_consumer_region() - the @index-th block of segments or metadata; false after the last.
 * Regions only get more, at the end, until the consumer is destroyed; this and the next may run beside that. */
bool dbk_consumer_region(const struct dbk_consumer *consumer, uint32_t index,
			 struct dbk_region *region_ret);

/** dbk_consumer_region_count() - how many there are now */
uint32_t dbk_consumer_region_count(const struct dbk_consumer *consumer);

/**
 * dbk_consumer_release() - policy switch: the reader is done with @cpu's segments up to @sequence
 *
 * Under policy switch a CPU reuses a segment only after this; a record that finds
 * none is a PRINCIPAL drop.  Other policies take no notice.
 */
void dbk_consumer_release(struct dbk_consumer *consumer, uint32_t cpu, uint64_t sequence);

/**
 * dbk_consumer_agg_snapshot() - takes what @cpu aggregated since the last call (aggregate=engine)
 * @bytes_ret: header and entries
 * @image_ret: a struct dbk_segment_header with DBK_AGGBUF_MAGIC, then the entries;
 *             valid until the next call for that CPU
 *
 * The CPU counts into the other buffer from here on: they are switched on it, between two
 * firings (dbk_host_on_cpu()), so no probe still writes to this one.
 * Return: 0; -EINVAL: there is no such CPU, nor one after it; -ENODATA: it does not aggregate: it has
 * not been up, option cpu is another's, or the ring has aggregate=record.
 */
int dbk_consumer_agg_snapshot(struct dbk_consumer *consumer, uint32_t cpu, uint32_t *bytes_ret,
			      const void **image_ret);

/** dbk_consumer_agg_used() - bytes of the buffer that @cpu counts into (aggregate=engine) that are taken;
 * 0: it does not aggregate, or there is no such CPU */
uint32_t dbk_consumer_agg_used(const struct dbk_consumer *consumer, uint32_t cpu);

/**
 * dbk_consumer_agg_keep() - the snapshot of @cpu numbered @sequence was not used: the next gives it again
 *
 * Unless another was taken since.
 */
void dbk_consumer_agg_keep(struct dbk_consumer *consumer, uint32_t cpu, uint64_t sequence);

/* ---- metadata blocks, for the host's own (META_HOST) ---------------------------------- */

/** dbk_meta_block_init() - writes the header of a block into zeroed pages, magic last; nothing
 * committed yet */
void dbk_meta_block_init(const struct dbk_pages *pages, enum dbk_meta_kind kind, uint64_t boot_id,
			 uint16_t ring_id);

/** dbk_meta_block_append() - copies @bytes after what is committed; false when they do not fit */
bool dbk_meta_block_append(const struct dbk_pages *pages, const void *data, uint32_t bytes);

/** dbk_meta_block_commit() - commits @bytes that were written there in place; they fit */
void dbk_meta_block_commit(const struct dbk_pages *pages, uint32_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* DBK_ENGINE_ENGINE_H */
