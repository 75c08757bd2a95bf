/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * internal.h - the engine's own structures, shared by its folders
 *
 *   api/      what a host may include, and what it must offer (host.h)
 *   types/    structures that all folders share
 *   shared/   needs nothing of the engine: checksums, cells, globs
 *   memory/   segments, metadata, aggregation buffers, dynamic variables, speculations
 *   run/      what a firing does: predicate, actions, record, ERROR; the interpreter.  Probe context
 *   lower/    DIFOs and actions to what run/ runs
 *   load/     untrusted DOF in, struct dbk_program out: verified, decoded, lowered
 *   control/  engine, probes, consumers, ECBs
 *
 * Each includes only what stands above it here (tests/lint/tree.py, rule part).
 *
 * How the structures hang together:
 *
 *   dbk_probe.ecbs -> dbk_ecb -> dbk_ecb -> ...      one list per probe, in running order
 *                        |-> dbk_plan                what an ECBDESC does; shared by its ECBs
 *                        '-> dbk_consumer.buffers[cpu]
 *
 * Keys of shared fields: [C] constant once published, [L] control path only,
 * [P] written by its own CPU with interrupts off, [A] atomic, by name, [H] under
 * dbk_host_cpus_lock().
 */
#ifndef DBK_ENGINE_INTERNAL_H
#define DBK_ENGINE_INTERNAL_H

#include "engine/types/hash.h"
#include "engine/types/lowered.h"

/* Gates: which ECBs a CPU's buffer lets run. */
#define DBK_GATE_ORDINARY 0x1u
#define DBK_GATE_BEGIN	  0x2u
#define DBK_GATE_END	  0x4u
#define DBK_GATE_ERROR	  0x8u
/* Alone: ordinary ECBs would run, but the CPU has no memory for them. */
#define DBK_GATE_LOST 0x10u

/*
 * What a firing of a probe does first that has one ECB: its tier's way, or its predicate, asked
 * before anything is set up if that can be (docs/design/0061-predicates-asked-early.md).
 */
enum dbk_alone {
	DBK_ALONE_EQUAL_ARG, /* the most frequent end of a firing is the quickest */
	/* No predicate, or one that the clause asks itself: its tier, from here on. */
	DBK_ALONE_ARGUMENTS,
	DBK_ALONE_NOT = DBK_ALONE_ARGUMENTS + DBK_TIERS, /* there are more, or nothing can be asked early */
	DBK_ALONE_VALUE,  /* an early predicate of one value at hand */
	DBK_ALONE_THREAD, /* one thread-local, which may have to be asked again */
	DBK_ALONE_EQUAL_PID,
	DBK_ALONE_EXECNAME,
	DBK_ALONE_EARLY, /* another early one */
};

#define DBK_TIER_WORDS 8u /* arguments that a record of nothing else may have */

/* In the place of the kind: the first ECB of a consumer on a probe that others enabled before it.
 * What they recorded of the firing is in other rings. */
#define DBK_ECB_AFTER_OTHERS 0xff

/*
 * An enabling on one probe.  The first cache line is all that a firing touches
 * when the predicate is one of the two hottest and the tier is ARGUMENTS: nothing
 * but arguments, 8 bytes each, whose places are known because the probe is.
 */
struct dbk_ecb {
	struct dbk_ecb *next;	    /* [A] of the probe */
	struct dbk_buffer *buffers; /* [C] of the consumer, by CPU */
	uint32_t epid;		    /* [C] */
	uint8_t gate;		    /* [C] DBK_GATE_ of its probe */
	uint8_t alone;		    /* [A] of a probe's first: enum dbk_alone */
	uint8_t own_alone;	    /* [C] what that is while there is no other */
	uint8_t own_kind;	    /* [C] enum dbk_predicate_kind */
	uint32_t record_bytes;	    /* [C] ARGUMENTS: of its record; SIMPLE: at most, 0: none */
	uint8_t predicate_kind;	    /* [A] its kind, or DBK_ECB_AFTER_OTHERS */
	uint8_t predicate_word;	    /* [C] EQUAL_ARG: index into the firing's args */
	uint8_t tier;		    /* [C] enum dbk_tier */
	uint8_t word_count;	    /* [C] ARGUMENTS, MEMBERS: how many */
	uint64_t predicate_constant;   /* [C] EQUAL_ARG, EQUAL_PID */
	uint8_t words[DBK_TIER_WORDS]; /* [C] ARGUMENTS, MEMBERS: indices into the firing's args */
	const struct dbk_plan *plan;   /* [C] */
	struct dbk_consumer *consumer; /* [C] */
	/* ---- */
	struct dbk_probe *probe;       /* [C] */
	uint32_t firing_bytes;	       /* [A] that it, and those after it in a firing, record at most; or 0 */
	uint16_t name_bytes[4];	       /* [C] of its provider, module, function, name */
	struct dbk_ecb *sibling;       /* [L] of the consumer, newest first */
	struct dbk_ecb **sibling_link; /* [L] what points here */
	struct dbk_ecb *next_gone;     /* [L] first of an unlinked list: first of another such list */
};

