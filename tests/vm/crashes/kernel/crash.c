// SPDX-License-Identifier: GPL-2.0-only
/*
 * crash.c - a module that takes its machine down, for tests of what survives
 *
 *   insmod crash.ko how=null     a work item writes through NULL (with oops=panic: a panic)
 *   insmod crash.ko how=triple   no interrupt table any more, then an interrupt: the CPU resets
 *   insmod crash.ko how=lockup   interrupts off, for good, on the CPU that loads it
 */
#include <linux/module.h>
#include <linux/workqueue.h>

static char *how = "";
module_param(how, charp, 0);
MODULE_PARM_DESC(how, "null, triple or lockup");

static void write_null(struct work_struct *work)
{
	int *volatile nowhere = NULL;

	WRITE_ONCE(*nowhere, 1);
}

static DECLARE_WORK(null_work, write_null);

static void triple_fault(void)
{
	const struct {
		u16 limit;
		u64 base;
	} __packed nothing = { 0, 0 };

	local_irq_disable();
	asm volatile("lidt %0\n\tint3" : : "m"(nothing));
}

static int __init crash_init(void)
{
	if (sysfs_streq(how, "null")) {
		schedule_work(&null_work);
	} else if (sysfs_streq(how, "triple")) {
		triple_fault();
	} else if (sysfs_streq(how, "lockup")) {
		local_irq_disable();
		for (;;)
			cpu_relax();
	} else {
		pr_err("how=%s is not known\n", how);
		return -EINVAL;
	}
	flush_work(&null_work);
	return 0;
}

module_init(crash_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("takes its machine down");
