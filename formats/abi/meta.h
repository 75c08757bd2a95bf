/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * meta.h - what makes segments readable: the metadata blocks
 *
 * Beside its segments a ring owns a few blocks of memory that say what its
 * EPIDs mean: the DOF as it was embedded, the probes, the ECBs with the layout
 * of their records, the clocks, the counters of each CPU.  Records never
 * overwrite them.  A block describes itself as a segment does; the recorder
 * copies it as it lies, and a dump contains it.  meta.md is the specification.
 */
#ifndef DBK_ABI_META_H
#define DBK_ABI_META_H

#include "abi.h"
#include "drops.h"

#define DBK_META_MAGIC		 0x4d4b4244u /* "DBKM" in memory */
#define DBK_META_VERSION	 1
#define DBK_META_ALIGN_BYTES	 4096u
#define DBK_META_DATA_OFFSET	 64u
#define DBK_META_BLOCK_BYTES_MAX (4u << 20)

/* X(name, kind, what lies after the header) */
#define DBK_META_KINDS(X)                                                                          \
	X(HOST, 1, "struct dbk_meta_host")                                                         \
	X(RING, 2, "struct dbk_meta_ring")                                                         \
	X(DOF, 3, "one DOF image, in parts when larger than a block")                              \
	X(PROBES, 4, "struct dbk_meta_probe entries, appended to")                                 \
	X(ECBS, 5, "struct dbk_meta_ecb entries, appended to")                                     \
	X(CPUS, 6, "struct dbk_meta_cpu per possible CPU, counted in place")                       \
	X(LOG, 7, "struct dbk_meta_log, then the latest text of the kernel's log, written round")  \
	X(CRASH, 8, "struct dbk_meta_crash per way to end, filled in place")                       \
	X(TRIGGERS, 9, "struct dbk_meta_triggers, then struct dbk_meta_trigger, written round")    \
	X(MAPS, 10, "struct dbk_map_entry entries (maps.h), appended to")

#define DBK_META_ENUM(name, kind, what) DBK_META_##name = kind,
enum dbk_meta_kind { DBK_META_KINDS(DBK_META_ENUM) };
#undef DBK_META_ENUM

struct dbk_meta_header {
	uint32_t magic;		  /* DBK_META_MAGIC, stored last */
	uint16_t version;	  /* DBK_META_VERSION */
	uint16_t kind;		  /* enum dbk_meta_kind */
	uint32_t block_bytes;	  /* room of the block, a multiple of 4096 */
	uint32_t committed_bytes; /* valid from the block's start; grows (release) */
	uint64_t boot_id;
	uint64_t phys_addr; /* 0 in user space */
	uint16_t ring_id;
	uint16_t index;	      /* DOF: which image of the ring; else 0, 1, ... */
	uint16_t part;	      /* DOF: 0 .. part_count - 1; else 0 */
	uint16_t part_count;  /* DOF: blocks of this image; else 1 */
	uint64_t checksum[2]; /* bytes from the block's start, CRC-32C above; 0: none */
	uint64_t reserved;    /* 0 */
};

/* One per module load, ring_id 0. */
struct dbk_meta_host {
	uint8_t boot_uuid[16];
	uint64_t kernel_text_start; /* address of _stext, 0 when unknown */
	uint32_t cpu_count;	    /* possible CPUs */
	uint32_t page_bytes;
	char release[64];	 /* uname -r, NUL-terminated */
	char version[64];	 /* uname -v */
	char machine[32];	 /* uname -m */
	char module_version[32]; /* Daybreak's */
};

/* dbk_meta_ring.policy: the published values of option bufpolicy */
#define DBK_POLICY_RING	  0u
#define DBK_POLICY_FILL	  1u
#define DBK_POLICY_SWITCH 2u
/* dbk_meta_ring.aggregate: option aggregate */
#define DBK_AGGREGATE_RECORD 0u
#define DBK_AGGREGATE_ENGINE 1u
/* dbk_meta_ring.clock */
#define DBK_CLOCK_MONO_NS 0u /* ticks are CLOCK_MONOTONIC nanoseconds */
#define DBK_CLOCK_TSC	  1u /* ticks are TSC ticks; ticks_per_second says */

