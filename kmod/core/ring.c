// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c - making, finding and ending rings
 */
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/utsname.h>

#include "kmod/bank/bank.h"
#include "kmod/core/native.h"
#include "kmod/core/rights.h"
#include "kmod/core/ring.h"
#include "kmod/maps/maps.h"
#include "kmod/providers/places.h"
#include "kmod/providers/provider.h"
#include "kmod/triggers/console.h"
#include "kmod/triggers/machine.h"

/* 250 ms: soon enough for the END of a program that called exit() and for sealing, rare enough to
 * cost nothing. */
#define DRAIN_INTERVAL msecs_to_jiffies(250)
/* 16: a program with many clauses about modules that come later need not fill the kernel's log. */
#define WAITING_SAID_MAX 16
/* 20 ms: when a worker looks again whether a long operation is over. */
#define RETRY_INTERVAL msecs_to_jiffies(20)

/* A region's mmap() offset holds its ring and its index in it; a block is at most 4 MiB. */
#define OFFSET_RING_SHIFT  46
#define OFFSET_INDEX_SHIFT 22
#define OFFSET_INDEX_MASK  ((1ull << (OFFSET_RING_SHIFT - OFFSET_INDEX_SHIFT)) - 1)

/* A program says itself that it is destructive (dtrace -w); who loads the module may forbid it.
 */
static bool destructive_disallow;
module_param(destructive_disallow, bool, 0644);
MODULE_PARM_DESC(destructive_disallow, "refuse programs that set option destructive");

struct dbk_ring *dbk_ring_find(u32 ring_id)
{
	struct dbk_ring *ring;

	dbk_look_assert();
	list_for_each_entry(ring, &dbk.rings, link)
		if (dbk_consumer_ring_id(ring->consumer) == ring_id)
			return ring;
	return NULL;
}

struct dbk_ring *dbk_ring_find_named(const char *name)
{
	struct dbk_ring *ring;

	dbk_look_assert();
	list_for_each_entry(ring, &dbk.rings, link)
		if (strcmp(dbk_consumer_ring(ring->consumer)->name, name) == 0)
			return ring;
	return NULL;
}

void dbk_ring_own(struct dbk_ring *ring, struct file *owner)
{
	dbk_state_assert();
	mutex_lock(&dbk.look_mutex);
	ring->owner = owner;
	if (owner) {
		ring->holder_pid = task_tgid_nr(current);
		get_task_comm(ring->holder_comm, current);
	}
	mutex_unlock(&dbk.look_mutex);
}

/* An id that no ring has; 0 when all are taken.  Ids are not reused soon. */
static u16 ring_id_next(void)
{
	u32 tries;

	for (tries = 0; tries < U16_MAX; tries++) {
		dbk.ring_id_last++;
		if (dbk.ring_id_last != 0 && !dbk_ring_find(dbk.ring_id_last))
			return dbk.ring_id_last;
	}
	return 0;
}

/* Offsets of kernel structures are compiled in: another kernel would make them wrong reads. */
static int target_check(const struct dbk_program *program, struct dbk_reason *reason)
{
	const char *release;
	u8 btf_id[16];
	bool typed;

	if (!dbk_program_target(program, &release, &typed, btf_id) || !typed ||
	    release[0] == '\0' || strcmp(release, init_utsname()->release) == 0)
		return 0;
	scnprintf(reason->text, sizeof(reason->text),
		  "compiled with the types of kernel %.64s, this is %.64s: compile it again for "
		  "this kernel",
		  release, init_utsname()->release);
	return -ENOEXEC;
}

static u64 ring_memory_bytes(const struct dbk_ring *ring)
{
	struct dbk_region region;
	u64 bytes = 0;
	u32 index;

	for (index = 0; dbk_consumer_region(ring->consumer, index, &region); index++)
		bytes += region.pages->bytes;
	return bytes + dbk_consumer_speculation_bytes(ring->consumer);
}

