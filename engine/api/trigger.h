/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * trigger.h - what asks for a snapshot: an action, or something that befell the machine
 *
 * A trigger is entered in the engine's META_TRIGGERS block: when, where, which.
 * Nothing else happens here: the ring has what went before already, and who keeps
 * it (the recorder, or a reader of the ring after a crash) finds the
 * entries as it finds everything else.
 *
 *   dbk_trigger_fire() --rate limit--> entry s of META_TRIGGERS --> dbk_host_triggered()
 *            '--too soon--> `suppressed` of this trigger's last entry
 *
 * The block is written without a lock by any CPU in any context.  A writer takes
 * a number, makes the slot's sequence 0, fills it and stores the sequence last.
 * Two writers meet in one slot only when the ring of entries wraps while one
 * of them writes: rate limits make that a matter of seconds.
 */
#ifndef DBK_ENGINE_TRIGGER_H
#define DBK_ENGINE_TRIGGER_H

#include "engine/api/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DBK_TRIGGERS_BLOCK_BYTES 8192u /* 84 entries: at one a second, the last minute and more */

/* Where a trigger comes from.  The caller's, zeroed before dbk_trigger_init(). */
struct dbk_trigger {
	char name[DBK_TRIGGER_NAME_BYTES]; /* [C] NUL-terminated */
	uint16_t kind;			   /* [C] enum dbk_trigger_kind */
	uint16_t ring_id;		   /* [C] 0: the machine's */
	uint32_t reserved;
	uint64_t interval_ns; /* [C] at least so long between two entries; 0: no limit */
	uint64_t entered_ns;  /* [A] mono ns of the last entry */
	uint64_t sequence;    /* [A] of the last entry, 0: none yet */
};

/** dbk_trigger_init() - @name is cut to what an entry holds */
void dbk_trigger_init(struct dbk_trigger *trigger, enum dbk_trigger_kind kind, uint16_t ring_id,
		      const char *name, uint64_t interval_ns);

/**
 * dbk_trigger_enter() - enters it in META_TRIGGERS, unless it is too soon
 * @epid: of the clause, 0 for the machine's own
 *
 * Context: Any, NMI and a panic included.  Bounded, takes no lock, notifies nothing.
 * Return: the entry's sequence number; 0: it is counted as suppressed.
 */
uint64_t dbk_trigger_enter(struct dbk_engine *engine, struct dbk_trigger *trigger, uint32_t epid);

/** dbk_trigger_fire() - enters it, and lets the host wake who waits; probe context */
uint64_t dbk_trigger_fire(struct dbk_engine *engine, struct dbk_trigger *trigger, uint32_t epid);

/** dbk_engine_triggers() - the META_TRIGGERS block, for the host to list; ring_id 0 */
const struct dbk_pages *dbk_engine_triggers(const struct dbk_engine *engine);

/** dbk_engine_trigger_sequence() - of the newest entry, 0: there was none */
uint64_t dbk_engine_trigger_sequence(const struct dbk_engine *engine);

/** dbk_triggers_create() - the engine's block; false: no memory */
bool dbk_triggers_create(struct dbk_engine *engine);

/** dbk_triggers_destroy() - frees it; fine when there is none */
void dbk_triggers_destroy(struct dbk_engine *engine);

#ifdef __cplusplus
}
#endif
#endif /* DBK_ENGINE_TRIGGER_H */
