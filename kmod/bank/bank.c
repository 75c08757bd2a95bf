// SPDX-License-Identifier: GPL-2.0-only
/*
 * bank.c - takes this boot's half of the bank, and says in it how the boot ended (docs/design/0017-banks.md)
 *
 * A reset may come at any time, and loses what is in the caches: what is in the half
 * is written back to memory every second or so, and once more by a panic, after
 * the sealer of the segments.
 */
#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/ktime.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/rcupdate.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/utsname.h>
#include <linux/workqueue.h>

#include "engine/api/crc32c.h"
#include "kmod/bank/state.h"
#include "kmod/triggers/machine.h"

/* A pass of writing back is not to take more than a thousandth of a CPU. */
#define WRITE_BACK_SHARE    1000
#define WRITE_BACK_INTERVAL HZ

/* Between two of these others may run: a bank of gigabytes takes seconds. */
#define STEP_BYTES (4ull << 20)

static char *bank_text;
module_param_named(bank, bank_text, charp, 0400);
MODULE_PARM_DESC(bank, "reserved memory for rings: SIZE@ADDRESS of memmap=SIZE$ADDRESS, or the "
		       "name of a reserve_mem=");

static bool salvage;
module_param(salvage, bool, 0400);
MODULE_PARM_DESC(salvage, "only show what earlier boots left in the bank; record nothing");

struct dbk_bank_state_vars dbk_bank = {
	.mutex = __MUTEX_INITIALIZER(dbk_bank.mutex),
	.half = DBK_BANK_NO_HALF,
};

/* ---- taking a half ------------------------------------------------------------------------- */

/*
 * The generation of a half, 0 when no boot recorded into it or its header is lost.
 * One of another version counts: its first 16 bytes mean the same in all versions.
 */
static u64 generation_of(u32 half)
{
	u32 copy;

	for (copy = 0; copy < 2; copy++) {
		const struct dbk_bank_half *header = dbk_bank_half_header(half, copy);

		if (header->magic != DBK_BANK_HALF_MAGIC || header->half != half)
			continue;
		if (header->version != DBK_BANK_VERSION ||
		    dbk_crc32c(0, header, offsetof(struct dbk_bank_half, crc32c)) == header->crc32c)
			return header->generation;
	}
	return 0;
}

/* The half to overwrite, and the generation that it gets. */
static u32 half_choose(u64 *generation_ret)
{
	const struct dbk_bank_header *header = dbk_bank.memory;
	u64 generations[DBK_BANK_HALVES] = { generation_of(0), generation_of(1) };
	u64 crc = dbk_crc32c(0, header, offsetof(struct dbk_bank_header, crc32c));

	/* Of a half that lost both its headers the bank's may still say that it is the later one.
	 */
	if (header->magic == DBK_BANK_MAGIC && header->version == DBK_BANK_VERSION &&
	    header->crc32c == crc && header->half < DBK_BANK_HALVES &&
	    generations[header->half] == 0)
		generations[header->half] = header->generation;
	*generation_ret = max(generations[0], generations[1]) + 1;
	return generations[1] < generations[0] ? 1 : 0;
}

static void half_headers_write(void)
{
	struct dbk_bank_half header = {
		.magic = DBK_BANK_HALF_MAGIC,
		.version = DBK_BANK_VERSION,
		.half = dbk_bank.half,
		.generation = dbk_bank.generation,
		.phys_addr = dbk_bank.place.address + dbk_bank_half_offset(dbk_bank.half),
		.half_bytes = dbk_bank.half_bytes,
		.data_offset = DBK_BANK_PAGE_BYTES,
		.data_bytes = dbk_bank.page_count * PAGE_SIZE,
		.boot_id = dbk.boot_id,
		.start_mono_ns = ktime_get_ns(),
		.start_wall_ns = ktime_get_real_ns(),
		.state = DBK_BANK_RECORDING,
		.state_check = ~(u32)DBK_BANK_RECORDING,
	};
	u32 copy;

	memcpy(header.boot_uuid, dbk.boot_uuid, sizeof(header.boot_uuid));
	strscpy(header.release, init_utsname()->release, sizeof(header.release));
	strscpy(header.module_version, THIS_MODULE->version ?: "", sizeof(header.module_version));
	header.crc32c = dbk_crc32c(0, &header, offsetof(struct dbk_bank_half, crc32c));
	for (copy = 0; copy < 2; copy++) {
		memcpy(dbk_bank_half_header(dbk_bank.half, copy), &header, sizeof(header));
		arch_wb_cache_pmem(dbk_bank_half_header(dbk_bank.half, copy), sizeof(header));
	}
}