/* Whether [S] was to be had; if not, @work comes again soon. */
static bool lock_or_later(struct delayed_work *work)
{
	bool locked = mutex_trylock(&dbk.mutex);

	if (!locked)
		schedule_delayed_work(work, RETRY_INTERVAL);
	return locked;
}

/* ---- the cleaner of speculations ---------------------------------------------------------- */

static void clean(struct work_struct *work);

static DECLARE_DELAYED_WORK(clean_work, clean);

/* At least one: cleanrate may be shorter than a jiffy. */
static unsigned long clean_interval(const struct dbk_ring *ring)
{
	unsigned long interval = nsecs_to_jiffies(dbk_consumer_clean_interval_ns(ring->consumer));

	return interval ? interval : 1;
}

/* Cleans the rings whose time has come, and comes again for the next; while there is one. */
static void clean(struct work_struct *work)
{
	unsigned long wait = MAX_JIFFY_OFFSET, now = jiffies;
	struct dbk_ring *ring;

	if (!lock_or_later(&clean_work))
		return;
	list_for_each_entry(ring, &dbk.rings, link) {
		if (dbk_consumer_clean_interval_ns(ring->consumer) == 0)
			continue;
		if (time_after_eq(now, ring->clean_due)) {
			dbk_consumer_clean(ring->consumer);
			ring->clean_due = now + clean_interval(ring);
		}
		/* Of one reading: due is never before it, and the wait never for ever. */
		wait = min(wait, ring->clean_due - now);
	}
	mutex_unlock(&dbk.mutex);
	if (wait != MAX_JIFFY_OFFSET)
		schedule_delayed_work(&clean_work, wait);
}

static void clean_start(struct dbk_ring *ring)
{
	if (dbk_consumer_clean_interval_ns(ring->consumer) == 0)
		return;
	ring->clean_due = jiffies + clean_interval(ring);
	mod_delayed_work(system_wq, &clean_work, 1);
}

static void grow_start(const struct dbk_ring *ring);

static int ring_enable(struct dbk_ring *ring, const struct dbk_requester *requester)
{
	struct dbk_reason *reason = requester->reason;
	int err;

	err = dbk_providers_prepare(requester);
	if (err)
		return err;
	err = dbk_consumer_enable(ring->consumer, reason, &ring->matched);
	dbk_providers_prepare_end();
	if (err && reason->text[0] == '\0')
		scnprintf(reason->text, sizeof(reason->text),
			  "a probe could not be enabled (error %d)", -err);
	if (err)
		return err;
	err = dbk_consumer_start(ring->consumer);
	if (err)
		scnprintf(reason->text, sizeof(reason->text), "cannot start (error %d)", -err);
	return err;
}

/*
 * What is embedded is there for the boot after a crash, so its buffers are halved until they fit
 * into the bank (bufresize=manual: they do not).  When that is not enough they lie outside.
 */
static int consumer_create(struct dbk_program *program, const struct dbk_consumer_config *config,
			   struct dbk_reason *reason, struct dbk_ring *ring)
{
	struct dbk_consumer_config inside = *config;
	int err = -ENOMEM;

	inside.pages_from = DBK_PAGES_BANK;
	if (config->anonymous && dbk_bank_is_used()) {
		err = dbk_consumer_create(dbk.engine, program, &inside, reason, &ring->consumer);
		if (err == -ENOMEM)
			pr_warn("ring %s does not fit into the bank, it lies in ordinary memory\n",
				config->name);
	}
	if (err == -ENOMEM)
		err = dbk_consumer_create(dbk.engine, program, config, reason, &ring->consumer);
	return err;
}