/* ---- buffers ----------------------------------------------------------------------------- */

struct dbk_trigger;	/* api/trigger.h */
struct dbk_speculation; /* memory/speculation.h */
struct dbk_specbuf;

/* What a small principal buffer and aggregation buffer hold, in DTrace's bytes; see account.h. */
struct dbk_account {
	uint64_t limit_bytes;	  /* [C] of the principal buffer, 0: not counted */
	uint64_t reserve_bytes;	  /* [L] of it, policy fill: only END's */
	uint64_t used_bytes;	  /* [P] by all records so far */
	uint64_t next_bytes;	  /* [P] and by the one being built */
	uint64_t released_bytes;  /* [A] policy switch: the reader is done up to here */
	bool full;		  /* [P] policy fill: nothing more comes in */
	uint64_t agg_limit_bytes; /* [C] of an aggregation buffer, 0: not counted */
};

/* An entry of the hash index over an aggregation buffer, outside its bytes. */
struct dbk_agg_ref {
	uint64_t tag;	 /* the buffer's round << 32 | hash; of another round: empty */
	uint32_t offset; /* of the entry */
	uint32_t class_id;
};

#define DBK_AGG_RECENT 16u

struct dbk_aggbuf {
	struct dbk_pages pages;	    /* [C] */
	struct dbk_agg_ref *index;  /* [P] the same of a CPU's two */
	uint32_t index_count;	    /* [C] power of two */
	uint32_t entry_count;	    /* [P] */
	uint32_t round;		    /* [L] how often it was cleared; from 1 */
	uint64_t classic_bytes;	    /* [P] of the entries; see account.h */
	uint64_t sequence;	    /* [L] */
	bool kept;		    /* [L] who took it could not use it */
	/* [P] Entries that clauses counted into last, by EPID: the key is often the same. */
	struct dbk_agg_ref recent[DBK_AGG_RECENT];
};

/* Where a segment can lie.  The slots of a CPU form a ring by `next`, in the order of their
 * segments' numbers: after the open one comes the oldest. */
struct dbk_segment_slot {
	uint8_t *segment;   /* [C] */
	uint64_t phys_addr; /* [C] 0 in user space */
	uint32_t next;	    /* [P] */
	uint32_t reserved;
};

#define DBK_SLOTS_PER_BLOCK 512u

/* A segment, as long as its slot has that sequence number. */
struct dbk_segment_ref {
	uint64_t sequence; /* 0: none */
	uint32_t slot;
};

/*
 * One consumer on one CPU.  The segment being written is [segment, segment +
 * segment_bytes); used_bytes mirrors its committed_bytes.  room_bytes is segment_bytes
 * less the consumer's firing_bytes, or 0: another context closed the segment, and the next record
 * opens another.  With no segment open used_bytes is segment_bytes, so that the first record opens
 * one.
 */
