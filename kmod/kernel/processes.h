/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * processes.h - the processes that live, one after the other
 *
 * They come by their numbers in the first namespace, so nothing is kept of them all.  What begins meanwhile
 * has a higher number and comes, too, but for what begins just when the numbers have begun anew.
 */
#ifndef DBK_KMOD_PROCESSES_H
#define DBK_KMOD_PROCESSES_H

#include <linux/mm.h>
#include <linux/sched.h>

/**
 * dbk_process_next() - the process after that of @last, which is put; NULL: the first
 *
 * Kernel threads are none, nor is what has ended.
 *
 * Context: may sleep.
 * Return: a thread that has its memory, the first one where that lives, held; NULL: there is no more.
 */
struct task_struct *dbk_process_next(struct task_struct *last);

/**
 * dbk_process_lock() - the memory of *@task's process, with the read side of its mmap_lock, which is only tried for
 *
 * A thread that has ended is put, and *@task another one of its process that lives.
 *
 * Context: may sleep.
 * Return: for dbk_process_unlock(); NULL: the process has ended; -EBUSY: it holds the lock itself for long.
 */
struct mm_struct *dbk_process_lock(struct task_struct **task);

/** dbk_process_unlock() - Context: may sleep. */
void dbk_process_unlock(struct mm_struct *mm);

#endif /* DBK_KMOD_PROCESSES_H */
