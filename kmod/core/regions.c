// SPDX-License-Identifier: GPL-2.0-only
/*
 * regions.c - the memory of rings, block by block: what of it is mapped where, is in the bank, or is metadata
 */
#include "kmod/bank/bank.h"
#include "kmod/core/regions.h"
#include "kmod/core/ring.h"

/* A region's mmap() offset holds its ring and its index in it; a block is at most 4 MiB. */
#define OFFSET_RING_SHIFT  46
#define OFFSET_INDEX_SHIFT 22
#define OFFSET_INDEX_MASK  ((1ull << (OFFSET_RING_SHIFT - OFFSET_INDEX_SHIFT)) - 1)

static u64 region_offset(u32 ring_id, u32 index)
{
	return (u64)ring_id << OFFSET_RING_SHIFT | (u64)index << OFFSET_INDEX_SHIFT;
}

bool dbk_rings_region(u32 index, struct dbk_ioc_region *region_ret)
{
	struct dbk_ring *ring;

	dbk_look_assert();
	*region_ret = (struct dbk_ioc_region){ .index = index };
	if (index < dbk.block_count) {
		region_ret->kind = DBK_REGION_META;
		region_ret->offset = region_offset(0, index);
		region_ret->bytes = dbk.blocks[index].bytes;
		return true;
	}
	index -= dbk.block_count;
	list_for_each_entry(ring, &dbk.rings, link) {
		/* Asked for once: a CPU that comes, or a ring that grows, adds to it meanwhile. */
		u32 count = ring->ready ? dbk_consumer_region_count(ring->consumer) : 0;
		struct dbk_region region;

		if (index >= count) {
			index -= count;
			continue;
		}
		dbk_consumer_region(ring->consumer, index, &region);
		region_ret->kind = region.kind;
		region_ret->cpu = region.cpu;
		region_ret->ring_id = dbk_consumer_ring_id(ring->consumer);
		region_ret->offset = region_offset(region_ret->ring_id, index);
		region_ret->bytes = region.pages->bytes;
		return true;
	}
	return dbk_bank_region(index, region_ret);
}

bool dbk_rings_region_pages(u64 offset, struct dbk_pages *pages_ret)
{
	u32 index = offset >> OFFSET_INDEX_SHIFT & OFFSET_INDEX_MASK;
	struct dbk_region region;
	struct dbk_ring *ring;

	dbk_look_assert();
	if (offset >> OFFSET_RING_SHIFT == 0) {
		if (index >= dbk.block_count || offset != region_offset(0, index))
			return false;
		*pages_ret = dbk.blocks[index];
		return true;
	}
	ring = dbk_ring_find(offset >> OFFSET_RING_SHIFT);
	if (!ring || !ring->ready || offset != region_offset(offset >> OFFSET_RING_SHIFT, index) ||
	    !dbk_consumer_region(ring->consumer, index, &region))
		return false;
	*pages_ret = *region.pages;
	return true;
}

void dbk_rings_bank_bytes(u32 ring_id, u64 *inside_ret, u64 *outside_ret)
{
	struct dbk_ring *ring;

	dbk_state_assert();
	*inside_ret = *outside_ret = 0;
	list_for_each_entry(ring, &dbk.rings, link) {
		struct dbk_region region;
		u32 i;

		if (ring_id != 0 && dbk_consumer_ring_id(ring->consumer) != ring_id)
			continue;
		for (i = 0; dbk_consumer_region(ring->consumer, i, &region); i++)
			*(dbk_bank_has(region.pages->address) ? inside_ret : outside_ret) +=
				region.pages->bytes;
	}
}

u32 dbk_rings_region_count(void)
{
	struct dbk_ring *ring;
	u32 count = dbk.block_count + dbk_bank_region_count();

	dbk_look_assert();
	list_for_each_entry(ring, &dbk.rings, link)
		if (ring->ready)
			count += dbk_consumer_region_count(ring->consumer);
	return count;
}

static u32 ecbs_in_block(const struct dbk_meta_header *header)
{
	u32 at = DBK_META_DATA_OFFSET;
	u32 count = 0;

	while (at + sizeof(struct dbk_meta_ecb) <= header->committed_bytes) {
		const struct dbk_meta_ecb *ecb = (const void *)header + at;

		if (ecb->entry_bytes < sizeof(*ecb))
			break;
		at += ecb->entry_bytes;
		count++;
	}
	return count;
}

u32 dbk_ring_ecb_count(const struct dbk_ring *ring)
{
	struct dbk_region region;
	u32 count = 0;
	u32 i;

	dbk_state_assert();
	for (i = 0; dbk_consumer_region(ring->consumer, i, &region); i++) {
		const struct dbk_meta_header *header = region.pages->address;

		if (region.kind == DBK_REGION_META && header->kind == DBK_META_ECBS)
			count += ecbs_in_block(header);
	}
	return count;
}
