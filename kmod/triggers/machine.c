// SPDX-License-Identifier: GPL-2.0-only
/*
 * machine.c - META_LOG and META_CRASH, and sealing, in a machine that may be dying; see machine.h
 */
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/time64.h>

#include "kmod/triggers/machine.h"

#define LOG_BLOCK_BYTES	   (64u << 10) /* the last thousand lines or so; a power of two: no waste */
#define LOG_TEXT_BYTES_MAX 1024u       /* of a message; the kernel's own limit */
#define CRASH_BLOCK_BYTES  4096u
#define SEAL_CONSUMERS_MAX 64u
#define SEAL_BUDGET_NS	   (NSEC_PER_SEC / 2)

static_assert(DBK_META_DATA_OFFSET + DBK_CRASH_ENTRIES * sizeof(struct dbk_meta_crash) <=
	      CRASH_BLOCK_BYTES);

static struct dbk_meta_log *log_ring;			/* [C] */
static struct dbk_meta_crash *crash_entries;		/* [C] */
static u32 crash_claimed[DBK_CRASH_ENTRIES];		/* [A] */
static struct dbk_consumer *sealed[SEAL_CONSUMERS_MAX]; /* [R] slots, NULL: free */

/* ---- text -------------------------------------------------------------------- */

__probe_ctx void dbk_dying_text(struct dbk_line *line, const char *text, u32 bytes_max)
{
	u32 i;

	for (i = 0; i < bytes_max && line->used < sizeof(line->text) - 1; i++) {
		if (text[i] == '\0' || text[i] == '\n')
			break;
		line->text[line->used++] = text[i];
	}
	line->text[line->used] = '\0';
}

__probe_ctx void dbk_dying_hex(struct dbk_line *line, u64 value)
{
	char text[19];
	u32 i;

	text[0] = '0';
	text[1] = 'x';
	for (i = 0; i < 16; i++) {
		u32 digit = value >> (60 - 4 * i) & 15;

		text[2 + i] = digit < 10 ? '0' + digit : 'a' + digit - 10;
	}
	text[18] = '\0';
	dbk_dying_text(line, text, sizeof(text));
}

__probe_ctx void dbk_dying_decimal(struct dbk_line *line, u64 value, u32 digits)
{
	char text[21];
	u32 at = sizeof(text) - 1, i;

	text[at] = '\0';
	for (i = 0; i < 20 && (value != 0 || i < digits); i++) {
		text[--at] = '0' + value % 10;
		value /= 10;
	}
	dbk_dying_text(line, text + at, sizeof(text));
}

/* ---- META_LOG ----------------------------------------------------------------- */

/* Two pieces where the ring wraps.  What another CPU reserved meanwhile is elsewhere. */
static __probe_ctx void log_copy(u64 at, const char *text, u32 bytes)
{
	u32 room = log_ring->room_bytes, offset = at % room;
	char *ring = (char *)(log_ring + 1);
	u32 first = bytes < room - offset ? bytes : room - offset;

	memcpy(ring + offset, text, first);
	memcpy(ring, text + first, bytes - first);
}

__probe_ctx void dbk_dying_log(const char *text, u32 bytes)
{
	u64 now_us = dbk_host_mono_ns() / NSEC_PER_USEC, at;
	struct dbk_line time = { .used = 0 };

	if (bytes > LOG_TEXT_BYTES_MAX)
		bytes = LOG_TEXT_BYTES_MAX;
	if (bytes != 0 && text[bytes - 1] == '\n')
		bytes--;
	dbk_dying_text(&time, "[", 1);
	dbk_dying_decimal(&time, now_us / USEC_PER_SEC, 1);
	dbk_dying_text(&time, ".", 1);
	dbk_dying_decimal(&time, now_us % USEC_PER_SEC, 6);
	dbk_dying_text(&time, "] ", 2);
	at = dbk_fetch_add(&log_ring->written_bytes, time.used + bytes + 1);
	log_copy(at, time.text, time.used);
	log_copy(at + time.used, text, bytes);
	log_copy(at + time.used + bytes, "\n", 1);
}

