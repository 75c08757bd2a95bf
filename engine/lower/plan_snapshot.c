/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* plan_snapshot.c - snapshot(): its value in the record, and the trigger of its name; see plan.h */
#include "engine/api/trigger.h"
#include "engine/lower/plan.h"
#include "engine/memory/speculation.h"
#include "engine/run/dif.h"

static bool same_name(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The consumer's trigger of that name: actions with the same name share its rate limit. */
static uint32_t find_trigger(struct dbk_consumer *consumer, const char *name)
{
	uint64_t interval_ns = DBK_SNAPSHOTRATE_DEFAULT_NS;
	uint32_t i;

	for (i = 0; i < consumer->trigger_count; i++)
		if (same_name(consumer->triggers[i].name, name))
			return i;
	if (consumer->trigger_count == DBK_SNAPSHOT_NAMES_MAX)
		return DBK_SNAPSHOT_NAMES_MAX;
	dbk_program_option(consumer->program, DBK_OPT_SNAPSHOTRATE, &interval_ns);
	dbk_trigger_init(&consumer->triggers[i], DBK_TRIGGER_ACTION, consumer->ring_id, name,
			 interval_ns > INT64_MAX ? INT64_MAX : interval_ns);
	consumer->trigger_count++;
	return i;
}

int dbk_plan_snapshot(struct dbk_planner *p, struct dbk_area *area, uint32_t action, uint8_t flags)
{
	const struct dbk_actdesc *desc = &p->desc->actions[action];
	struct dbk_consumer *consumer = p->consumer;
	uint32_t index;

	if (consumer->triggers == NULL)
		consumer->triggers =
			dbk_host_alloc(DBK_SNAPSHOT_NAMES_MAX * sizeof(*consumer->triggers));
	if (consumer->triggers == NULL)
		return dbk_refuse(p->reason, -ENOMEM, "no memory for the names of snapshots");
	index = find_trigger(consumer, desc->text);
	if (index == DBK_SNAPSHOT_NAMES_MAX)
		return dbk_refuse(p->reason, -E2BIG, "snapshot() has more than %u names",
				  DBK_SNAPSHOT_NAMES_MAX);
	dbk_plan_integer(p, area, action, DBK_STEP_SNAPSHOT, &desc->difo->expr, 8, flags);
	p->plan->steps[p->plan->step_count - 1].aggregation = index;
	return 0;
}
