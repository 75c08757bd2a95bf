/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - making, finding and ending rings
 */
#ifndef DBK_KMOD_RING_H
#define DBK_KMOD_RING_H

#include "kmod/core/loaded.h"
#include "kmod/state.h"

/**
 * dbk_ring_create() - makes a program's ring, patches its probes, starts it
 * @loaded:        for dbk_loaded_destroy(), whether the call fails or not
 * @name:          of the enabling, for people
 * @owner:         the opener of the device; NULL: anonymous
 * @reason:        filled whenever the call fails
 * @ring_ret:      on success; belongs to dbk.rings
 *
 * Nothing is recorded before all probes are patched and BEGIN has run.
 *
 * Context: Process, [S].
 * Return: 0 or a negative errno; then no ring is left.
 */
int dbk_ring_create(struct dbk_loaded *loaded, const char *name, struct file *owner,
		    struct dbk_reason *reason, struct dbk_ring **ring_ret);

/** dbk_ring_stop() - END, and nothing more is recorded; what the kernel missed until now is counted.
 * Context: [S]. */
int dbk_ring_stop(struct dbk_ring *ring);

/** dbk_ring_destroy() - stops without END what still runs, and frees it.  Context: [S]. */
void dbk_ring_destroy(struct dbk_ring *ring);

/** dbk_ring_bury() - stops a ring that the deadman ended, and says so once.  Context: [S]. */
void dbk_ring_bury(struct dbk_ring *ring);

/** dbk_ring_find() - by id, or NULL.  Context: [S] or [L]. */
struct dbk_ring *dbk_ring_find(u32 ring_id);

/** dbk_ring_find_named() - the oldest of that name, or NULL.  Context: [S] or [L]. */
struct dbk_ring *dbk_ring_find_named(const char *name);

/**
 * dbk_ring_own() - who holds a ring from now on: the calling process, by its open file
 * @owner: NULL: no process; who held it last stays known
 *
 * Context: [S].
 */
void dbk_ring_own(struct dbk_ring *ring, struct file *owner);

/** dbk_rings_count() - rings, or only those anonymous and without an owner.  Context: [L]. */
u32 dbk_rings_count(bool unclaimed_only);

#endif /* DBK_KMOD_RING_H */
