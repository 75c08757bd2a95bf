// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - what happens to the machine's time: sleep, and a TSC that is found to be no clock
 *
 * They are entered beside the other triggers, so that a reader of times of a
 * recording can say where they jump.  The kernel does not report that the TSC is
 * unstable: it is asked now and then, as long as records are stamped with it.
 */
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>

#include "engine/api/trigger.h"
#include "arch/clock.h"
#include "kmod/triggers/machine.h"
#include "kmod/triggers/triggers.h"

#define LOOK_INTERVAL HZ

static struct dbk_trigger suspended, resumed, unstable;

static void enter(struct dbk_trigger *trigger)
{
	unsigned long flags = dbk_host_enter();

	dbk_trigger_fire(dbk.engine, trigger, 0);
	dbk_host_leave(flags);
}

static void look(struct work_struct *work);

/* Deferrable: an idle machine is not woken for it. */
static DECLARE_DEFERRABLE_WORK(look_later, look);

static void look(struct work_struct *work)
{
	if (!dbk_clock_is_unstable()) {
		schedule_delayed_work(&look_later, LOOK_INTERVAL);
		return;
	}
	pr_warn("the TSC is unstable: times of records from here on may be wrong\n");
	enter(&unstable);
}

/* Open segments are closed: a TSC may restart, and each segment has one pair of it and
 * CLOCK_MONOTONIC.  Processes still run, and may end a ring: that waits for us. */
static void close_segments(void)
{
	rcu_read_lock();
	dbk_dying_seal(DBK_SEAL_OPEN);
	rcu_read_unlock();
}

/* Before the sleep too, since not every machine comes back. */
static int on_sleep(struct notifier_block *block, unsigned long event, void *unused)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		enter(&suspended);
		close_segments();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		close_segments();
		enter(&resumed);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block sleep_block = { .notifier_call = on_sleep };

void dbk_clock_watch(void)
{
	dbk_trigger_init(&suspended, DBK_TRIGGER_SLEEP, 0, "suspend", 0);
	dbk_trigger_init(&resumed, DBK_TRIGGER_SLEEP, 0, "resume", 0);
	dbk_trigger_init(&unstable, DBK_TRIGGER_CLOCK, 0, "tsc-unstable", 0);
	register_pm_notifier(&sleep_block);
	if (dbk_clock_tsc())
		schedule_delayed_work(&look_later, LOOK_INTERVAL);
}

void dbk_clock_unwatch(void)
{
	cancel_delayed_work_sync(&look_later);
	unregister_pm_notifier(&sleep_block);
}
