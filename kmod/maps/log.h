/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * log.h - entries about mappings: the blocks that keep them
 *
 * Blocks are filled in turn.  The oldest is filled anew when all are full: what it says of
 * processes that live is entered again, what it says of others goes.  Entries are written in
 * process context, by any CPU, under a lock that nothing is taken under.
 */
#ifndef DBK_KMOD_MAPS_LOG_H
#define DBK_KMOD_MAPS_LOG_H

#include <linux/mm_types.h>
#include <linux/sched.h>

#include "formats/abi/maps.h"

/** dbk_maps_log_create() - takes the memory, for twice the @mappings that there are now.  Return: whether
 * there is any.  Context: [S]. */
bool dbk_maps_log_create(u64 mappings);

/** dbk_maps_log_grow() - takes more where what lives fills nearly all that there is.  Return: whether
 * there is more now.  Context: [S]. */
bool dbk_maps_log_grow(void);

/** dbk_maps_log_has_lost() - whether entries found no room since then: what was known before may be
 * wrong */
bool dbk_maps_log_has_lost(u64 since_ns);

/** dbk_maps_log_destroy() - frees it; no entry is being written */
void dbk_maps_log_destroy(void);

/** dbk_maps_log_begin() - empties the blocks: from now on entries are taken */
void dbk_maps_log_begin(void);

/** dbk_maps_log_end() - what is there may hold no longer: from now on none are taken */
void dbk_maps_log_end(void);

/** dbk_maps_log_image() - @task's process begins with no mapping, by @cause, at @mono_ns; its
 * @namespaces, NULL: they are not known */
void dbk_maps_log_image(const struct task_struct *task, enum dbk_map_cause cause, u32 parent_pid,
			const struct dbk_map_namespaces *namespaces, u64 mono_ns);

/** dbk_maps_log_mapping() - @task's process has @vma, which is code, since @mono_ns */
void dbk_maps_log_mapping(const struct task_struct *task, struct vm_area_struct *vma, u64 mono_ns);

/** dbk_maps_log_moved() - @task's process is about to have what @vma has from @page of its file on
 * at @begin, too: a copy of @bytes */
void dbk_maps_log_moved(const struct task_struct *task, struct vm_area_struct *vma, u64 begin,
			u64 bytes, u64 page, u64 mono_ns);

/** dbk_maps_log_unmapped() - from @begin to @end, where @task's process had code, nothing is mapped */
void dbk_maps_log_unmapped(const struct task_struct *task, u64 begin, u64 end, u64 mono_ns);

/** dbk_maps_log_lost() - what a process has cannot be entered: as if there were no room for it */
void dbk_maps_log_lost(u64 mono_ns);

/** dbk_maps_log_exit() - @task's process has ended */
void dbk_maps_log_exit(const struct task_struct *task, u64 mono_ns);

#endif /* DBK_KMOD_MAPS_LOG_H */
