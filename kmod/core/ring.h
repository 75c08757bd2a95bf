/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - making, finding and ending rings
 */
#ifndef DBK_KMOD_RING_H
#define DBK_KMOD_RING_H

#include "kmod/providers/places.h"
#include "kmod/state.h"

/* A program before it has a ring. */
struct dbk_loaded {
	struct dbk_program *program;
	struct dbk_place_files files;
};

/**
 * dbk_loaded_create() - verifies a DOF image, and opens the files that it names
 * @untrusted_dof: @bytes of it
 * @reason:        filled whenever the call fails
 *
 * Context: Process; not [S]: opening may take for ever.
 * Return: 0 or a negative errno; then nothing of it is left.
 */
int dbk_loaded_create(const void *untrusted_dof, size_t bytes, struct dbk_reason *reason,
		      struct dbk_loaded *loaded_ret);

/** dbk_loaded_destroy() - what no ring took of it.  Context: may sleep. */
void dbk_loaded_destroy(struct dbk_loaded *loaded);

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

/** dbk_rings_leave() - destroys the rings of a file that is closed, at once or soon, and what it @asked for.
 * Context: not [S]. */
void dbk_rings_leave(struct file *owner, bool asked);

/** dbk_rings_region() - the @index-th region of all: the module's own blocks, then ring by ring.
 * Context: [L].  Return: whether there is one. */
bool dbk_rings_region(u32 index, struct dbk_ioc_region *region_ret);

/** dbk_rings_region_pages() - the block that dbk_rings_region() gave @offset to.  Context: [L]. */
bool dbk_rings_region_pages(u64 offset, struct dbk_pages *pages_ret);

/** dbk_rings_bank_bytes() - blocks of a ring, of all when @ring_id is 0, in the bank and outside.
 * Context: [S]. */
void dbk_rings_bank_bytes(u32 ring_id, u64 *inside_ret, u64 *outside_ret);

/** dbk_rings_count() - rings, or only those anonymous and without an owner.  Context: [L]. */
u32 dbk_rings_count(bool unclaimed_only);

/** dbk_rings_region_count() - for DBK_IOC_STATUS.  Context: [S]. */
u32 dbk_rings_region_count(void);

/** dbk_ring_ecb_count() - from its own metadata.  Context: [S]. */
u32 dbk_ring_ecb_count(const struct dbk_ring *ring);

/** dbk_drain_start() - looks after rings from now on: stops those whose program called exit(), seals
 * segments */
void dbk_drain_start(void);

/** dbk_drain_end() - no more, and no cleaning either; waits.  Context: not under [S]. */
void dbk_drain_end(void);

#endif /* DBK_KMOD_RING_H */
