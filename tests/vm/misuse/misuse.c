// SPDX-License-Identifier: GPL-2.0-only
/*
 * misuse.c - does wrong with probes of its own what can be done wrong, says what each call returned, and goes
 * without taking its probes back
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "daybreak_provider.h"

static const char *const nowhere = (const char *)0x100; /* no address of the kernel's */

static int try(const char *provider, const char *function, const char *name, u32 arg_count)
{
	struct daybreak_probe probe = { .function = function, .name = name, .arg_count = arg_count };
	int err = daybreak_provider_register(provider, &probe, 1);

	if (!err)
		daybreak_provider_unregister(&probe, 1);
	return err;
}

static struct daybreak_probe kept[] = {
	{ .function = "", .name = "kept", .arg_count = 2 },
	{ .function = "", .name = "kept", .arg_count = 2 },
};

/* Its caller fires as well, in the middle of it. */
static void fire_wrongly(void)
{
	u32 i;

	for (i = 0; i < 100; i++)
		__daybreak_fire(i * 977 * 4096 + i, NULL, 10); /* no such probe */
	__daybreak_fire(kept[0].handle, (const u64 *)nowhere, 2);
	__daybreak_fire(kept[0].handle, NULL, U32_MAX);
	daybreak_fire(&kept[0]);
	daybreak_fire(&kept[0], 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	daybreak_fire(&kept[1], 1); /* not registered */
}

static int fire(const char *text, const struct kernel_param *parameter)
{
	struct daybreak_probe old = kept[0];
	int err, reader_err;

	fire_wrongly();
	preempt_disable();
	err = try("misuse", "", "atomic", 0);
	daybreak_provider_unregister(&old, 1); /* not here: it stays */
	preempt_enable();
	old = kept[0];
	rcu_read_lock();
	reader_err = try("misuse", "", "reader", 0);
	daybreak_provider_unregister(&old, 1); /* nor here */
	rcu_read_unlock();
	fire_wrongly();
	pr_info("misuse: atomic %d %d\n", err, reader_err);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

/* Milliseconds that it takes to take many back, of which one is not ours and one is not there; @too_many_ret: what is
 * returned for more than a module can have. */
static s64 take_many_back(int *too_many_ret)
{
	static struct daybreak_probe many[DAYBREAK_PROBES_MAX + 1];
	static char names[ARRAY_SIZE(many)][8];
	ktime_t begun;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(many); i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i);
		many[i] = (struct daybreak_probe){ .function = "", .name = names[i] };
	}
	*too_many_ret = daybreak_provider_register("misuse_many", many, ARRAY_SIZE(many));
	if (daybreak_provider_register("misuse_many", many, DAYBREAK_PROBES_MAX) != 0)
		return -1;
	many[1].handle ^= 1;
	begun = ktime_get();
	daybreak_provider_unregister(many, DAYBREAK_PROBES_MAX);
	__daybreak_probes_unregister(THIS_MODULE, (const struct daybreak_probe *)nowhere, U32_MAX);
	return ktime_ms_delta(ktime_get(), begun);
}

static int __init misuse_init(void)
{
	char name[200];
	int too_many;
	s64 ms;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	pr_info("misuse: names %d %d %d %d %d %d\n", try(nowhere, "", "a", 0), try("misuse", nowhere, "a", 0),
		try("misuse", "", NULL, 0), try("misuse", "", "", 0), try("misuse", "", name, 0),
		try("misuse", "", "a*", 0));
	pr_info("misuse: providers %d %d %d %d %d\n", try("", "", "a", 0), try("misuse1", "", "a", 0),
		try("fbt", "", "a", 0), try("vminfo", "", "a", 0), try("sample", "", "a", 0));
	pr_info("misuse: of the engine %d %d %d\n", try("misuse", "", "BEGIN", 0), try("misuse", "", "tick-1s", 0),
		try("misuse", "", "profile-97", 0));
	pr_info("misuse: arguments %d\n", try("misuse", "", "a", 11));
	pr_info("misuse: twice %d\n", daybreak_provider_register("misuse", kept, 2));
	ms = take_many_back(&too_many);
	pr_info("misuse: too many %d\n", too_many);
	pr_info("misuse: many %lld\n", ms);
	return daybreak_provider_register("misuse", kept, 1);
}

static void __exit misuse_exit(void)
{
}

module_init(misuse_init);
module_exit(misuse_exit);
MODULE_DESCRIPTION("For tests: what another module can do wrong");
MODULE_LICENSE("GPL");