static void bank_header_write(void)
{
	struct dbk_bank_header header = {
		.magic = DBK_BANK_MAGIC,
		.version = DBK_BANK_VERSION,
		.half = dbk_bank.half,
		.bank_bytes = dbk_bank.place.bytes,
		.phys_addr = dbk_bank.place.address,
		.half_bytes = dbk_bank.half_bytes,
		.half_offset = { dbk_bank_half_offset(0), dbk_bank_half_offset(1) },
		.generation = dbk_bank.generation,
	};

	header.crc32c = dbk_crc32c(0, &header, offsetof(struct dbk_bank_header, crc32c));
	memset(dbk_bank.memory, 0, DBK_BANK_PAGE_BYTES);
	memcpy(dbk_bank.memory, &header, sizeof(header));
	arch_wb_cache_pmem(dbk_bank.memory, sizeof(header));
}

/* From here on the half belongs to no boot until its header is written: a reset in between leaves nothing.
 */
static void half_take(void)
{
	u64 at;

	dbk_bank.half = half_choose(&dbk_bank.generation);
	dbk_bank_half_header(dbk_bank.half, false)->magic = 0;
	dbk_bank_half_header(dbk_bank.half, true)->magic = 0;
	arch_wb_cache_pmem(dbk_bank_half_header(dbk_bank.half, false),
			   sizeof(struct dbk_bank_half));
	arch_wb_cache_pmem(dbk_bank_half_header(dbk_bank.half, true), sizeof(struct dbk_bank_half));
	for (at = 0; at < dbk_bank.half_bytes; at += STEP_BYTES) {
		memset(dbk_bank.memory + dbk_bank_half_offset(dbk_bank.half) + at, 0,
		       min(dbk_bank.half_bytes - at, STEP_BYTES));
		cond_resched();
	}
	half_headers_write();
	bank_header_write();
}

/* One word, and its complement.  Context: Any. */
static void state_set(u32 state)
{
	u32 copy;

	if (dbk_bank.use != DBK_BANK_USE_RECORDS)
		return;
	for (copy = 0; copy < 2; copy++) {
		struct dbk_bank_half *header = dbk_bank_half_header(dbk_bank.half, copy);

		WRITE_ONCE(header->state, state);
		WRITE_ONCE(header->state_check, ~state);
		arch_wb_cache_pmem(&header->state, sizeof(header->state) * 2);
	}
}

/*
 * By line, whichever cache has it.  What no CPU has in a cache costs a look-up.
 *
 * Context: Any; with @pause one that may sleep.
 */
static void write_back(bool pause)
{
	u64 bytes = READ_ONCE(dbk_bank.used_count) * PAGE_SIZE, at;

	for (at = 0; at < bytes; at += STEP_BYTES) {
		arch_wb_cache_pmem(dbk_bank_blocks() + at, min(bytes - at, STEP_BYTES));
		if (pause)
			cond_resched();
	}
}

static void write_back_work(struct work_struct *work);

/* Deferrable: what an idle machine has recorded was written back by the last pass. */
static DECLARE_DEFERRABLE_WORK(write_back_later, write_back_work);

static void write_back_work(struct work_struct *work)
{
	u64 began_ns = ktime_get_ns(), took_ns;

	write_back(true);
	took_ns = ktime_get_ns() - began_ns;
	schedule_delayed_work(&write_back_later,
			      max_t(unsigned long, WRITE_BACK_INTERVAL,
				    nsecs_to_jiffies(took_ns * WRITE_BACK_SHARE)));
}

static int on_panic(struct notifier_block *block, unsigned long action, void *data)
{
	state_set(DBK_BANK_PANIC);
	write_back(false);
	return NOTIFY_DONE;
}

