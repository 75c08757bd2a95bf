/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the bank's own variables, for this folder alone
 */
#ifndef DBK_KMOD_BANK_STATE_H
#define DBK_KMOD_BANK_STATE_H

#include <linux/mutex.h>

#include "formats/abi/bank.h"
#include "kmod/bank/bank.h"

/* No half is this boot's: nothing was taken. */
#define DBK_BANK_NO_HALF DBK_BANK_HALVES

struct dbk_bank_state_vars {
	struct mutex mutex;	       /* [B] */
	u32 use;		       /* [C] DBK_BANK_USE_ */
	u32 half;		       /* [C] this boot's, or DBK_BANK_NO_HALF */
	bool leaving;		       /* [S] the module goes: what its rings hold stays */
	bool claimed;		       /* [C] request_mem_region() was done */
	struct dbk_bank_place place;   /* [C] */
	void *memory;		       /* [C] of the whole bank */
	u64 half_bytes;		       /* [C] */
	u64 generation;		       /* [C] of this boot's half */
	u64 page_count;		       /* [C] for blocks */
	u64 used_count;		       /* [B] pages below were handed out at some time */
	u64 free_count;		       /* [B] */
	unsigned long *taken;	       /* [B] bitmap of pages */
	char reason[DBK_REASON_BYTES]; /* [C] */
};

extern struct dbk_bank_state_vars dbk_bank;

/** dbk_bank_half_offset() - where a half begins, from the bank's start */
static inline u64 dbk_bank_half_offset(u32 half)
{
	return DBK_BANK_PAGE_BYTES + half * dbk_bank.half_bytes;
}

/** dbk_bank_half_header() - a half's header, or its copy */
static inline struct dbk_bank_half *dbk_bank_half_header(u32 half, bool copy)
{
	return dbk_bank.memory + dbk_bank_half_offset(half) +
	       (copy ? dbk_bank.half_bytes - DBK_BANK_PAGE_BYTES : 0);
}

/** dbk_bank_blocks() - where this boot's blocks begin */
static inline void *dbk_bank_blocks(void)
{
	return dbk_bank.memory + dbk_bank_half_offset(dbk_bank.half) + DBK_BANK_PAGE_BYTES;
}

#endif /* DBK_KMOD_BANK_STATE_H */
