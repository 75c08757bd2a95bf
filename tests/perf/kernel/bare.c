// SPDX-License-Identifier: GPL-2.0-only
/*
 * bare.c - what the least possible tracer costs
 *
 * A handler on the tracepoint of every system call's entry, in two sizes:
 *
 *   record=0  empty: the price of the tracepoint and of the kernel's slow path
 *             for traced system calls, which every tracer of them pays
 *   record=1  stores 24 bytes {time, number, first argument} into a per-CPU
 *             overwriting ring, interrupts off, with a CLOCK_MONOTONIC time
 *
 * With at=FUNCTION+OFFSET it is on a kprobe there instead.
 *
 * Nothing is filtered, decoded or read.  On unloading it logs how many calls
 * it saw, so that a measurement can prove that it measured.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#define RING_SLOTS (1u << 16) /* of 24 bytes: 1.5 MiB per CPU, a power of two */

struct bare_slot {
	u64 mono_ns;
	u64 number;
	u64 argument;
};

struct bare_ring {
	struct bare_slot *slots;
	u64 seen;
};

static bool record;
module_param(record, bool, 0444);
MODULE_PARM_DESC(record, "store a record, else do nothing");

static char *at;
module_param(at, charp, 0444);
MODULE_PARM_DESC(at, "where the kprobe is: FUNCTION+OFFSET");

static DEFINE_PER_CPU(struct bare_ring, rings);
static struct tracepoint *sys_enter;

static void handle_nothing(void *data, struct pt_regs *regs, long number)
{
}

static void handle_record(void *data, struct pt_regs *regs, long number)
{
	struct bare_ring *ring;
	struct bare_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	ring = this_cpu_ptr(&rings);
	slot = &ring->slots[ring->seen++ & (RING_SLOTS - 1)];
	slot->mono_ns = ktime_get_mono_fast_ns();
	slot->number = number;
	slot->argument = regs->di;
	local_irq_restore(flags);
}

static int handle_kprobe(struct kprobe *kprobe, struct pt_regs *regs)
{
	if (record)
		handle_record(NULL, regs, 0);
	return 0;
}

static struct kprobe kprobe = { .pre_handler = handle_kprobe };

static int kprobe_begin(void)
{
	char *plus = strchr(at, '+');

	if (!plus || kstrtouint(plus + 1, 0, &kprobe.offset) != 0)
		return -EINVAL;
	*plus = '\0';
	kprobe.symbol_name = at;
	return register_kprobe(&kprobe);
}

static void *handler(void)
{
	return record ? (void *)handle_record : (void *)handle_nothing;
}

static void find_sys_enter(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sys_enter"))
		sys_enter = tp;
}

static void free_rings(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(per_cpu(rings, cpu).slots);
}

static int __init bare_init(void)
{
	int cpu, err;

	for_each_kernel_tracepoint(find_sys_enter, NULL);
	if (!sys_enter)
		return -ENOENT;
	for_each_possible_cpu(cpu) {
		per_cpu(rings, cpu).slots = vzalloc(array_size(RING_SLOTS, sizeof(struct bare_slot)));
		if (!per_cpu(rings, cpu).slots) {
			err = -ENOMEM;
			goto out_free;
		}
	}
	err = at ? kprobe_begin() : tracepoint_probe_register(sys_enter, handler(), NULL);
	if (err)
		goto out_free;
	return 0;

out_free:
	free_rings();
	return err;
}

static void __exit bare_exit(void)
{
	u64 seen = 0;
	int cpu;

	if (at)
		unregister_kprobe(&kprobe);
	else
		tracepoint_probe_unregister(sys_enter, handler(), NULL);
	tracepoint_synchronize_unregister();
	for_each_possible_cpu(cpu)
		seen += per_cpu(rings, cpu).seen;
	pr_info("bare: %llu records\n", seen);
	free_rings();
}

module_init(bare_init);
module_exit(bare_exit);
MODULE_DESCRIPTION("The least possible tracer, to measure others by");
MODULE_LICENSE("GPL");
