/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * state.h - engine, probes, consumers and their ECBs: what the control path's files share
 */
#ifndef DBK_ENGINE_STATE_H
#define DBK_ENGINE_STATE_H

#include "engine/types/internal.h"
#include "engine/types/reason.h"

/** dbk_ecbs_add() - ECBs of the consumer for one probe, in program order; enables the probe when
 * they are its first.  @matched_ret: whether there were any */
int dbk_ecbs_add(struct dbk_consumer *consumer, struct dbk_probe *probe, bool *matched_ret);

/** dbk_ecbs_add_plan() - ECBs of one clause for all probes that it matches, with no CPU firing them
 * yet.  @matched is raised by the probes that the consumer did not have before */
int dbk_ecbs_add_plan(struct dbk_consumer *consumer, const struct dbk_plan *plan,
		      struct dbk_reason *reason, uint32_t *matched);

/** engine_flags of a probe: it is being removed; a consumer's ECBs were taken out, and others stay */
#define DBK_PROBE_GOING 0x1u
#define DBK_PROBE_LEFT	0x2u

/** dbk_ecbs_unlink_probe() - takes all ECBs out of the probe's list; they stay allocated */
struct dbk_ecb *dbk_ecbs_unlink_probe(struct dbk_probe *probe);

/** dbk_ecbs_free() - frees what was unlinked, after dbk_host_synchronize() */
void dbk_ecbs_free(struct dbk_ecb *list);

/** dbk_ecbs_remove_consumer() - takes the consumer's ECBs out of all probes, waits, frees them */
void dbk_ecbs_remove_consumer(struct dbk_consumer *consumer);

/** dbk_probe_is_own() - BEGIN, END or ERROR: they need no arming */
bool dbk_probe_is_own(const struct dbk_engine *engine, const struct dbk_probe *probe);

/** dbk_engine_settle() - after changes to probes: lets the host finish them, unless a batch is
 * open, and counts MISSED drops for new ones that it did not arm. Returns @error, or the host's */
int dbk_engine_settle(struct dbk_engine *engine, int error);

/** dbk_gates_set() - opens exactly @gates on all CPUs that the consumer records on */
void dbk_gates_set(struct dbk_consumer *consumer, uint32_t gates);

/** dbk_cpus_prepare() - the memory of a new consumer for the CPUs that are up, speculations left
 * out; -ENOMEM, see dbk_buffer_fill().  [H] */
int dbk_cpus_prepare(struct dbk_consumer *consumer, enum dbk_pages_from from);

/** dbk_cpu_prepare() - the consumer's memory for @cpu, if it is wanted and not there, and its gates;
 * false: there is not enough.  [H] */
bool dbk_cpu_prepare(struct dbk_consumer *consumer, uint32_t cpu, enum dbk_pages_from from);

/** dbk_cpus_up() - how many are, at least 1: what is per CPU is multiplied by it */
uint32_t dbk_cpus_up(const struct dbk_engine *engine);

/** dbk_activity_set() - stores the activity, in the ring's metadata as well */
void dbk_activity_set(struct dbk_consumer *consumer, enum dbk_activity activity);

#endif /* DBK_ENGINE_STATE_H */
