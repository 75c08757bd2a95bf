// SPDX-License-Identifier: GPL-2.0-only
/*
 * sdt.c - provider sdt: every tracepoint of the kernel and of its modules
 *
 * sdt:MODULE::NAME.  One callback per number of arguments collects the registers
 * into an array; an argument narrower than a register is cut or sign-extended to
 * its type first, because its upper bits are garbage.  How many and how wide,
 * BTF says when the probe is first enabled; without BTF six registers are taken
 * as they are.
 *
 * Each tracepoint that is hooked patches text, and holds the CPUs in place for it. CPUs that come
 * and go all the time would let one tracepoint through between two of them, so some are hooked
 * at a time while none may come or go.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "kmod/kernel/tracepoint.h"
#include "kmod/providers/provider.h"

/* 6: arguments in registers after the callback's own pointer are five; reading one more word of
 * the stack is harmless, and what a tracepoint without BTF may still have. */
#define ARGS_WITHOUT_BTF 6

struct sdt_probe {
	struct dbk_probe probe;
	struct list_head link;		 /* [S] in sdt_probes */
	struct module *module;		 /* [C] NULL: the kernel */
	struct dbk_frame frame;		 /* [C] once described */
	struct dbk_tracepoint_args args; /* [C] once described */
	bool described;			 /* [S] */
	bool wanted;			 /* [S] has an ECB */
	struct dbk_tracepoint_hook hook; /* [S] */
	struct list_head unsettled;	 /* [S] wanted and not hooked, or the other way round */
};

/* 32: tracepoints hooked while CPUs stay; some 100 us each. */
#define HOOKS_AT_ONCE 32

static LIST_HEAD(sdt_probes);	 /* [S] */
static LIST_HEAD(sdt_unsettled); /* [S] */

/* Upper bits of an int are whatever was in the register. */
static __probe_ctx void args_widen(const struct sdt_probe *sdt, u64 *args)
{
	u32 count = min_t(u32, sdt->args.count, DBK_TRACEPOINT_ARGS_MAX);
	u32 i;

	for (i = 0; i < count; i++) {
		u32 shift = sdt->args.shift[i];

		if (sdt->args.is_signed & 1u << i)
			args[i] = (s64)(args[i] << shift) >> shift;
		else
			args[i] = args[i] << shift >> shift;
	}
}

static __probe_ctx_inline void fire(struct sdt_probe *sdt, u64 *args)
{
	if (!dbk_probe_is_enabled(&sdt->probe))
		return;
	if (sdt->args.narrow)
		args_widen(sdt, args);
	dbk_probe_fire(&sdt->probe, args, &sdt->frame);
}

static __probe_ctx void on_0(void *sdt)
{
	u64 args[1] = { 0 };

	fire(sdt, args);
}

/* Calling conventions pass N integers the same way whatever their types are. */
#define CALLBACK(n, parameters, ...)                                                               \
	static __probe_ctx void on_##n parameters                                                  \
	{                                                                                          \
		u64 args[] = { __VA_ARGS__ };                                                      \
                                                                                                   \
		fire(sdt, args);                                                                   \
	}

CALLBACK(1, (void *sdt, u64 a), a)
CALLBACK(2, (void *sdt, u64 a, u64 b), a, b)
CALLBACK(3, (void *sdt, u64 a, u64 b, u64 c), a, b, c)
CALLBACK(4, (void *sdt, u64 a, u64 b, u64 c, u64 d), a, b, c, d)
CALLBACK(5, (void *sdt, u64 a, u64 b, u64 c, u64 d, u64 e), a, b, c, d, e)
CALLBACK(6, (void *sdt, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f), a, b, c, d, e, f)
CALLBACK(7, (void *sdt, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g), a, b, c, d, e, f, g)
CALLBACK(8, (void *sdt, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h), a, b, c, d, e, f,
	 g, h)
CALLBACK(9, (void *sdt, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i), a, b, c, d,
	 e, f, g, h, i)
