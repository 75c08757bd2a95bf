// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sample.c - a kernel module with probes of its own
 *
 * Writing a number of rounds to /sys/module/sample/parameters/work makes it work; meanwhile
 *
 *	sample::work:start { trace(arg0); }
 *	sample::work:done { printf("%d rounds, %d in all", arg0, arg1); }
 */
#include <linux/module.h>

#include "daybreak_provider.h"

enum { START, DONE };

static struct daybreak_probe probes[] = {
	[START] = { .function = "work", .name = "start", .arg_count = 1 },
	[DONE] = { .function = "work", .name = "done", .arg_count = 2 },
};

static unsigned long total;

static int work(const char *text, const struct kernel_param *parameter)
{
	unsigned int rounds;
	int err = kstrtouint(text, 0, &rounds);

	if (err)
		return err;
	daybreak_fire(&probes[START], rounds);
	total += rounds;
	daybreak_fire(&probes[DONE], rounds, total);
	return 0;
}

static const struct kernel_param_ops work_ops = { .set = work };
module_param_cb(work, &work_ops, NULL, 0200);
MODULE_PARM_DESC(work, "do as many rounds of it");

static int __init sample_init(void)
{
	return daybreak_provider_register("sample", probes, ARRAY_SIZE(probes));
}

static void __exit sample_exit(void)
{
	daybreak_provider_unregister(probes, ARRAY_SIZE(probes));
}

module_init(sample_init);
module_exit(sample_exit);
MODULE_DESCRIPTION("A module with probes of its own, for Daybreak");
MODULE_LICENSE("Dual MIT/GPL");