struct dbk_buffer {
	uint32_t gate;			 /* [A] DBK_GATE_ bits */
	uint32_t used_bytes;		 /* [P] */
	uint32_t room_bytes;		 /* [A] */
	uint32_t locals_serial;		 /* [P] firing that cleared the locals last */
	uint8_t *segment;		 /* [P] NULL before the first record */
	uint64_t base_ticks;		 /* [P] */
	struct dbk_meta_cpu *counters;	 /* [P] in META_CPUS */
	struct dbk_cpu *owner;		 /* [C] */
	uint8_t *locals;		 /* [P] clause-local variables */
	uint32_t segment_bytes;		 /* [C] */
	uint32_t slot;			 /* [P] of the open segment */
	uint64_t sequence;		 /* [P] of it, 0: none yet */
	uint32_t slot_count;		 /* [A] slots that there are */
	uint32_t slot_linked;		 /* [P] of these, in the ring: the others were never used */
	uint32_t slot_max;		 /* [C] as many as there may be */
	struct dbk_segment_slot **slots; /* [A] in blocks, filled as far as slot_count says */
	uint32_t segment_count;		 /* [C] at creation, the END reserve not counted */
	uint32_t segment_reserve;	 /* [C] segments that only END may open */
	uint64_t released_sequence;	 /* [A] policy switch: the reader is done up to here */
	struct dbk_aggbuf aggbufs[2];	 /* aggregate=engine */
	struct dbk_aggbuf *aggbuf;	 /* [A] the one counted into; NULL: aggregate=record */
	uint8_t *key;			 /* [P] room to build an aggregation key */
	uint32_t key_bytes;		 /* [C] */
	uint16_t cpu;			 /* [C] */
	bool ready;			 /* [H] it has all its memory */
	struct dbk_account account;	 /* of a buffer that is smaller than ours can be */
	struct dbk_specbuf *specbufs;	 /* [P] by speculation; NULL: the program has none */
	uint32_t speculation_next;	 /* [P] index of the one that speculation() looks at first */
	uint32_t reserved;
	struct dbk_segment_ref sealed; /* [L] what is older is sealed, or gone */
	struct dbk_segment_ref wanted; /* [L] the oldest that option ringtime wants kept */
	uint64_t tended_sequence;	 /* [L] the open segment when it was tended last */
	uint64_t opened_lately;		 /* [L] segments between two times of tending, at most */
	uint32_t growth_pause;		 /* [L] times of tending before memory is asked for again */
	uint32_t busy_kiloticks; /* [P] in the consumer's clauses, since ...; see run/deadman.c */
	uint64_t deadman_ticks;	 /* [P] ... this CPU's window began */
	/* 1024 bytes: a CPU's is found by a shift, and a firing that its predicate ends does little else. */
	uint64_t unused[6];
} __attribute__((aligned(64)));

#define DBK_REGION_CHUNK	64u
#define DBK_REGION_CHUNKS	14u /* together 1048512 */

/* ---- dynamic variables ---------------------------------------------------------------------- */

/* Where the data of a chunk lies; the serialised key is after it. */
struct dbk_dynvar {
	uint32_t next;	 /* chunk index + 1, 0: last; of its bucket or of a free list */
	uint32_t var;	 /* index in the program's variables */
	uint64_t thread; /* dbk_host_thread_key(), 0 for global arrays */
	uint32_t hash;
	uint32_t key_bytes;
	uint64_t data[]; /* data_bytes, then the key */
};

struct dbk_bucket {
	uint32_t version; /* [A] odd: a writer is inside */
	uint32_t first;	  /* chunk index + 1 */
};

/* A thread-local scalar; memory/thread.h. */
struct dbk_thread_seat {
	uint64_t thread; /* [A] dbk_host_thread_key(), 0: free; the rest belongs to that thread */
	uint64_t value;	 /* by reference: the address of the chunk's data */
	uint32_t var;	 /* index in the program's variables */
	uint32_t chunk;	 /* index + 1 */
};

#define DBK_THREAD_SEATS 2u

struct dbk_thread_line {
	struct dbk_thread_seat seats[DBK_THREAD_SEATS];
	uint32_t elsewhere; /* [A] variables that found no seat here and lie in the table of chains */
	uint32_t reserved[3];
};

#define DBK_CACHE_LINE_BYTES 64u /* what two CPUs must not both write often */

/** dbk_alloc_lines() - dbk_host_alloc() for what one CPU writes: small allocations share a line */
static inline void *dbk_alloc_lines(size_t bytes)
{
	return dbk_host_alloc(DBK_ROUND_UP(bytes, DBK_CACHE_LINE_BYTES));
}

/* The chunks that are free, of one CPU. */
struct dbk_free_list {
	uint64_t head;	 /* [A] tag << 32 | chunk index + 1 */
	uint32_t search; /* [P] the list that its CPU looks at when this one is empty */
	uint32_t reserved[DBK_CACHE_LINE_BYTES / 4 - 3];
};

