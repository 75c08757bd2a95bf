// SPDX-License-Identifier: GPL-2.0-only
/*
 * anonymous.c - enablings that begin with the module and have no owner
 */
#include "kmod/core/anonymous.h"
#include "kmod/core/regions.h"
#include "kmod/core/ring.h"

void dbk_anonymous_refuse(const char *place, const char *file, const char *reason)
{
	pr_err("%s%s refused: %s\n", place, file, reason);
	mutex_lock(&dbk.look_mutex);
	scnprintf(dbk.reason, sizeof(dbk.reason), "%s: %s", file, reason);
	mutex_unlock(&dbk.look_mutex);
}

void dbk_anonymous_enable(const void *untrusted_dof, size_t bytes, const char *place,
			  const char *file, const char *name)
{
	struct dbk_loaded loaded = {};
	struct dbk_reason reason;
	struct dbk_ring *ring;
	int err = dbk_loaded_create(untrusted_dof, bytes, &reason, &loaded);

	if (!err) {
		mutex_lock(&dbk.mutex);
		err = dbk_ring_create(&loaded, name, NULL, &reason, &ring);
		mutex_unlock(&dbk.mutex);
	}
	if (err)
		dbk_anonymous_refuse(place, file, reason.text);
	else if (reason.text[0] != '\0')
		pr_warn("%s%s: %s\n", place, file, reason.text);
	dbk_loaded_destroy(&loaded);
}

void dbk_anonymous_say(void)
{
	u32 rings = 0, probes = 0, ecbs = 0;
	struct dbk_ring *ring;
	u64 bytes = 0;

	dbk_state_assert();
	list_for_each_entry(ring, &dbk.rings, link) {
		if (!ring->anonymous)
			continue;
		rings++;
		probes += ring->matched;
		ecbs += dbk_ring_ecb_count(ring);
		bytes += ring->memory_bytes;
	}
	if (rings != 0)
		pr_info("recording: %u %s, %u probes, %u ECBs, %llu bytes\n", rings,
			rings == 1 ? "ring" : "rings", probes, ecbs, bytes);
}