/* D knows arg0 .. arg9: what a tracepoint has after them stays where it is. */
CALLBACK(10, (void *sdt, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j), a,
	 b, c, d, e, f, g, h, i, j)

static void *const callbacks[DBK_TRACEPOINT_ARGS_MAX + 1] = {
	on_0, on_1, on_2, on_3, on_4, on_5, on_6, on_7, on_8, on_9, on_10,
};

/* Before the engine looks at a probe in order to enable it. */
static void sdt_describe(struct sdt_probe *sdt)
{
	if (sdt->described)
		return;
	if (!dbk_btf_tracepoint(sdt->module, dbk_module_is_coming(sdt->module),
				sdt->hook.tracepoint->name, &sdt->args))
		sdt->args = (struct dbk_tracepoint_args){ .count = ARGS_WITHOUT_BTF };
	sdt->frame = dbk_tracepoint_frame(sdt->hook.tracepoint);
	sdt->probe.arg_count = min_t(u32, sdt->args.count, DBK_TRACEPOINT_ARGS_MAX);
	sdt->hook.callback = callbacks[sdt->probe.arg_count];
	sdt->described = true;
}

static int sdt_publish(struct tracepoint *tracepoint, struct module *module)
{
	struct sdt_probe *sdt = kzalloc(sizeof(*sdt), GFP_KERNEL);
	int err;

	if (!sdt)
		return -ENOMEM;
	sdt->hook.tracepoint = tracepoint;
	sdt->hook.data = sdt;
	sdt->module = module;
	INIT_LIST_HEAD(&sdt->unsettled);
	sdt->probe.provider = "sdt";
	sdt->probe.module = module ? module->name : "vmlinux";
	sdt->probe.function = "";
	sdt->probe.name = tracepoint->name;
	sdt->probe.host_data = (void *)&dbk_provider_sdt;
	dbk_probe_args_in_order(&sdt->probe, ARGS_WITHOUT_BTF);
	/* A ring that waited for this one has it enabled before dbk_probe_add() returns. */
	if (dbk_providers_are_prepared() || dbk_probe_is_awaited(dbk.engine, &sdt->probe))
		sdt_describe(sdt);
	list_add_tail(&sdt->link, &sdt_probes);
	err = dbk_probe_add(dbk.engine, &sdt->probe);
	if (err == -EINVAL) {
		list_del(&sdt->link);
		kfree(sdt);
	}
	return err;
}

static void publish_each(struct tracepoint *tracepoint, void *data)
{
	int *first = data;
	int err = sdt_publish(tracepoint, NULL);

	if (err && !*first)
		*first = err;
}

static int sdt_init(const struct dbk_provider *self)
{
	int err = 0;

	dbk_state_assert();
	for_each_kernel_tracepoint(publish_each, &err);
	return err;
}

static int sdt_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
		       const struct dbk_probedesc *description)
{
	struct sdt_probe *sdt;

	dbk_state_assert();
	list_for_each_entry(sdt, &sdt_probes, link)
		if (dbk_probedesc_match(description, &sdt->probe))
			sdt_describe(sdt);
	return 0;
}

static void sdt_unhook(struct sdt_probe *sdt)
{
	dbk_tracepoint_unhook(&sdt->hook);
	list_del_init(&sdt->unsettled);
}

/* Removes the probes of @module, or all. */
static void sdt_remove(const struct module *module, bool all)
{
	struct sdt_probe *sdt, *next;
	struct dbk_retire retire;
	bool unhooked = false;
	LIST_HEAD(gone);
	u32 count = 0;

	list_for_each_entry_safe(sdt, next, &sdt_probes, link) {
		if (!all && sdt->module != module)
			continue;
		list_move_tail(&sdt->link, &gone);
		count++;
	}
	if (count == 0)
		return;
	dbk_retire_begin(&retire, count);
	list_for_each_entry(sdt, &gone, link)
		dbk_retire_add(&retire, &sdt->probe);
	dbk_retire_end(&retire);
	list_for_each_entry(sdt, &gone, link) {
		unhooked |= sdt->hook.hooked;
		sdt_unhook(sdt);
	}
	if (unhooked)
		dbk_host_synchronize();
	list_for_each_entry_safe(sdt, next, &gone, link)
		kfree(sdt);
}