struct dbk_meta_ring {
	uint32_t policy;
	uint32_t aggregate;
	uint32_t clock;
	uint32_t segment_bytes;
	uint32_t segments_per_cpu; /* when it was made; a CPU's now: dbk_meta_cpu.segment_slots */
	uint32_t strsize_bytes;
	uint64_t ticks_per_second;
	uint64_t start_ticks; /* these four were read together */
	uint64_t start_mono_ns;
	uint64_t start_boot_ns; /* CLOCK_BOOTTIME */
	uint64_t start_wall_ns; /* CLOCK_REALTIME */
	uint32_t anonymous;	/* 1: embedded at build time */
	uint32_t activity;	/* enum dbk_activity, kept up to date */
	uint32_t aggbuf_bytes;	/* one aggregation buffer, 0 for record mode */
	uint32_t stackframes;	/* default depth of stack() */
	char name[32];		/* of the enabling, for people */
	uint64_t ringtime_ns;	/* option ringtime: how long records are to be kept; 0: not asked */
	uint64_t ringmax_bytes; /* of segments per CPU that a growing ring may have; 0: it is fixed
				 */
	uint64_t lowered_bytes[4]; /* by enum dbk_size: what the option came to when memory was short
				    * for what it asked for; 0: as asked */
};

/* X(NAME, value, option, text): sizes that are lowered when memory is short; the words of dtrace(1) */
#define DBK_SIZES(X)                                                                               \
	X(BUFFER, 0, DTRACEOPT_BUFSIZE, "buffer size")                                             \
	X(AGGREGATION, 1, DTRACEOPT_AGGSIZE, "aggregation size")                                   \
	X(SPECULATION, 2, DTRACEOPT_SPECSIZE, "speculation size")                                  \
	X(DYNAMIC, 3, DTRACEOPT_DYNVARSIZE, "dynamic variable size")

#define DBK_SIZE_ENUM(name, value, option, text) DBK_SIZE_##name = value,
enum dbk_size { DBK_SIZES(DBK_SIZE_ENUM) DBK_SIZE_COUNT };
#undef DBK_SIZE_ENUM

/* X(name, value): a consumer's life, as in DTrace */
#define DBK_ACTIVITIES(X)                                                                          \
	X(INACTIVE, 0)                                                                             \
	X(WARMUP, 1)                                                                               \
	X(ACTIVE, 2)                                                                               \
	X(DRAINING, 3)                                                                             \
	X(COOLDOWN, 4)                                                                             \
	X(STOPPED, 5)                                                                              \
	X(KILLED, 6)

#define DBK_ACTIVITY_ENUM(name, value) DBK_ACTIVITY_##name = value,
enum dbk_activity { DBK_ACTIVITIES(DBK_ACTIVITY_ENUM) };
#undef DBK_ACTIVITY_ENUM

/* A probe: this, then the four names back to back without NULs, then zeros. */
struct dbk_meta_probe {
	uint32_t entry_bytes; /* multiple of 8 */
	uint32_t probe_id;
	uint16_t provider_bytes;
	uint16_t module_bytes;
	uint16_t function_bytes;
	uint16_t name_bytes;
};

/* dbk_meta_ecb.flags */
#define DBK_ECB_F_VARIABLE   0x1u /* records carry their length after the header */
#define DBK_ECB_F_NO_RECORD  0x2u /* stores nothing: only side effects, or counts in the engine */
#define DBK_ECB_F_SPECULATES 0x4u /* its records are in the ring once they were committed */
#define DBK_ECB_F_NATIVE     0x8u /* the whole clause is native: compiled ahead of time */
#define DBK_ECB_F_NATIVE_VALUES 0x10u /* of the clause only the expressions are */