/* ---- META_CRASH ---------------------------------------------------------------- */

__probe_ctx void dbk_dying_mark(enum dbk_crash_state state, const struct dbk_line *reason)
{
	struct dbk_meta_crash *entry = &crash_entries[state - 1];

	bool first = dbk_fetch_add(&crash_claimed[state - 1], 1) == 0;

	/* A panic is seen twice, by its line and by its notifier. */
	if (first || state == DBK_CRASH_OOPS)
		dbk_fetch_add(&entry->count, 1);
	if (!first)
		return;
	entry->cpu = dbk_host_cpu();
	memcpy(entry->reason, reason->text, sizeof(entry->reason));
	entry->ticks = dbk_host_ticks();
	entry->mono_ns = dbk_host_mono_ns();
	entry->wall_ns = dbk_host_wall_ns();
	dbk_store_release(&entry->state, (u32)state);
}

/* ---- sealing -------------------------------------------------------------------- */

__probe_ctx void dbk_dying_seal(enum dbk_seal how)
{
	u64 begin_ns = dbk_host_mono_ns();
	u32 i, cpu, count = 0;

	for (i = 0; i < SEAL_CONSUMERS_MAX; i++) {
		const struct dbk_consumer *consumer = dbk_load_acquire(&sealed[i]);

		for (cpu = 0; consumer && cpu < nr_cpu_ids; cpu++) {
			if (dbk_host_mono_ns() - begin_ns > SEAL_BUDGET_NS)
				return;
			count += dbk_consumer_seal(consumer, cpu, how);
		}
	}
	/* The bank asks from before the block is there until after it has gone; then there are no rings. */
	if (count != 0 && dbk_load_relaxed(&crash_entries[DBK_CRASH_PANIC - 1].state))
		dbk_fetch_add(&crash_entries[DBK_CRASH_PANIC - 1].sealed, count);
}

void dbk_dying_add(struct dbk_consumer *consumer)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < SEAL_CONSUMERS_MAX; i++) {
		if (sealed[i])
			continue;
		dbk_store_release(&sealed[i], consumer);
		return;
	}
}

void dbk_dying_remove(struct dbk_consumer *consumer)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < SEAL_CONSUMERS_MAX; i++)
		if (sealed[i] == consumer)
			dbk_store_release(&sealed[i], NULL);
}

/* ---- the blocks ------------------------------------------------------------------ */

/* All of it committed from the start: it is written in place. */
static void *block_create(u32 index, enum dbk_meta_kind kind, u32 bytes)
{
	struct dbk_pages *pages = &dbk.blocks[index];
	struct dbk_meta_header *header;

	if (!dbk_host_pages_alloc(bytes, DBK_PAGES_ANYWHERE, DBK_CPU_NONE, pages))
		return NULL;
	dbk_meta_block_init(pages, kind, dbk.boot_id, 0);
	header = pages->address;
	dbk_store_release(&header->committed_bytes, bytes);
	return (u8 *)header + DBK_META_DATA_OFFSET;
}

int dbk_machine_create(void)
{
	crash_entries = block_create(DBK_BLOCK_CRASH, DBK_META_CRASH, CRASH_BLOCK_BYTES);
	log_ring = block_create(DBK_BLOCK_LOG, DBK_META_LOG, LOG_BLOCK_BYTES);
	if (!crash_entries || !log_ring) {
		dbk_machine_destroy();
		return -ENOMEM;
	}
	memset(crash_claimed, 0, sizeof(crash_claimed));
	log_ring->room_bytes = LOG_BLOCK_BYTES - DBK_META_DATA_OFFSET - sizeof(*log_ring);
	return 0;
}

void dbk_machine_destroy(void)
{
	dbk_host_pages_free(&dbk.blocks[DBK_BLOCK_LOG]);
	dbk_host_pages_free(&dbk.blocks[DBK_BLOCK_CRASH]);
}
