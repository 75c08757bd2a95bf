// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocks.c - blocks of this boot's half, and both halves as user space sees them
 *
 * Blocks are first-fit in a bitmap of pages, so what a ring leaves joins what is
 * free beside it.  The half is zeroed when it is taken; what was used since is
 * zeroed again when it is handed out.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kmod/bank/state.h"

/* Offsets of the halves for mmap(): no ring has id 0, and none so many blocks. */
#define OFFSET_HALF(half) ((0xfffff0ull + (half)) << 22)

/* One block handed out. */
struct block {
	u32 page, page_count; /* [C] of the half's blocks */
	u32 mappings;	      /* [B] */
	bool freed;	      /* [B] its ring has gone */
};

/* ---- blocks -------------------------------------------------------------------------------- */

/* [B] After used_bytes the half is as it was zeroed. */
static void *block_clear(const struct block *block)
{
	u64 end = (u64)block->page + block->page_count;
	void *address = dbk_bank_blocks() + (u64)block->page * PAGE_SIZE;
	u64 dirty_end = min(end, dbk_bank.used_count);

	if (dirty_end > block->page)
		memset(address, 0, (dirty_end - block->page) * PAGE_SIZE);
	if (end > dbk_bank.used_count) {
		dbk_bank.used_count = end;
		dbk_bank_half_header(dbk_bank.half, false)->used_bytes = end * PAGE_SIZE;
		dbk_bank_half_header(dbk_bank.half, true)->used_bytes = end * PAGE_SIZE;
	}
	return address;
}

bool dbk_bank_alloc(u32 bytes, struct dbk_pages *pages_ret)
{
	u32 count = DIV_ROUND_UP(bytes, PAGE_SIZE);
	struct block *block;
	unsigned long page;
	void *address;

	if (dbk_bank.use != DBK_BANK_USE_RECORDS || count > dbk_bank.page_count)
		return false;
	block = kzalloc(sizeof(*block), GFP_KERNEL);
	if (!block)
		return false;
	mutex_lock(&dbk_bank.mutex);
	page = bitmap_find_next_zero_area(dbk_bank.taken, dbk_bank.page_count, 0, count, 0);
	if (page >= dbk_bank.page_count) {
		mutex_unlock(&dbk_bank.mutex);
		kfree(block);
		return false;
	}
	bitmap_set(dbk_bank.taken, page, count);
	dbk_bank.free_count -= count;
	block->page = page;
	block->page_count = count;
	address = block_clear(block);
	mutex_unlock(&dbk_bank.mutex);
	*pages_ret = (struct dbk_pages){
		.address = address,
		.phys_addr = dbk_bank.place.address + (address - dbk_bank.memory),
		.bytes = bytes,
		.host_data = block,
	};
	return true;
}

/* [B] Nothing begins there any more: the next boot is not to find a ring that has gone. */
static void magics_clear(const struct block *block)
{
	u32 *magic = dbk_bank_blocks() + (u64)block->page * PAGE_SIZE;
	u32 i;

	for (i = 0; i < block->page_count; i++, magic += PAGE_SIZE / sizeof(*magic))
		WRITE_ONCE(*magic, 0);
}

/* [B] */
static void block_put(struct block *block)
{
	if (!block->freed || block->mappings != 0)
		return;
	if (!dbk_bank.leaving)
		magics_clear(block);
	bitmap_clear(dbk_bank.taken, block->page, block->page_count);
	dbk_bank.free_count += block->page_count;
	kfree(block);
}

void dbk_bank_free(struct dbk_pages *pages)
{
	struct block *block = pages->host_data;

	mutex_lock(&dbk_bank.mutex);
	block->freed = true;
	block_put(block);
	mutex_unlock(&dbk_bank.mutex);
}

bool dbk_bank_has(const void *address)
{
	return dbk_bank.use == DBK_BANK_USE_RECORDS && address >= dbk_bank.memory &&
	       address < dbk_bank.memory + dbk_bank.place.bytes;
}