/* The last: the sealer has done it.  With a crash kernel there is no reset, nor this. */
static struct notifier_block panic_block = { .notifier_call = on_panic, .priority = INT_MIN };

static int on_reboot(struct notifier_block *block, unsigned long action, void *data)
{
	state_set(DBK_BANK_IN_ORDER);
	/* A ring that goes meanwhile waits until its segments are not looked at. */
	rcu_read_lock();
	dbk_dying_seal(DBK_SEAL_OPEN);
	rcu_read_unlock();
	write_back(true);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_block = { .notifier_call = on_reboot };

/* ---- coming and going ---------------------------------------------------------------------- */

static void refuse(const char *reason)
{
	dbk_bank.use = DBK_BANK_USE_REFUSED;
	strscpy(dbk_bank.reason, reason, sizeof(dbk_bank.reason));
	pr_err("bank refused: %s; rings lie in ordinary memory\n", reason);
}

static void unmap(void)
{
	bitmap_free(dbk_bank.taken);
	if (dbk_bank.memory)
		memunmap(dbk_bank.memory);
	if (dbk_bank.claimed)
		release_mem_region(dbk_bank.place.address, dbk_bank.place.bytes);
	dbk_bank.taken = NULL;
	dbk_bank.memory = NULL;
	dbk_bank.claimed = false;
}

/* Mapped, and, when it will be written to, no other user's. */
static const char *map(void)
{
	dbk_bank.half_bytes =
		round_down((dbk_bank.place.bytes - DBK_BANK_PAGE_BYTES) / DBK_BANK_HALVES,
			   DBK_BANK_PAGE_BYTES);
	dbk_bank.page_count = dbk_bank.half_bytes / PAGE_SIZE - 2;
	if (!dbk_bank.place.named && !salvage) {
		if (!request_mem_region(dbk_bank.place.address, dbk_bank.place.bytes,
					"daybreak bank"))
			return "another user has claimed that memory";
		dbk_bank.claimed = true;
	}
	dbk_bank.memory = memremap(dbk_bank.place.address, dbk_bank.place.bytes, MEMREMAP_WB);
	if (!dbk_bank.memory)
		return "it cannot be mapped";
	if (salvage)
		return NULL;
	dbk_bank.taken = bitmap_zalloc(dbk_bank.page_count, GFP_KERNEL);
	return dbk_bank.taken ? NULL : "no memory";
}

void dbk_bank_init(void)
{
	const char *problem;

	if (!bank_text || bank_text[0] == '\0')
		return;
	if (!dbk_bank_place_find(bank_text, salvage, &dbk_bank.place, dbk_bank.reason)) {
		refuse(dbk_bank.reason);
		return;
	}
	problem = map();
	if (problem) {
		unmap();
		refuse(problem);
		return;
	}
	if (salvage) {
		dbk_bank.use = DBK_BANK_USE_SALVAGE;
		pr_info("bank of %llu KiB at 0x%llx is only read\n", dbk_bank.place.bytes >> 10,
			(u64)dbk_bank.place.address);
		return;
	}
	half_take();
	dbk_bank.free_count = dbk_bank.page_count;
	dbk_bank.use = DBK_BANK_USE_RECORDS;
	register_reboot_notifier(&reboot_block);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	schedule_delayed_work(&write_back_later, WRITE_BACK_INTERVAL);
	pr_info("bank of %llu KiB at 0x%llx: recording into half %u, generation %llu\n",
		dbk_bank.place.bytes >> 10, (u64)dbk_bank.place.address, dbk_bank.half,
		dbk_bank.generation);
}

void dbk_bank_exit(void)
{
	if (dbk_bank.use == DBK_BANK_USE_RECORDS) {
		cancel_delayed_work_sync(&write_back_later);
		atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
		unregister_reboot_notifier(&reboot_block);
		state_set(DBK_BANK_UNLOADED);
	}
	unmap();
}

void dbk_bank_leave(void)
{
	dbk_bank.leaving = true;
}

bool dbk_bank_salvage(void)
{
	return salvage;
}
