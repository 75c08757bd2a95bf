// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c - making, finding and ending rings
 */
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "kmod/bank/bank.h"
#include "kmod/core/native.h"
#include "kmod/core/rights.h"
#include "kmod/core/ring.h"
#include "kmod/core/tend.h"
#include "kmod/maps/maps.h"
#include "kmod/providers/places.h"
#include "kmod/providers/provider.h"
#include "kmod/triggers/console.h"
#include "kmod/triggers/machine.h"

/* 16: a program with many clauses about modules that come later need not fill the kernel's log. */
#define WAITING_SAID_MAX 16

/* A program says itself that it is destructive (dtrace -w); who loads the module may forbid it. */
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

static u64 ring_memory_bytes(const struct dbk_ring *ring)
{
	struct dbk_region region;
	u64 bytes = 0;
	u32 index;

	for (index = 0; dbk_consumer_region(ring->consumer, index, &region); index++)
		bytes += region.pages->bytes;
	return bytes + dbk_consumer_speculation_bytes(ring->consumer);
}

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
	dbk_tend(ring);
	*ring_ret = ring;
	return 0;
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
void dbk_ring_bury(struct dbk_ring *ring)
{
	dbk_state_assert();
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
	/* Its owner may have seen the end before a worker came to say so. */
	dbk_ring_bury(ring);
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