/* In the kernel's log, and as a line of @remark for who enables it live. */
static void lowered_say(const struct dbk_ring *ring, const char *name, struct dbk_reason *remark)
{
	static const char *const units[] = { " bytes", "k", "m", "g" };
	unsigned int which, unit;
	u64 bytes;

	for (which = 0; which < DBK_SIZE_COUNT; which++) {
		const char *size = dbk_consumer_lowered(ring->consumer, which, &bytes);
		size_t used = strlen(remark->text);

		if (!size)
			continue;
		for (unit = 0; unit < ARRAY_SIZE(units) - 1 && bytes % 1024 == 0; unit++)
			bytes /= 1024;
		pr_warn("ring %s: %s lowered to %llu%s\n", name, size, bytes, units[unit]);
		if (!ring->anonymous)
			scnprintf(remark->text + used, sizeof(remark->text) - used,
				  "%s%s lowered to %llu%s", used ? "\n" : "", size, bytes,
				  units[unit]);
	}
}

/* A typing mistake would show only as a recording without records. */
static void waiting_say(const struct dbk_ring *ring, const char *name)
{
	const struct dbk_probedesc *description;
	u32 clause = 0, count = 0;

	while ((description = dbk_consumer_waiting(ring->consumer, &clause)) != NULL)
		if (count++ < WAITING_SAID_MAX)
			pr_warn("ring %s: %s:%s:%s:%s matches no probe\n", name,
				description->provider, description->module, description->function,
				description->name);
	if (count > WAITING_SAID_MAX)
		pr_warn("ring %s: %u more descriptions match no probe\n", name,
			count - WAITING_SAID_MAX);
}

static int ring_create(struct dbk_program *program, const char *name, struct file *owner,
		       struct dbk_reason *reason, struct dbk_ring **ring_ret)
{
	struct dbk_consumer_config config = {
		.name = name,
		.ring_id = ring_id_next(),
		.anonymous = owner == NULL,
		.destructive = !READ_ONCE(destructive_disallow),
		.aggregate_default = owner ? DBK_AGGREGATE_ENGINE : DBK_AGGREGATE_RECORD,
	};
	struct dbk_ring *ring;
	int err;

	ring = kzalloc(sizeof(*ring), GFP_KERNEL);
	if (!ring || config.ring_id == 0) {
		kfree(ring);
		strscpy(reason->text, "no memory, or too many rings", sizeof(reason->text));
		return -ENOMEM;
	}
	err = consumer_create(program, &config, reason, ring);
	if (err) {
		kfree(ring);
		return err;
	}
	dbk_native_bind(ring->consumer, name, config.anonymous);
	dbk_ring_own(ring, owner);
	ring->anonymous = owner == NULL;
	ring->memory_bytes = ring_memory_bytes(ring);
	mutex_lock(&dbk.look_mutex);
	list_add_tail(&ring->link, &dbk.rings);
	mutex_unlock(&dbk.look_mutex);
	dbk_dying_add(ring->consumer);
	clean_start(ring);
	grow_start(ring);
	*ring_ret = ring;
	return 0;
}

int dbk_loaded_create(const void *untrusted_dof, size_t bytes, struct dbk_reason *reason,
		      struct dbk_loaded *loaded_ret)
{
	struct dbk_loaded loaded = {};
	int err;

	reason->text[0] = '\0';
	err = dbk_program_load(untrusted_dof, bytes, reason, &loaded.program);
	if (err)
		return err;
	err = target_check(loaded.program, reason);
	if (!err) {
		struct dbk_requester requester = { loaded.program, current, reason };

		err = dbk_place_files_open(&requester, &loaded.files);
	}
	if (err)
		dbk_loaded_destroy(&loaded);
	else
		*loaded_ret = loaded;
	return err;
}

void dbk_loaded_destroy(struct dbk_loaded *loaded)
{
	dbk_place_files_close(&loaded->files);
	dbk_program_destroy(loaded->program);
}

