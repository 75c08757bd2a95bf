/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * host.h - what the rest of the module asks of the engine's host
 */
#ifndef DBK_KMOD_HOST_H
#define DBK_KMOD_HOST_H

#include <linux/types.h>

struct file;
struct poll_table_struct;

/** dbk_clock_init() - chooses the clock of records; before any ring exists */
void dbk_clock_init(void);

/** dbk_clock_tsc() - whether records are stamped with the TSC */
bool dbk_clock_tsc(void);

/** dbk_clock_ticks_per_second() - of that clock, as the kernel has it now */
u64 dbk_clock_ticks_per_second(void);

/** dbk_thread_init() - seeds rand() */
void dbk_thread_init(void);

/** dbk_act_init() - readies the deferral of destructive actions; before any probe fires */
void dbk_act_init(void);

/** dbk_act_drain() - waits until those that were asked for are done; no probe fires any more */
void dbk_act_drain(void);

/** dbk_stack_init() - learns where the module's own text is, to leave it out of stacks */
void dbk_stack_init(void);

/** dbk_triggered_init() - before any trigger fires */
void dbk_triggered_init(void);

/** dbk_triggered_poll() - EPOLLPRI when a trigger was entered after @seen; until then @table's waiter
 * is woken when one is */
__poll_t dbk_triggered_poll(struct file *file, struct poll_table_struct *table, u64 seen);

/** dbk_triggered_drain() - waits until all waiters are woken; no trigger fires any more */
void dbk_triggered_drain(void);

/** dbk_cpus_init() - the engine, which exists, gets its CPUs: those online, and each that comes */
int dbk_cpus_init(void);

/** dbk_cpus_exit() - none comes any more */
void dbk_cpus_exit(void);

#endif /* DBK_KMOD_HOST_H */