u64 dbk_bank_free_bytes(void)
{
	return READ_ONCE(dbk_bank.free_count) * PAGE_SIZE;
}

bool dbk_bank_is_used(void)
{
	return dbk_bank.use == DBK_BANK_USE_RECORDS;
}

/* ---- showing it ---------------------------------------------------------------------------- */

static void on_vma_open(struct vm_area_struct *vma)
{
	struct block *block = vma->vm_private_data;

	mutex_lock(&dbk_bank.mutex);
	block->mappings++;
	mutex_unlock(&dbk_bank.mutex);
}

static void on_vma_close(struct vm_area_struct *vma)
{
	struct block *block = vma->vm_private_data;

	mutex_lock(&dbk_bank.mutex);
	block->mappings--;
	block_put(block);
	mutex_unlock(&dbk_bank.mutex);
}

static const struct vm_operations_struct block_operations = {
	.open = on_vma_open,
	.close = on_vma_close,
};

/* There need not be struct pages: a mapping of plain addresses. */
static int vma_map(struct vm_area_struct *vma, u64 phys_addr)
{
	return remap_pfn_range(vma, vma->vm_start, phys_addr >> PAGE_SHIFT,
			       vma->vm_end - vma->vm_start, vma->vm_page_prot);
}

int dbk_bank_mmap(struct vm_area_struct *vma, const struct dbk_pages *pages)
{
	int err = vma_map(vma, pages->phys_addr);

	if (err)
		return err;
	vma->vm_private_data = pages->host_data;
	vma->vm_ops = &block_operations;
	on_vma_open(vma);
	return 0;
}

static bool is_shown(u32 half)
{
	return dbk_bank.use == DBK_BANK_USE_SALVAGE ||
	       (dbk_bank.use == DBK_BANK_USE_RECORDS && half != dbk_bank.half);
}

u32 dbk_bank_region_count(void)
{
	return is_shown(0) + is_shown(1);
}

bool dbk_bank_region(u32 index, struct dbk_ioc_region *region_ret)
{
	u32 half;

	for (half = 0; half < DBK_BANK_HALVES; half++) {
		if (!is_shown(half) || index-- != 0)
			continue;
		region_ret->kind = DBK_REGION_BANK;
		region_ret->cpu = half;
		region_ret->offset = OFFSET_HALF(half);
		region_ret->bytes = dbk_bank.half_bytes;
		return true;
	}
	return false;
}

int dbk_bank_region_mmap(struct vm_area_struct *vma, u64 offset)
{
	u32 half;

	for (half = 0; half < DBK_BANK_HALVES; half++) {
		if (!is_shown(half) || offset != OFFSET_HALF(half))
			continue;
		if (vma->vm_end - vma->vm_start > dbk_bank.half_bytes)
			return -EINVAL;
		return vma_map(vma, dbk_bank.place.address + dbk_bank_half_offset(half));
	}
	return -ENOENT;
}

void dbk_bank_describe(struct dbk_ioc_bank *bank_ret)
{
	bank_ret->use = dbk_bank.use;
	strscpy(bank_ret->reason, dbk_bank.reason, sizeof(bank_ret->reason));
	if (dbk_bank.use != DBK_BANK_USE_RECORDS && dbk_bank.use != DBK_BANK_USE_SALVAGE)
		return;
	bank_ret->phys_addr = dbk_bank.place.address;
	bank_ret->bank_bytes = dbk_bank.place.bytes;
	bank_ret->half = dbk_bank.half;
	bank_ret->generation = dbk_bank.generation;
	if (dbk_bank.use == DBK_BANK_USE_SALVAGE)
		return;
	bank_ret->data_bytes = dbk_bank.page_count * PAGE_SIZE;
	bank_ret->free_bytes = dbk_bank_free_bytes();
}
