// SPDX-License-Identifier: GPL-2.0-only
/*
 * tend.c - what workers do for rings: clean speculations, grow, end those whose program or file has ended
 */
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "kmod/core/regions.h"
#include "kmod/core/ring.h"
#include "kmod/core/tend.h"
#include "kmod/maps/maps.h"
#include "kmod/providers/provider.h"

/* 250 ms: soon enough for the END of a program that called exit() and for sealing, rare enough to
 * cost nothing. */
#define DRAIN_INTERVAL msecs_to_jiffies(250)
/* 20 ms: when a worker looks again whether a long operation is over. */
#define RETRY_INTERVAL msecs_to_jiffies(20)

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

/* ---- rings that grow ---------------------------------------------------------------------- */

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

/* ---- rings whose program ends ------------------------------------------------------------- */

static void drain(struct work_struct *work);

/* Deferrable: an idle machine is not woken for it. */
static DECLARE_DEFERRABLE_WORK(drain_work, drain);

/*
 * exit() cannot stop its ring from inside a probe: END, and the waiting, happen here.
 * A ring that a program made through the device is stopped by that program, when it
 * has seen the exit: statusrate.
 */
static void drain(struct work_struct *work)
{
	struct dbk_ring *ring;

	if (!lock_or_later(&drain_work))
		return;
	dbk_providers_book();
	dbk_maps_look();
	list_for_each_entry(ring, &dbk.rings, link) {
		if ((ring->anonymous || !ring->owner) &&
		    dbk_consumer_activity(ring->consumer) == DBK_ACTIVITY_DRAINING)
			dbk_ring_stop(ring);
		dbk_ring_bury(ring);
		if (!dbk_consumer_grows(ring->consumer))
			dbk_consumer_tend(ring->consumer, DBK_PAGES_ANYWHERE);
	}
	mutex_unlock(&dbk.mutex);
	schedule_delayed_work(&drain_work, DRAIN_INTERVAL);
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

/* ---- all of them -------------------------------------------------------------------------- */

void dbk_tend(struct dbk_ring *ring)
{
	clean_start(ring);
	grow_start(ring);
}

void dbk_tend_begin(void)
{
	schedule_delayed_work(&drain_work, DRAIN_INTERVAL);
}

void dbk_tend_end(void)
{
	cancel_delayed_work_sync(&drain_work);
	cancel_delayed_work_sync(&clean_work);
	cancel_delayed_work_sync(&grow_work);
	cancel_delayed_work_sync(&reap_work);
}