int dbk_ring_create(struct dbk_loaded *loaded, const char *name, struct file *owner,
		    struct dbk_reason *reason, struct dbk_ring **ring_ret)
{
	struct dbk_reason remark = { "" };
	struct dbk_places places = { NULL, 0 };
	struct dbk_program *program = loaded->program;
	struct dbk_requester requester = { program, current, reason };
	struct dbk_ring *ring;
	bool wants_maps;
	int err;

	dbk_state_assert();
	reason->text[0] = '\0';
	err = dbk_rights_restrict(program, &remark, reason);
	if (!err)
		err = dbk_places_get(&requester, &loaded->files, &places);
	wants_maps = !err && dbk_program_names_users(program);
	if (wants_maps)
		err = dbk_maps_get(); /* before the ring: the bank's room is for both */
	if (!err) {
		dbk_console_want();
		dbk_providers_prepare_begin(&requester);
		err = ring_create(program, name, owner, reason, &ring);
	}
	if (err) {
		dbk_providers_prepare_end();
		if (wants_maps)
			dbk_maps_put();
		dbk_places_put(&places);
		return err;
	}
	loaded->program = NULL; /* the ring's */
	ring->wants_maps = wants_maps;
	ring->places = places;
	err = ring_enable(ring, &requester);
	if (err) {
		dbk_ring_destroy(ring);
		return err;
	}
	lowered_say(ring, name, &remark);
	waiting_say(ring, name);
	dbk_places_say(&ring->places, name, &remark);
	*reason = remark;
	mutex_lock(&dbk.look_mutex);
	ring->ready = true;
	mutex_unlock(&dbk.look_mutex);
	*ring_ret = ring;
	return 0;
}

int dbk_ring_stop(struct dbk_ring *ring)
{
	dbk_state_assert();
	dbk_providers_book();
	return dbk_consumer_stop(ring->consumer);
}

/* What the deadman ended is stopped here, whichever process owns it: its segments are to be sealed. */
static void bury(struct dbk_ring *ring)
{
	if (ring->abort_said || dbk_consumer_activity(ring->consumer) != DBK_ACTIVITY_KILLED)
		return;
	dbk_consumer_stop(ring->consumer);
	pr_warn("ring %s: Abort due to systemic unresponsiveness: its clauses took more than %u of %u seconds of a CPU\n",
		dbk_consumer_ring(ring->consumer)->name,
		(u32)(DBK_DEADMAN_BUSY_NS / NSEC_PER_SEC),
		(u32)(DBK_DEADMAN_WINDOW_NS / NSEC_PER_SEC));
	ring->abort_said = true;
}

void dbk_ring_destroy(struct dbk_ring *ring)
{
	dbk_state_assert();
	/* Its owner may have seen the end before drain() came to say so. */
	bury(ring);
	mutex_lock(&dbk.look_mutex);
	list_del(&ring->link);
	mutex_unlock(&dbk.look_mutex);
	/* A CPU that is sealing it now has left before the consumer is freed: that waits. */
	dbk_dying_remove(ring->consumer);
	dbk_consumer_destroy(ring->consumer);
	dbk_places_put(&ring->places);
	if (ring->wants_maps)
		dbk_maps_put();
	kfree(ring);
	dbk_providers_retire();
}

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

