// SPDX-License-Identifier: GPL-2.0-only
/*
 * crash.c - a module that takes its machine down, for tests of what survives
 *
 *   insmod crash.ko how=null     a work item writes through NULL (with oops=panic: a panic)
 *   insmod crash.ko how=triple   no interrupt table any more, then an interrupt: the CPU resets
 *   insmod crash.ko how=lockup   interrupts off, for good, on the CPU that loads it
 *
 * or lets the kernel believe that it is in trouble, hung, soft and hard for 10 seconds:
 *
 *   insmod crash.ko how=warn     the kernel is warned
 *   insmod crash.ko how=oops     the task that loads it writes through NULL, and ends with an oops
 *   insmod crash.ko how=hung     the task that loads it waits and cannot be killed
 *   insmod crash.ko how=soft     its CPU does not schedule
 *   insmod crash.ko how=hard     its CPU takes no interrupts; says what NMIs left of their stack
 *   insmod crash.ko how=tsc      for good: its TSC is not a clock
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

static char *how = "";
module_param(how, charp, 0);
MODULE_PARM_DESC(how, "null, triple, lockup, warn, oops, hung, soft, hard or tsc");

#define TROUBLE_S 10

/* A function to be found in a stack, and KASAN leaves its oops to the processor. */
static noinline __no_sanitize_address void write_null(struct work_struct *work)
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

static void spin(void)
{
	u64 end_ns = ktime_get_ns() + TROUBLE_S * NSEC_PER_SEC;

	while (ktime_get_ns() < end_ns)
		cpu_relax();
}

/* Where the stack is that this CPU's NMIs run on, a page, until one says. */
static const u8 *nmi_stack;
static int nmi_cpu;

static int on_nmi(unsigned int kind, struct pt_regs *regs)
{
	if (raw_smp_processor_id() == nmi_cpu && !user_mode(regs))
		nmi_stack = (const u8 *)((unsigned long)__builtin_frame_address(0) & PAGE_MASK);
	return NMI_DONE;
}

/* Not used yet: as zero as at boot. */
static unsigned long nmi_stack_left(void)
{
	unsigned long left = 0;

	while (nmi_stack && left < PAGE_SIZE && nmi_stack[left] == 0)
		left++;
	return left;
}

static void spin_hard(void)
{
	/* A grace period that cannot end without it. */
	start_poll_synchronize_rcu();
	local_irq_disable();
	nmi_cpu = raw_smp_processor_id();
	spin();
	local_irq_enable();
	pr_info("%lu bytes of the stack of NMIs were left\n", nmi_stack_left());
}

/* Not of the module's initialization, whose text is gone with it: a name for the address of the warning. */
static noinline void warn(void)
{
	WARN(1, "a test says so\n");
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
	} else if (sysfs_streq(how, "warn")) {
		warn();
	} else if (sysfs_streq(how, "oops")) {
		write_null(NULL);
	} else if (sysfs_streq(how, "hung")) {
		schedule_timeout_uninterruptible(TROUBLE_S * HZ);
	} else if (sysfs_streq(how, "soft")) {
		preempt_disable();
		spin();
		preempt_enable();
	} else if (sysfs_streq(how, "hard")) {
		nmi_cpu = -1;
		register_nmi_handler(NMI_LOCAL, on_nmi, 0, "crash");
		spin_hard();
		unregister_nmi_handler(NMI_LOCAL, "crash");
	} else if (sysfs_streq(how, "tsc")) {
		mark_tsc_unstable("a test says so");
	} else {
		pr_err("how=%s is not known\n", how);
		return -EINVAL;
	}
	flush_work(&null_work);
	return 0;
}

static void __exit crash_exit(void)
{
}

module_init(crash_init);
module_exit(crash_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("takes its machine down, or seems to");