struct dbk_dynvars {
	uint8_t *chunks; /* NULL: the program has no dynamic variables */
	uint32_t chunk_bytes; /* multiple of DBK_CACHE_LINE_BYTES */
	uint32_t chunk_count;
	uint32_t data_bytes;
	uint32_t key_bytes;
	struct dbk_bucket *buckets;
	uint32_t bucket_count; /* power of two */
	uint32_t free_count;   /* lists: one per CPU */
	struct dbk_free_list *free;
	struct dbk_thread_line *lines; /* of thread-local scalars */
	uint32_t line_shift;	       /* there are 2 to the power of 64 less this */
	struct dbk_secret secret;      /* [C] of the engine */
};

/* ---- consumers ----------------------------------------------------------------------------------
 */

struct dbk_consumer {
	struct dbk_buffer *buffers;  /* [C] by CPU */
	struct dbk_program *program; /* [C] owned */
	struct dbk_engine *engine;   /* [C] */
	uint8_t *globals;	     /* shared between CPUs, word by word */
	uint32_t globals_bytes;	     /* [C] */
	uint32_t locals_bytes;	     /* [C] */
	struct dbk_dynvars dynvars;
	uint32_t activity;     /* [A] enum dbk_activity */
	int32_t exit_status;   /* [A] */
	uint32_t policy;       /* [C] DBK_POLICY_ */
	uint32_t aggregate;    /* [C] DBK_AGGREGATE_ */
	uint32_t clock;	       /* [C] DBK_CLOCK_ */
	uint32_t strsize;      /* [C] */
	uint32_t stackframes;  /* [C] */
	uint32_t ustackframes; /* [C] */
	uint32_t ustackbytes;  /* [C] multiple of 8 */
	uint32_t jstackframes; /* [C] */
	uint32_t only_cpu;     /* [C] option cpu, or DBK_CPU_ALL */
	bool immortal;	       /* [C] the deadman leaves it alone: option destructive */
	uint64_t bufsize;      /* [C] what the options came to, in the program's bytes */
	uint64_t aggsize;      /* [C] */
	uint64_t dynvarsize;   /* [C] */
	bool counted;	       /* [C] the buffer is small; see account.h */
	uint32_t lacking;      /* option that memory was short for, DBK_LACKING_ */
	uint16_t ring_id;      /* [C] */
	struct dbk_trigger *triggers; /* names of snapshot(); NULL: none; api/trigger.h */
	uint32_t trigger_count;	      /* [C] */
	struct dbk_speculation *speculations; /* [A] states */
	uint32_t speculation_count;	      /* [C] option nspec; 0: the program has none */
	uint32_t spec_bytes;		      /* [C] option specsize, as there was memory */
	uint32_t spec_memory_bytes;	      /* [C] of one buffer */
	bool spec_counted;	    /* [C] those bytes are DTrace's; see memory/account.h */
	uint64_t ringtime_ns;	    /* [C] option ringtime, 0: the ring does not grow */
	struct dbk_meta_ring *ring; /* [A] activity; else [C]; in META_RING */
	struct dbk_plan *plans;	    /* [C] by ECBDESC */
	uint32_t plan_count;
	uint32_t fault_bytes;	    /* [C] that the clauses of ERROR record at most */
	uint32_t firing_bytes;	    /* [A] at each segment's end, where firings may not begin */
	uint32_t class_count;	    /* of aggregations */
	bool enabled;		    /* [L] new probes are matched */
	uint32_t next_epid;	    /* [L] from 1 */
	uint32_t ecb_count;	    /* [L] */
	uint64_t list_bytes;	    /* [L] of probes and ECBs in the metadata, where what went stays */
	struct dbk_ecb *ecbs;	    /* [L] all, newest first */
	/* Blocks never move and the count is stored last: read without a lock, added under [H].
	 * Chunk k has DBK_REGION_CHUNK << k of them. */
	struct dbk_region *region_chunks[DBK_REGION_CHUNKS];
	uint32_t region_count;
	struct dbk_pages *probes_block;	     /* [L] the META_PROBES block with room */
	struct dbk_pages *ecbs_block;	     /* [L] the META_ECBS block with room */
	uint16_t probes_blocks, ecbs_blocks; /* [L] how many there are */
	struct dbk_consumer *next;	     /* [L] of the engine */
};

#define DBK_CPU_ALL 0xffffffffu

/* dbk_consumer.lacking */
#define DBK_LACKING_NOTHING    0u
#define DBK_LACKING_BUFSIZE    1u
#define DBK_LACKING_AGGSIZE    2u
#define DBK_LACKING_DYNVARSIZE 3u

/* ---- the engine
 * ------------------------------------------------------------------------------------ */