static void sdt_exit(const struct dbk_provider *self)
{
	dbk_state_assert();
	sdt_remove(NULL, true);
	dbk_btf_release();
}

static void want(struct sdt_probe *sdt, bool wanted)
{
	dbk_state_assert();
	sdt->wanted = wanted;
	list_del_init(&sdt->unsettled);
	if (sdt->wanted != sdt->hook.hooked)
		list_add_tail(&sdt->unsettled, &sdt_unsettled);
}

static int sdt_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct sdt_probe *sdt = container_of(probe, struct sdt_probe, probe);

	sdt_describe(sdt);
	want(sdt, true);
	return 0;
}

static void sdt_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	want(container_of(probe, struct sdt_probe, probe), false);
}

static bool sdt_is_hooked(const struct dbk_provider *self, const struct dbk_probe *probe)
{
	dbk_state_assert();
	return container_of(probe, struct sdt_probe, probe)->hook.hooked;
}

static struct sdt_probe *unsettled_of(const struct module *only)
{
	struct sdt_probe *sdt;

	list_for_each_entry(sdt, &sdt_unsettled, unsettled)
		if (!only || sdt->module == only)
			return sdt;
	return NULL;
}

/* Hooks and unhooks at most HOOKS_AT_ONCE. */
static int settle_some(const struct module *only)
{
	struct sdt_probe *sdt;
	int err = 0;
	u32 i;

	cpu_hotplug_disable();
	for (i = 0; i < HOOKS_AT_ONCE && !err && (sdt = unsettled_of(only)) != NULL; i++) {
		if (!sdt->wanted) {
			sdt_unhook(sdt);
			continue;
		}
		list_del_init(&sdt->unsettled);
		err = dbk_tracepoint_hook(&sdt->hook);
	}
	cpu_hotplug_enable();
	return err;
}

static int sdt_settle(const struct dbk_provider *self, const struct module *only)
{
	int err = 0;

	dbk_state_assert();
	dbk_btf_release();
	while (!err && unsettled_of(only)) {
		err = only ? 0 : dbk_settle_pause();
		if (!err)
			err = settle_some(only);
	}
	return err;
}

static void module_publish(struct module *module)
{
	u32 i;

	dbk_probe_add_begin(dbk.engine);
	for (i = 0; i < module->num_tracepoints; i++)
		if (sdt_publish(tracepoint_ptr_deref(&module->tracepoints_ptrs[i]), module))
			pr_warn("a tracepoint of module %s is missing: no memory\n", module->name);
	if (dbk_probe_add_end(dbk.engine))
		pr_warn("not every tracepoint of module %s is traced\n", module->name);
	/* In a batch nothing has been settled, and the module's own BTF goes. */
	dbk_btf_release();
}

static void module_remove(struct module *module)
{
	sdt_remove(module, false);
}

/* Comes before the module's init runs, and after its exit; for loaded ones at registration. */
static int module_notify(struct notifier_block *block, unsigned long event, void *data)
{
	dbk_module_event(event, ((struct tp_module *)data)->mod, module_publish, module_remove);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_notify };

/* Registering replays the modules that are there. */
static int sdt_watch(const struct dbk_provider *self)
{
	return register_tracepoint_module_notifier(&module_notifier);
}

/* Unregistering replays them as going: their probes are gone after it. */
static void sdt_unwatch(const struct dbk_provider *self)
{
	unregister_tracepoint_module_notifier(&module_notifier);
}

const struct dbk_provider dbk_provider_sdt = {
	.name = "sdt",
	.init = sdt_init,
	.exit = sdt_exit,
	.provide = sdt_provide,
	.enable = sdt_enable,
	.disable = sdt_disable,
	.settle = sdt_settle,
	.is_hooked = sdt_is_hooked,
	.watch = sdt_watch,
	.unwatch = sdt_unwatch,
};
