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
 * With at=FUNCTION+OFFSET it is on a kprobe there instead, with at=/FILE+OFFSET
 * on a uprobe.
 *
 * Nothing is filtered, decoded or read.  On unloading it logs how many calls
 * it saw, so that a measurement can prove that it measured.
 */
#include "autoconf.h" /* of kmod/compat */

#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include "uprobe.h" /* of kmod/kernel */

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
MODULE_PARM_DESC(at, "where the kprobe or uprobe is: FUNCTION+OFFSET, /FILE+OFFSET");

static unsigned int offset; /* of at */
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

static int handle_uprobe(struct uprobe_consumer *consumer, struct pt_regs *regs DBK_UPROBE_DATA)
{
	if (record)
		handle_record(NULL, regs, 0);
	return 0;
}

static struct dbk_uprobe uprobe = { .consumer.handler = handle_uprobe };
static struct path file;

static int uprobe_begin(void)
{
	int err = kern_path(at, LOOKUP_FOLLOW, &file);

	if (err)
		return err;
	err = dbk_uprobe_register(&uprobe, d_inode(file.dentry), offset, 0);
	if (err)
		path_put(&file);
	return err;
}

static void uprobe_end(void)
{
	dbk_uprobe_unregister(&uprobe, d_inode(file.dentry), offset);
	dbk_uprobes_synchronize();
	path_put(&file);
}

static int begin_at(void)
{
	char *plus = strchr(at, '+');

	if (!plus || kstrtouint(plus + 1, 0, &offset) != 0)
		return -EINVAL;
	*plus = '\0';
	kprobe.symbol_name = at;
	kprobe.offset = offset;
	return *at == '/' ? uprobe_begin() : register_kprobe(&kprobe);
}

static void *handler(void)
{
	return record ? (void *)handle_record : (void *)handle_nothing;
}

static void end(void)
{
	if (uprobe.registered)
		uprobe_end();
	else if (at)
		unregister_kprobe(&kprobe);
	else
		tracepoint_probe_unregister(sys_enter, handler(), NULL);
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
	err = at ? begin_at() : tracepoint_probe_register(sys_enter, handler(), NULL);
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

	end();
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
