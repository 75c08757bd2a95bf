/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* trigger.c - entries of META_TRIGGERS; see trigger.h (docs/design/0015-triggers.md) */
#include "engine/api/trigger.h"

#include "engine/memory/buffer.h"

static struct dbk_meta_triggers *head_of(const struct dbk_engine *engine)
{
	return (struct dbk_meta_triggers *)((uint8_t *)engine->triggers.address +
					    DBK_META_DATA_OFFSET);
}

bool dbk_triggers_create(struct dbk_engine *engine)
{
	struct dbk_meta_triggers head = {0, 0, 0};
	struct dbk_meta_header *header;

	if (!dbk_host_pages_alloc(DBK_TRIGGERS_BLOCK_BYTES, DBK_PAGES_ANYWHERE, DBK_CPU_NONE,
				  &engine->triggers))
		return false;
	engine->triggers.bytes = DBK_TRIGGERS_BLOCK_BYTES;
	head.slots = (DBK_TRIGGERS_BLOCK_BYTES - DBK_META_DATA_OFFSET - (uint32_t)sizeof(head)) /
		     (uint32_t)sizeof(struct dbk_meta_trigger);
	dbk_meta_block_init(&engine->triggers, DBK_META_TRIGGERS, engine->boot_id, 0);
	dbk_meta_block_append(&engine->triggers, &head, (uint32_t)sizeof(head));
	/* All of it from the start: entries are written in place. */
	header = engine->triggers.address;
	dbk_store_release(&header->committed_bytes, DBK_TRIGGERS_BLOCK_BYTES);
	return true;
}

void dbk_triggers_destroy(struct dbk_engine *engine)
{
	dbk_host_pages_free(&engine->triggers);
}

const struct dbk_pages *dbk_engine_triggers(const struct dbk_engine *engine)
{
	return &engine->triggers;
}

uint64_t dbk_engine_trigger_sequence(const struct dbk_engine *engine)
{
	return dbk_load_acquire(&head_of(engine)->entered);
}

void dbk_trigger_init(struct dbk_trigger *trigger, enum dbk_trigger_kind kind, uint16_t ring_id,
		      const char *name, uint64_t interval_ns)
{
	uint32_t i;

	for (i = 0; i < DBK_TRIGGER_NAME_BYTES - 1 && name[i] != '\0'; i++)
		trigger->name[i] = name[i];
	trigger->kind = (uint16_t)kind;
	trigger->ring_id = ring_id;
	trigger->interval_ns = interval_ns;
}

__probe_ctx static struct dbk_meta_trigger *slot_of(const struct dbk_engine *engine,
						    uint64_t sequence)
{
	struct dbk_meta_triggers *head =
		(struct dbk_meta_triggers *)((uint8_t *)engine->triggers.address +
					     DBK_META_DATA_OFFSET);
	struct dbk_meta_trigger *entries = (struct dbk_meta_trigger *)(head + 1);

	return &entries[(sequence - 1) % head->slots];
}

/* Whether it may be entered now: of several CPUs at once, one may. */
__probe_ctx static bool is_due(struct dbk_trigger *trigger, uint64_t now_ns)
{
	uint64_t last_ns = dbk_load_relaxed(&trigger->entered_ns);

	/* The clocks of two CPUs may differ a little: what lies before the last is too soon. */
	if (last_ns != 0 && (int64_t)(now_ns - last_ns) < (int64_t)trigger->interval_ns)
		return false;
	return dbk_compare_swap(&trigger->entered_ns, &last_ns, now_ns);
}

__probe_ctx static void suppress(const struct dbk_engine *engine, const struct dbk_trigger *trigger)
{
	uint64_t sequence = dbk_load_acquire(&trigger->sequence);
	struct dbk_meta_trigger *entry;

	if (sequence == 0)
		return; /* the first is being entered on another CPU */
	entry = slot_of(engine, sequence);
	if (dbk_load_acquire(&entry->sequence) == sequence)
		dbk_fetch_add(&entry->suppressed, 1);
}

__probe_ctx uint64_t dbk_trigger_enter(struct dbk_engine *engine, struct dbk_trigger *trigger,
				       uint32_t epid)
{
	struct dbk_meta_triggers *head =
		(struct dbk_meta_triggers *)((uint8_t *)engine->triggers.address +
					     DBK_META_DATA_OFFSET);
	struct dbk_clock_pair now = dbk_clock_pair_read(engine);
	struct dbk_meta_trigger *entry;
	uint64_t sequence;

	/* 0 means never. */
	if (trigger->interval_ns != 0 && !is_due(trigger, now.mono_ns == 0 ? 1 : now.mono_ns)) {
		suppress(engine, trigger);
		return 0;
	}
	sequence = dbk_fetch_add(&head->entered, 1) + 1;
	entry = slot_of(engine, sequence);
	dbk_store_release(&entry->sequence, 0);
	entry->ticks = now.ticks;
	entry->mono_ns = now.mono_ns;
	entry->wall_ns = dbk_host_wall_ns();
	entry->cpu = dbk_host_cpu();
	entry->ring_id = trigger->ring_id;
	entry->kind = trigger->kind;
	entry->epid = epid;
	entry->suppressed = 0;
	memcpy(entry->name, trigger->name, sizeof(entry->name));
	dbk_store_release(&entry->sequence, sequence);
	dbk_store_release(&trigger->sequence, sequence);
	return sequence;
}

__probe_ctx uint64_t dbk_trigger_fire(struct dbk_engine *engine, struct dbk_trigger *trigger,
				      uint32_t epid)
{
	uint64_t sequence = dbk_trigger_enter(engine, trigger, epid);

	if (sequence != 0)
		dbk_host_triggered();
	return sequence;
}
