// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the module comes and goes
 *
 * Coming: the clock, the engine, what befalls the machine, the providers' probes,
 * the device; then the programs embedded in it, and those that lie beside it.  A refused
 * program leaves the module loaded and says why.
 * Going: rings first, so that nothing is hooked; then all else in reverse.  The
 * kernel does not unload the module while the device is open or mapped.
 */
#include <linux/cpumask.h>
#include <linux/module.h>

#include "arch/clock.h"
#include "arch/stack.h"
#include "arch/unwind.h"
#include "kmod/bank/bank.h"
#include "kmod/control/device.h"
#include "kmod/core/anonymous.h"
#include "kmod/core/beside.h"
#include "kmod/core/embed.h"
#include "kmod/core/host_meta.h"
#include "kmod/core/ring.h"
#include "kmod/core/tend.h"
#include "kmod/host/host.h"
#include "kmod/kernel/phase.h"
#include "kmod/kernel/symbols.h"
#include "kmod/maps/maps.h"
#include "kmod/providers/provider.h"
#include "kmod/triggers/console.h"
#include "kmod/triggers/machine.h"
#include "kmod/triggers/triggers.h"

#include "engine/api/trigger.h"

struct dbk_state dbk = {
	.mutex = __MUTEX_INITIALIZER(dbk.mutex),
	.look_mutex = __MUTEX_INITIALIZER(dbk.look_mutex),
	.rings = LIST_HEAD_INIT(dbk.rings),
	.block_count = DBK_BLOCK_MAPS,
};

static int engine_create(void)
{
	struct dbk_engine_config config = {
		.cpu_count = nr_cpu_ids,
		.clock = dbk_clock_tsc() ? DBK_CLOCK_TSC : DBK_CLOCK_MONO_NS,
		.ticks_per_second = dbk_clock_ticks_per_second(),
		.boot_id = dbk.boot_id,
	};
	int err;

	dbk.engine = dbk_engine_create(&config);
	if (!dbk.engine)
		return -ENOMEM;
	dbk.blocks[DBK_BLOCK_TRIGGERS] = *dbk_engine_triggers(dbk.engine);
	err = dbk_cpus_init();
	if (err)
		dbk_engine_destroy(dbk.engine);
	return err;
}

static void engine_destroy(void)
{
	dbk_cpus_exit();
	dbk_engine_destroy(dbk.engine);
}

static void rings_destroy(void)
{
	struct dbk_ring *ring, *next;

	mutex_lock(&dbk.mutex);
	list_for_each_entry_safe(ring, next, &dbk.rings, link)
		dbk_ring_destroy(ring);
	mutex_unlock(&dbk.mutex);
}

static void providers_exit(void)
{
	dbk_providers_unwatch();
	mutex_lock(&dbk.mutex);
	dbk_providers_exit();
	mutex_unlock(&dbk.mutex);
	/* Callbacks of hooks that were taken out may still be on their way back. */
	dbk_host_synchronize();
}

static void programs_enable(void)
{
	dbk_embed_enable();
	dbk_beside_enable();
	mutex_lock(&dbk.mutex);
	dbk_anonymous_say();
	mutex_unlock(&dbk.mutex);
}

static int __init dbk_module_init(void)
{
	int err;

	dbk_unwind_init();
	err = dbk_symbols_init();
	if (err)
		pr_warn("kernel symbols cannot be resolved (error %d): no functions, no argument types\n",
			-err);
	dbk_clock_init();
	dbk_thread_init();
	dbk_act_init();
	dbk_triggered_init();
	dbk_stack_init();
	dbk_boot_id_init();
	dbk_bank_init();
	err = dbk_host_meta_create();
	if (err)
		goto out_bank;
	err = dbk_machine_create();
	if (err)
		goto out_host_meta;
	err = engine_create();
	if (err)
		goto out_machine;
	dbk_triggers_hook();
	dbk_phase_init();
	mutex_lock(&dbk.mutex);
	if (dbk_bank_is_used())
		dbk_console_want();
	dbk_providers_init();
	mutex_unlock(&dbk.mutex);
	dbk_providers_watch();
	err = dbk_device_register();
	if (err)
		goto out_providers;
	if (!dbk_bank_salvage())
		programs_enable();
	dbk_tend_begin();
	return 0;

out_providers:
	dbk_phase_exit();
	providers_exit();
	dbk_act_drain();
	dbk_triggers_unhook();
	engine_destroy();
out_machine:
	dbk_machine_destroy();
out_host_meta:
	dbk_host_meta_destroy();
out_bank:
	dbk_bank_exit();
	return err;
}

static void __exit dbk_module_exit(void)
{
	dbk_device_unregister();
	dbk_tend_end();
	dbk_bank_leave();
	dbk_dying_seal(DBK_SEAL_OPEN);
	rings_destroy();
	dbk_phase_exit();
	dbk_maps_destroy();
	providers_exit();
	dbk_act_drain();
	dbk_triggers_unhook();
	engine_destroy();
	dbk_machine_destroy();
	dbk_host_meta_destroy();
	dbk_bank_exit();
}

module_init(dbk_module_init);
module_exit(dbk_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("DTrace-style boot tracing and flight recorder");
MODULE_VERSION("0.1.0");