/* An ECB: this, then field_count struct dbk_meta_field, then zeros. */
struct dbk_meta_ecb {
	uint32_t entry_bytes; /* multiple of 8 */
	uint32_t epid;	      /* from 1, per ring */
	uint32_t probe_id;
	uint16_t dof_index; /* which DOF image of the ring */
	uint16_t field_count;
	uint32_t ecbdesc;	/* section index of the ECBDESC in that DOF */
	uint32_t flags;		/* DBK_ECB_F_ */
	uint32_t fixed_bytes;	/* header and fixed part, multiple of 8 */
	uint32_t classic_bytes; /* of a record in DTrace's layout; 0: not known, or no record */
};

/* dbk_meta_field.shape */
#define DBK_FIELD_FIXED	 0 /* `bytes` bytes at `offset` */
#define DBK_FIELD_STRING 1 /* struct dbk_tail_ref at `offset`; at most `bytes` */
#define DBK_FIELD_STACK	 2 /* struct dbk_tail_ref to u64 program counters */

/* One value that a record (or an aggregation key) holds. */
struct dbk_meta_field {
	uint32_t offset; /* from the record's start */
	uint32_t bytes;
	uint16_t action; /* index into the ECB's ACTDESC section */
	uint8_t shape;	 /* DBK_FIELD_ */
	uint8_t flags;	 /* DBK_FIELD_F_ */
	uint32_t reserved;
};

#define DBK_FIELD_F_KEY	      0x1u /* member of an aggregation's key tuple */
#define DBK_FIELD_F_VALUE     0x2u /* the aggregated value */
#define DBK_FIELD_F_INCREMENT 0x4u /* the weight of quantize() and its kin */
#define DBK_FIELD_F_MEMORY    0x8u /* of a STACK: registers and stack follow (dbk_user_memory) */

/*
 * What the tail of such a STACK ends with: a 0 after the last program counter, the registers as DWARF
 * numbers them (rax rdx rcx rbx rsi rdi rbp rsp r8...r15 rip), `bytes` of the stack from rsp on, this.
 * All is 0, and nothing but this is there, when there was nothing to take.
 */
struct dbk_user_memory {
	uint16_t registers; /* DBK_USER_REGISTERS */
	uint16_t depth;	    /* program counters that were asked for */
	uint32_t bytes;	    /* multiple of 8 */
};

#define DBK_USER_REGISTERS   17u
#define DBK_USER_REGISTER_SP 7u
#define DBK_USER_REGISTER_IP 16u

#define DBK_META_RING_BYTES_MIN 112u /* up to ringtime_ns: what the first writers stored */

/* What one CPU did since the ring was made.  Written by that CPU only, but for the last two before
 * drops. */
struct dbk_meta_cpu {
	uint64_t records;	  /* committed to the ring, overwritten ones included */
	uint64_t bytes;		  /* of those records */
	uint64_t segments;	  /* opened */
	uint64_t errors;	  /* faults */
	uint64_t firings;	  /* of enabled ECBs, failed predicates included */
	uint64_t oldest_sequence; /* segments with lower numbers were overwritten; 0: not known */
	uint64_t segment_slots;	  /* segments it has memory for now; 0: not known */
	uint64_t growths_refused; /* times the ring should have grown, and there was no memory */
	uint64_t drops[16];	  /* by enum dbk_drop */
	uint32_t nested_probe_id; /* of the last NESTED drop; 0: none, or not known */
	uint32_t missed_probe_id; /* of the last MISSED drop; 0: none, or not known */
	uint64_t padding[7];
};

/*
 * LOG, one per module load, ring_id 0: room_bytes of text follow.  Byte n of all
 * that was ever logged is at n % room_bytes while written_bytes - n <= room_bytes.
 * A writer adds to written_bytes first, and copies then.
 */
struct dbk_meta_log {
	uint64_t written_bytes; /* grows (atomic add) */
	uint32_t room_bytes;
	uint32_t reserved; /* 0 */
};

/* X(name, value, what): how a machine may end */
#define DBK_CRASH_STATES(X)                                                                        \
	X(NONE, 0, "nothing happened, or nothing could be said")                                   \
	X(OOPS, 1, "the kernel hit a bug and went on")                                             \
	X(PANIC, 2, "the kernel gave up")                                                          \
	X(RESTART, 3, "it was shut down or restarted in order")

