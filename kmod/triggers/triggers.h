/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * triggers.h - the machine's own triggers
 *
 *   name         fires when                                    by
 *   oops         the kernel hit a bug                          die notifier
 *   panic        it gives up                                   console text, panic notifier
 *   hung-task    khungtaskd found a task that does not run     tracepoint sched_process_hang
 *   soft-lockup  a CPU does not schedule                       console text
 *   oom-kill     a process was chosen to be killed             tracepoint mark_victim
 *   suspend      the machine is about to sleep                 PM notifier
 *   resume       it does not sleep any more                    PM notifier
 *   tsc-unstable the clock of records is none                  asking, once a second
 *
 * The first five are entered at most once a second each.
 */
#ifndef DBK_KMOD_TRIGGERS_H
#define DBK_KMOD_TRIGGERS_H

#include <linux/types.h>

struct file;
struct poll_table_struct;

/** dbk_triggers_hook() - from here on they fire.  Context: process, not under [S]. */
void dbk_triggers_hook(void);

/** dbk_triggers_unhook() - no more; waits for those that fire now.  Context: as above. */
void dbk_triggers_unhook(void);

/** dbk_clock_watch() and _unwatch() - the last three, clock.c.  Context: process, not under [S]. */
void dbk_clock_watch(void);
void dbk_clock_unwatch(void);

/** dbk_triggered_init() - before any trigger fires */
void dbk_triggered_init(void);

/** dbk_triggered_poll() - EPOLLPRI when a trigger was entered after @seen; until then @table's waiter
 * is woken when one is */
__poll_t dbk_triggered_poll(struct file *file, struct poll_table_struct *table, u64 seen);

/** dbk_triggered_drain() - waits until all waiters are woken; no trigger fires any more */
void dbk_triggered_drain(void);

#endif /* DBK_KMOD_TRIGGERS_H */
