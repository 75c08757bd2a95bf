/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bank.h - reserved memory that a crash and the next boot leave alone
 *
 * formats/abi/bank.md has its layout and who writes it when.  Blocks of rings are
 * taken from this boot's half while there is room; the other half is shown to
 * user space as it lies.
 *
 * A block that is mapped stays as it is when its ring goes: it is handed out
 * again when the last mapping has gone, too.  The bank's lock is a leaf: it is
 * taken under [S], and under mmap_lock alone.
 */
#ifndef DBK_KMOD_BANK_H
#define DBK_KMOD_BANK_H

#include <linux/mm_types.h>

#include "kmod/state.h"

/* Where the bank lies. */
struct dbk_bank_place {
	phys_addr_t address;
	u64 bytes;
	bool named; /* reserve_mem=: System RAM that the kernel reserved for us */
};

/**
 * dbk_bank_place_find() - reads parameter `bank`, and proves that the memory may be used
 * @text:   SIZE@ADDRESS, ADDRESS,SIZE, or a name of reserve_mem=
 * @reads_only: nothing will be written there
 * @reason: a sentence, when it may not
 *
 * Return: whether it may.
 */
bool dbk_bank_place_find(const char *text, bool reads_only, struct dbk_bank_place *place_ret,
			 char reason[DBK_REASON_BYTES]);

/** dbk_bank_init() - takes a half, if a bank was asked for and can be used; logs which.  At init.
 */
void dbk_bank_init(void);

/** dbk_bank_leave() - from now on blocks that are given back keep what they hold.  At exit, first.
 */
void dbk_bank_leave(void);

/** dbk_bank_exit() - marks the half; no block of it is in use any more.  At exit. */
void dbk_bank_exit(void);

/** dbk_bank_salvage() - whether the module only shows what earlier boots left */
bool dbk_bank_salvage(void);

/** dbk_bank_alloc() - a zeroed block of @bytes in this boot's half.  Return: whether there was
 * room. */
bool dbk_bank_alloc(u32 bytes, struct dbk_pages *pages_ret);

/** dbk_bank_free() - gives a block back; it is reused once no process maps it */
void dbk_bank_free(struct dbk_pages *pages);

/** dbk_bank_has() - whether a block at @address is one of the bank's */
bool dbk_bank_has(const void *address);

/** dbk_bank_free_bytes() - what this boot's half has left; 0 without a bank */
u64 dbk_bank_free_bytes(void);

/** dbk_bank_is_used() - whether there is one, and rings lie in it */
bool dbk_bank_is_used(void);

/** dbk_bank_mmap() - maps the first pages of a block, as many as @vma has.  Return: 0 or an errno.
 */
int dbk_bank_mmap(struct vm_area_struct *vma, const struct dbk_pages *pages);

/** dbk_bank_region_count() - halves of earlier boots that are shown */
u32 dbk_bank_region_count(void);

/** dbk_bank_region() - the @index-th of them.  Return: whether there is one. */
bool dbk_bank_region(u32 index, struct dbk_ioc_region *region_ret);

/** dbk_bank_region_mmap() - maps the half that has @offset.  Return: 0, -ENOENT when none has. */
int dbk_bank_region_mmap(struct vm_area_struct *vma, u64 offset);

/** dbk_bank_describe() - fills all but the bytes of rings */
void dbk_bank_describe(struct dbk_ioc_bank *bank_ret);

#endif /* DBK_KMOD_BANK_H */