#define DBK_CRASH_ENUM(name, value, what) DBK_CRASH_##name = value,
enum dbk_crash_state { DBK_CRASH_STATES(DBK_CRASH_ENUM) };
#undef DBK_CRASH_ENUM

#define DBK_CRASH_ENTRIES      3u /* entry i is for state i + 1 */
#define DBK_CRASH_REASON_BYTES 256u

/* CRASH, one block per module load, ring_id 0: DBK_CRASH_ENTRIES of these, the first of its kind
 * that happened. */
struct dbk_meta_crash {
	uint32_t state; /* enum dbk_crash_state, stored last (release); 0: it did not happen */
	uint32_t cpu;
	uint64_t ticks;
	uint64_t mono_ns;
	uint64_t wall_ns;
	uint32_t sealed;		     /* PANIC: segments that it sealed */
	uint32_t count;			     /* how often it happened */
	uint64_t reserved[3];		     /* 0 */
	char reason[DBK_CRASH_REASON_BYTES]; /* NUL-terminated; what the kernel said */
};

/* X(name, value, word): what enters a trigger; 7 and 8 are user space's own */
#define DBK_TRIGGER_KINDS(X)                                                                       \
	X(ACTION, 1, "action")                                                                     \
	X(OOPS, 2, "oops")                                                                         \
	X(PANIC, 3, "panic")                                                                       \
	X(HUNG_TASK, 4, "hung-task")                                                               \
	X(SOFT_LOCKUP, 5, "soft-lockup")                                                           \
	X(OOM, 6, "oom-kill")                                                                      \
	X(UNIT, 7, "unit-failed")                                                                  \
	X(SIGNAL, 8, "signal")                                                                     \
	X(SLEEP, 9, "sleep")                                                                       \
	X(CLOCK, 10, "clock")

#define DBK_TRIGGER_ENUM(name, value, word) DBK_TRIGGER_##name = value,
enum dbk_trigger_kind { DBK_TRIGGER_KINDS(DBK_TRIGGER_ENUM) };
#undef DBK_TRIGGER_ENUM

/* TRIGGERS, one block per module load, ring_id 0: `slots` entries follow, that of sequence s at
 * (s - 1) % slots. */
struct dbk_meta_triggers {
	uint64_t entered; /* sequence number of the newest; grows (atomic add) */
	uint32_t slots;
	uint32_t reserved; /* 0 */
};

#define DBK_TRIGGER_NAME_BYTES 48u

struct dbk_meta_trigger {
	uint64_t sequence; /* from 1; 0 while it is written, stored last (release) */
	uint64_t ticks;
	uint64_t mono_ns;
	uint64_t wall_ns;
	uint32_t cpu;
	uint16_t ring_id;    /* ACTION: whose; else 0 */
	uint16_t kind;	     /* enum dbk_trigger_kind */
	uint32_t epid;	     /* ACTION: of the clause; else 0 */
	uint32_t suppressed; /* how often it came again too soon to be entered; grows */
	char name[DBK_TRIGGER_NAME_BYTES]; /* NUL-terminated */
};