struct dbk_tuple {
	uint64_t value;
	uint32_t bytes;
	bool is_string;
	bool by_ref;
};

/* What curcpu points to: cpuinfo_t of compiler/dlib/cpu.d. */
struct dbk_cpuinfo {
	int32_t id, pset, chip, lgrp;
};

#define DBK_FIRING_SPECULATES 1u /* in dbk_cpu.same_firing */

/*
 * One CPU: what the firing in progress needs.  Only that CPU touches it, with
 * interrupts off; `nesting` keeps even an NMI out of the rest.
 */
struct dbk_cpu {
	uint32_t nesting; /* 1 while a firing runs */
	/* Of this firing, of the consumer whose ECBs run: DBK_RECORD_F_SAME_FIRING when it has a
	 * record in the ring, which the next one's EPID gets; DBK_FIRING_SPECULATES when only a
	 * speculation has one; else 0. */
	uint32_t same_firing;
	uint32_t index;	  /* [C] */
	bool up;	  /* [H] it may fire, and consumers have memory for it */
	uint32_t serial;  /* of firings; says whether locals were cleared */
	/* The firing. */
	const struct dbk_probe *probe;
	const uint64_t *args;
	void *frame;
	const struct dbk_ecb *ecb;
	struct dbk_consumer *consumer;
	struct dbk_buffer *buffer;
	uint64_t timestamp;	   /* mono ns, once asked for */
	uint32_t timestamp_serial; /* of the firing that asked */
	uint64_t vtimestamp;	   /* of the thread, once asked for */
	uint32_t vtimestamp_serial;
	/* When the first record was made that a speculation holds of the firing. */
	uint64_t speculated_ticks;
	uint32_t speculated_serial;
	const struct dbk_consumer *speculated_consumer;
	/* What the firing may still cost, for one consumer; types/work.h. */
	uint32_t work_serial; /* of the firing ... */
	const struct dbk_consumer *work_consumer; /* ... and the consumer that it is for */
	uint32_t work_left;
	uint32_t error_work_left; /* of its ERROR clauses */
	uint32_t unsampled;	  /* clauses to come before the deadman looks at one */
	uint32_t sample_state;
	/* The fault, when fault_set. */
	bool fault_set;
	uint32_t fault;
	uint32_t fault_pc; /* instruction index, or DBK_FAULT_PC_NONE */
	uint64_t fault_address;
	/* What the instructions use. */
	uint32_t tuple_count;
	struct dbk_tuple tuple[DBK_TUPLE_MAX];
	uint32_t scratch_used;
	uint8_t *scratch; /* [C] DBK_SCRATCH_BYTES */
	uint8_t *key;	  /* [C] DBK_KEY_BYTES_MAX: of a dynamic variable */
	char *strtok;	  /* [C] DBK_STRSIZE_MAX: the string that strtok() takes apart */
	uint32_t strtok_length, strtok_at;
	uint32_t strtok_serial; /* of the firing that it belongs to */
	uint64_t error_args[6];
	struct dbk_cpuinfo info; /* [C] */
	uint64_t chill_mark_ns;	 /* when the interval of chill() began */
	uint64_t chilled_ns;	 /* in it */
	struct dbk_secret secret; /* [C] of the hashes; the engine's, where it is at hand */
};

#define DBK_FAULT_PC_NONE 0xffffffffu
/* Not a fault to report: a drop ended the clause and has been counted. */
#define DBK_FAULT_DROP 0xffffffffu

struct dbk_engine {
	struct dbk_cpu **cpus; /* [C] by index */
	uint32_t cpu_count;
	uint32_t clock;
	uint64_t ticks_per_second;
	uint64_t boot_id;
	struct dbk_pages triggers;			/* [C] META_TRIGGERS; api/trigger.h */
	struct dbk_probe begin, end, error;		/* provider dtrace */
	struct dbk_probe *probes, *last_probe;		/* [L] by id */
	uint32_t probe_count, next_probe_id;		/* [L] */
	uint32_t batch;					/* [L] depth of dbk_probe_add_begin() */
	int batch_error;				/* [L] */
	uint32_t unsettled_id;				/* [L] first probe matched and not settled; 0: none */
	uint64_t program_bytes;				/* [L] memory of all consumers' programs */
	struct dbk_consumer *consumers, *last_consumer; /* [L] [H] oldest first */
};

#endif /* DBK_ENGINE_INTERNAL_H */
