// SPDX-License-Identifier: GPL-2.0-only
/* poll.c - waiting for a trigger: poll(2) of the device; see triggers.h */
#include <linux/irq_work.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "engine/api/trigger.h"
#include "kmod/state.h"
#include "kmod/triggers/triggers.h"

static DECLARE_WAIT_QUEUE_HEAD(waiting);

static void wake(struct irq_work *work)
{
	wake_up_interruptible_poll(&waiting, EPOLLPRI);
}

static struct irq_work wake_work;

/* A probe cannot wake a waiter; the interrupt that this asks for can. */
__probe_ctx void dbk_host_triggered(void)
{
	irq_work_queue(&wake_work);
}

__poll_t dbk_triggered_poll(struct file *file, struct poll_table_struct *table, u64 seen)
{
	poll_wait(file, &waiting, table);
	return dbk_engine_trigger_sequence(dbk.engine) > seen ? EPOLLPRI : 0;
}

void dbk_triggered_init(void)
{
	init_irq_work(&wake_work, wake);
}

void dbk_triggered_drain(void)
{
	irq_work_sync(&wake_work);
}
