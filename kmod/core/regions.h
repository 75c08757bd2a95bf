/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * regions.h - the memory of rings, block by block
 */
#ifndef DBK_KMOD_REGIONS_H
#define DBK_KMOD_REGIONS_H

#include "kmod/state.h"

/** dbk_rings_region() - the @index-th region of all: the module's own blocks, then ring by ring.
 * Context: [L].  Return: whether there is one. */
bool dbk_rings_region(u32 index, struct dbk_ioc_region *region_ret);

/** dbk_rings_region_pages() - the block that dbk_rings_region() gave @offset to.  Context: [L]. */
bool dbk_rings_region_pages(u64 offset, struct dbk_pages *pages_ret);

/** dbk_rings_bank_bytes() - blocks of a ring, of all when @ring_id is 0, in the bank and outside.
 * Context: [S]. */
void dbk_rings_bank_bytes(u32 ring_id, u64 *inside_ret, u64 *outside_ret);

/** dbk_rings_region_count() - for DBK_IOC_STATUS.  Context: [L]. */
u32 dbk_rings_region_count(void);

/** dbk_ring_ecb_count() - from its own metadata.  Context: [S]. */
u32 dbk_ring_ecb_count(const struct dbk_ring *ring);

#endif /* DBK_KMOD_REGIONS_H */