u32 dbk_rings_count(bool unclaimed_only)
{
	struct dbk_ring *ring;
	u32 count = 0;

	dbk_look_assert();
	list_for_each_entry(ring, &dbk.rings, link)
		if (ring->ready && (!unclaimed_only || !ring->owner))
			count++;
	return count;
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

/* ---- tending -------------------------------------------------------------------------------- */

static void grow(struct work_struct *work);

static DECLARE_DELAYED_WORK(grow_work, grow);

/* A ring that lies in the bank stays there: what it had outside would be a hole after a crash. */
static void grow_one(struct dbk_ring *ring)
{
	u64 inside, outside;

	dbk_rings_bank_bytes(dbk_consumer_ring_id(ring->consumer), &inside, &outside);
	dbk_consumer_tend(ring->consumer, outside == 0 ? DBK_PAGES_BANK : DBK_PAGES_ANYWHERE);
}

/* Rings with option ringtime, as long as there is one: a late growth would overwrite history. */
static void grow(struct work_struct *work)
{
	struct dbk_ring *ring;
	u64 wait_ns = 0;

	if (!lock_or_later(&grow_work))
		return;
	list_for_each_entry(ring, &dbk.rings, link) {
		if (!dbk_consumer_grows(ring->consumer))
			continue;
		grow_one(ring);
		wait_ns = dbk_consumer_tend_interval_ns(ring->consumer);
	}
	mutex_unlock(&dbk.mutex);
	if (wait_ns != 0)
		schedule_delayed_work(&grow_work, nsecs_to_jiffies(wait_ns));
}

static void grow_start(const struct dbk_ring *ring)
{
	if (dbk_consumer_grows(ring->consumer))
		mod_delayed_work(system_wq, &grow_work, 1);
}

/*
 * exit() cannot stop its ring from inside a probe: END, and the waiting, happen here.
 * A ring that a program made through the device is stopped by that program, when it
 * has seen the exit: statusrate.
 */
static void drain(struct work_struct *work)
{
	struct dbk_ring *ring;

	if (!lock_or_later(&dbk.drain_work))
		return;
	dbk_providers_book();
	dbk_maps_look();
	list_for_each_entry(ring, &dbk.rings, link) {
		if ((ring->anonymous || !ring->owner) &&
		    dbk_consumer_activity(ring->consumer) == DBK_ACTIVITY_DRAINING)
			dbk_ring_stop(ring);
		bury(ring);
		if (!dbk_consumer_grows(ring->consumer))
			dbk_consumer_tend(ring->consumer, DBK_PAGES_ANYWHERE);
	}
	mutex_unlock(&dbk.mutex);
	schedule_delayed_work(&dbk.drain_work, DRAIN_INTERVAL);
}

/* ---- rings of a file that was closed ---------------------------------------------------------- */

static void rings_destroy_of(struct file *owner)
{
	struct dbk_ring *ring, *next;

	dbk_state_assert();
	list_for_each_entry_safe(ring, next, &dbk.rings, link)
		if (ring->owner == owner)
			dbk_ring_destroy(ring);
}

static void reap(struct work_struct *work);

static DECLARE_DELAYED_WORK(reap_work, reap);

static void reap(struct work_struct *work)
{
	if (!lock_or_later(&reap_work))
		return;
	rings_destroy_of(DBK_OWNER_GONE);
	dbk_providers_retire();
	mutex_unlock(&dbk.mutex);
}

void dbk_rings_leave(struct file *owner, bool asked)
{
	struct dbk_ring *ring;
	bool left = asked;

	if (mutex_trylock(&dbk.mutex)) {
		rings_destroy_of(owner);
		if (asked)
			dbk_providers_retire();
		mutex_unlock(&dbk.mutex);
		return;
	}
	mutex_lock(&dbk.look_mutex);
	list_for_each_entry(ring, &dbk.rings, link) {
		if (ring->owner != owner)
			continue;
		ring->owner = DBK_OWNER_GONE;
		left = true;
	}
	mutex_unlock(&dbk.look_mutex);
	if (left)
		schedule_delayed_work(&reap_work, RETRY_INTERVAL);
}

void dbk_drain_start(void)
{
	/* Deferrable: an idle machine is not woken for it. */
	INIT_DEFERRABLE_WORK(&dbk.drain_work, drain);
	schedule_delayed_work(&dbk.drain_work, DRAIN_INTERVAL);
}

void dbk_drain_end(void)
{
	cancel_delayed_work_sync(&dbk.drain_work);
	cancel_delayed_work_sync(&clean_work);
	cancel_delayed_work_sync(&grow_work);
	cancel_delayed_work_sync(&reap_work);
}