DBK_ABI_SIZE(struct dbk_meta_header, 64);
DBK_ABI_AT(struct dbk_meta_header, magic, 0);
DBK_ABI_AT(struct dbk_meta_header, version, 4);
DBK_ABI_AT(struct dbk_meta_header, kind, 6);
DBK_ABI_AT(struct dbk_meta_header, block_bytes, 8);
DBK_ABI_AT(struct dbk_meta_header, committed_bytes, 12);
DBK_ABI_AT(struct dbk_meta_header, boot_id, 16);
DBK_ABI_AT(struct dbk_meta_header, phys_addr, 24);
DBK_ABI_AT(struct dbk_meta_header, ring_id, 32);
DBK_ABI_AT(struct dbk_meta_header, index, 34);
DBK_ABI_AT(struct dbk_meta_header, part, 36);
DBK_ABI_AT(struct dbk_meta_header, part_count, 38);
DBK_ABI_AT(struct dbk_meta_header, checksum, 40);
DBK_ABI_AT(struct dbk_meta_header, reserved, 56);
DBK_ABI_SIZE(struct dbk_meta_host, 224);
DBK_ABI_AT(struct dbk_meta_host, boot_uuid, 0);
DBK_ABI_AT(struct dbk_meta_host, kernel_text_start, 16);
DBK_ABI_AT(struct dbk_meta_host, cpu_count, 24);
DBK_ABI_AT(struct dbk_meta_host, page_bytes, 28);
DBK_ABI_AT(struct dbk_meta_host, release, 32);
DBK_ABI_AT(struct dbk_meta_host, version, 96);
DBK_ABI_AT(struct dbk_meta_host, machine, 160);
DBK_ABI_AT(struct dbk_meta_host, module_version, 192);
DBK_ABI_SIZE(struct dbk_meta_ring, 160);
DBK_ABI_AT(struct dbk_meta_ring, policy, 0);
DBK_ABI_AT(struct dbk_meta_ring, aggregate, 4);
DBK_ABI_AT(struct dbk_meta_ring, clock, 8);
DBK_ABI_AT(struct dbk_meta_ring, segment_bytes, 12);
DBK_ABI_AT(struct dbk_meta_ring, segments_per_cpu, 16);
DBK_ABI_AT(struct dbk_meta_ring, strsize_bytes, 20);
DBK_ABI_AT(struct dbk_meta_ring, ticks_per_second, 24);
DBK_ABI_AT(struct dbk_meta_ring, start_ticks, 32);
DBK_ABI_AT(struct dbk_meta_ring, start_mono_ns, 40);
DBK_ABI_AT(struct dbk_meta_ring, start_boot_ns, 48);
DBK_ABI_AT(struct dbk_meta_ring, start_wall_ns, 56);
DBK_ABI_AT(struct dbk_meta_ring, anonymous, 64);
DBK_ABI_AT(struct dbk_meta_ring, activity, 68);
DBK_ABI_AT(struct dbk_meta_ring, aggbuf_bytes, 72);
DBK_ABI_AT(struct dbk_meta_ring, stackframes, 76);
DBK_ABI_AT(struct dbk_meta_ring, name, 80);
DBK_ABI_AT(struct dbk_meta_ring, ringtime_ns, 112);
DBK_ABI_AT(struct dbk_meta_ring, ringmax_bytes, 120);
DBK_ABI_AT(struct dbk_meta_ring, lowered_bytes, 128);
DBK_ABI_SIZE(struct dbk_meta_probe, 16);
DBK_ABI_AT(struct dbk_meta_probe, entry_bytes, 0);
DBK_ABI_AT(struct dbk_meta_probe, probe_id, 4);
DBK_ABI_AT(struct dbk_meta_probe, provider_bytes, 8);
DBK_ABI_AT(struct dbk_meta_probe, module_bytes, 10);
DBK_ABI_AT(struct dbk_meta_probe, function_bytes, 12);
DBK_ABI_AT(struct dbk_meta_probe, name_bytes, 14);
DBK_ABI_SIZE(struct dbk_user_memory, 8);
DBK_ABI_AT(struct dbk_user_memory, registers, 0);
DBK_ABI_AT(struct dbk_user_memory, depth, 2);
DBK_ABI_AT(struct dbk_user_memory, bytes, 4);
DBK_ABI_SIZE(struct dbk_meta_ecb, 32);
DBK_ABI_AT(struct dbk_meta_ecb, entry_bytes, 0);
DBK_ABI_AT(struct dbk_meta_ecb, epid, 4);
DBK_ABI_AT(struct dbk_meta_ecb, probe_id, 8);
DBK_ABI_AT(struct dbk_meta_ecb, dof_index, 12);
DBK_ABI_AT(struct dbk_meta_ecb, field_count, 14);
DBK_ABI_AT(struct dbk_meta_ecb, ecbdesc, 16);
DBK_ABI_AT(struct dbk_meta_ecb, flags, 20);
DBK_ABI_AT(struct dbk_meta_ecb, fixed_bytes, 24);
DBK_ABI_AT(struct dbk_meta_ecb, classic_bytes, 28);
DBK_ABI_SIZE(struct dbk_meta_field, 16);
DBK_ABI_AT(struct dbk_meta_field, offset, 0);
DBK_ABI_AT(struct dbk_meta_field, bytes, 4);
DBK_ABI_AT(struct dbk_meta_field, action, 8);
DBK_ABI_AT(struct dbk_meta_field, shape, 10);
DBK_ABI_AT(struct dbk_meta_field, flags, 11);
DBK_ABI_AT(struct dbk_meta_field, reserved, 12);
DBK_ABI_SIZE(struct dbk_meta_cpu, 256);
DBK_ABI_AT(struct dbk_meta_cpu, records, 0);
DBK_ABI_AT(struct dbk_meta_cpu, bytes, 8);
DBK_ABI_AT(struct dbk_meta_cpu, segments, 16);
DBK_ABI_AT(struct dbk_meta_cpu, errors, 24);
DBK_ABI_AT(struct dbk_meta_cpu, firings, 32);
DBK_ABI_AT(struct dbk_meta_cpu, oldest_sequence, 40);
DBK_ABI_AT(struct dbk_meta_cpu, segment_slots, 48);
DBK_ABI_AT(struct dbk_meta_cpu, growths_refused, 56);
DBK_ABI_AT(struct dbk_meta_cpu, drops, 64);
DBK_ABI_AT(struct dbk_meta_cpu, nested_probe_id, 192);
DBK_ABI_AT(struct dbk_meta_cpu, missed_probe_id, 196);
DBK_ABI_AT(struct dbk_meta_cpu, padding, 200);
DBK_ABI_SIZE(struct dbk_meta_log, 16);
DBK_ABI_AT(struct dbk_meta_log, written_bytes, 0);
DBK_ABI_AT(struct dbk_meta_log, room_bytes, 8);
DBK_ABI_AT(struct dbk_meta_log, reserved, 12);
DBK_ABI_SIZE(struct dbk_meta_crash, 320);
DBK_ABI_AT(struct dbk_meta_crash, state, 0);
DBK_ABI_AT(struct dbk_meta_crash, cpu, 4);
DBK_ABI_AT(struct dbk_meta_crash, ticks, 8);
DBK_ABI_AT(struct dbk_meta_crash, mono_ns, 16);
DBK_ABI_AT(struct dbk_meta_crash, wall_ns, 24);
DBK_ABI_AT(struct dbk_meta_crash, sealed, 32);
DBK_ABI_AT(struct dbk_meta_crash, count, 36);
DBK_ABI_AT(struct dbk_meta_crash, reserved, 40);
DBK_ABI_AT(struct dbk_meta_crash, reason, 64);
DBK_ABI_SIZE(struct dbk_meta_triggers, 16);
DBK_ABI_AT(struct dbk_meta_triggers, entered, 0);
DBK_ABI_AT(struct dbk_meta_triggers, slots, 8);
DBK_ABI_AT(struct dbk_meta_triggers, reserved, 12);
DBK_ABI_SIZE(struct dbk_meta_trigger, 96);
DBK_ABI_AT(struct dbk_meta_trigger, sequence, 0);
DBK_ABI_AT(struct dbk_meta_trigger, ticks, 8);
DBK_ABI_AT(struct dbk_meta_trigger, mono_ns, 16);
DBK_ABI_AT(struct dbk_meta_trigger, wall_ns, 24);
DBK_ABI_AT(struct dbk_meta_trigger, cpu, 32);
DBK_ABI_AT(struct dbk_meta_trigger, ring_id, 36);
DBK_ABI_AT(struct dbk_meta_trigger, kind, 38);
DBK_ABI_AT(struct dbk_meta_trigger, epid, 40);
DBK_ABI_AT(struct dbk_meta_trigger, suppressed, 44);
DBK_ABI_AT(struct dbk_meta_trigger, name, 48);

#endif /* DBK_ABI_META_H */
