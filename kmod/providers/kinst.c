// SPDX-License-Identifier: GPL-2.0-only
/*
 * kinst.c - provider kinst: any instruction of a function of the kernel
 * (docs/design/0085-instructions-and-counters.md)
 *
 *   kinst:vmlinux:FUNCTION:OFFSET
 *
 * FUNCTION is the name of one function: of static ones of one name none is taken.
 * OFFSET is of an instruction, in bytes from the function's beginning.  The kernel's own decoder
 * finds where instructions begin; whether one can be probed is what its kprobes say, with which the
 * probe is registered, disabled, when a program names it: one at a time, or all of a function. arg0
 * and following are the registers before the instruction that arch/instruction.h names.
 */
#include <linux/kprobes.h>
#include <linux/slab.h>

#include "arch/instruction.h"
#include "kmod/kernel/symbols.h"
#include "kmod/providers/fbt.h"
#include "kmod/providers/named.h"

/* Each needs memory for a copy of its instruction; a large function has 5000. */
#define KINST_PROBES_MAX 10000

struct kinst_probe {
	struct dbk_named named;
	struct kprobe kprobe;
	unsigned long missed_seen; /* [S] of the kprobe's count, what is counted as drops */
	char name[12];		   /* [C] the offset */
	char function[];	   /* [C] */
};

static void kprobes_unregister(struct list_head *gone, u32 count);

DBK_NAMED_SET(kinst_probes, KINST_PROBES_MAX, .unhook = kprobes_unregister);

static const u8 argument_words[] = DBK_INSTRUCTION_ARGUMENT_WORDS;

static unsigned long decode; /* [C] insn_decode() */
/* [C] Where an instruction's bytes are, without kprobes in them: in @room, or at @address. */
static unsigned long (*text_of)(u8 *room, unsigned long address);
static unsigned long text_start, text_end; /* [C] of the kernel */

static __probe_ctx int on_instruction(struct kprobe *kprobe, struct pt_regs *regs)
{
	struct kinst_probe *kinst = container_of(kprobe, struct kinst_probe, kprobe);
	struct dbk_frame frame = { .kind = DBK_FRAME_INTERRUPT, .regs = regs };
	const unsigned int trap = dbk_trap_count(); /* then interrupts are off */
	unsigned long flags, ip = instruction_pointer(regs);

	if (!dbk_probe_is_enabled(&kinst->named.probe))
		return 0;
	flags = trap ? 0 : dbk_host_enter();
	/* As if the breakpoint were not there: the processor may be past it. */
	instruction_pointer_set(regs, (unsigned long)kprobe->addr);
	__preempt_count_sub(trap);
	if (trap == 0 && dbk_stack_is_cramped())
		dbk_probe_missed(&kinst->named.probe, 1);
	else
		dbk_probe_fire(&kinst->named.probe, (const u64 *)regs, &frame);
	__preempt_count_add(trap);
	instruction_pointer_set(regs, ip);
	if (!trap)
		dbk_host_leave(flags);
	return 0;
}

/* Bytes of the instruction at @address; 0: there is none. */
static u32 instruction_bytes(unsigned long address)
{
	u8 room[DBK_INSTRUCTION_BYTES_MAX];
	unsigned long text;
	u32 bytes = 0;

	preempt_disable(); /* kprobes of others are freed after a grace period */
	text = text_of(room, address);
	if (text != 0)
		bytes = dbk_instruction_bytes(decode, (const u8 *)text, sizeof(room));
	preempt_enable();
	return bytes;
}

/* An instruction that cannot be probed is left out. */
static int kinst_publish(const struct dbk_requester *requester, const char *function,
			 unsigned long address, const char *name)
{
	int err = dbk_named_check(&dbk_provider_kinst, requester, function, name);
	struct kinst_probe *kinst;

	if (err)
		return err == -EEXIST ? 0 : err;
	kinst = kzalloc(struct_size(kinst, function, strlen(function) + 1), GFP_KERNEL);
	if (!kinst)
		return -ENOMEM;
	strcpy(kinst->function, function);
	strscpy(kinst->name, name, sizeof(kinst->name));
	kinst->kprobe.addr = (kprobe_opcode_t *)address;
	kinst->kprobe.pre_handler = on_instruction;
	kinst->kprobe.flags = KPROBE_FLAG_DISABLED;
	err = register_kprobe(&kinst->kprobe);
	if (err) {
		kfree(kinst);
		return err == -ENOMEM ? err : 0;
	}
	kinst->named.probe.module = "vmlinux";
	kinst->named.probe.function = kinst->function;
	kinst->named.probe.name = kinst->name;
	kinst->named.probe.arg_count = ARRAY_SIZE(argument_words);
	memcpy(kinst->named.probe.arg_word, argument_words, sizeof(argument_words));
	err = dbk_named_add(&dbk_provider_kinst, &kinst->named);
	if (err == -EINVAL) {
		unregister_kprobe(&kinst->kprobe);
		kfree(kinst);
	}
	return err;
}

/* To look a symbol up takes milliseconds in some kernels: a boot that names no instruction has no part in it. */
static bool kernel_known(void)
{
	if (decode)
		return true;
	text_of = dbk_function("recover_probed_instruction");
	text_start = dbk_symbol("_stext");
	text_end = dbk_symbol("_etext");
	if (text_of && text_start && text_end)
		decode = (unsigned long)dbk_function("insn_decode");
	if (!decode)
		pr_warn_once("provider kinst is not available here: the kernel has no kprobes\n");
	return decode;
}

struct only {
	const char *name;
	unsigned long address;
	u32 count;
};

static int function_count(void *data, const char *name, unsigned long address)
{
	struct only *only = data;

	if (address < text_start || address >= text_end || strcmp(name, only->name) != 0)
		return 0;
	only->address = address;
	return ++only->count > 1;
}

/* Where the only function of a name begins; 0: there is none, or there are several, and an offset
 * would be of any.  The last one is remembered: many offsets of one function are asked for one by one, and the kernel's own
 * functions stay. */
static unsigned long only_function(const char *function)
{
	static char last_name[KSYM_NAME_LEN]; /* [S] */
	static unsigned long last_address;    /* [S] */
	struct only only = { .name = function };

	if (strcmp(function, last_name) == 0)
		return last_address;
	dbk_symbols_walk(function_count, &only);
	last_address = only.count == 1 ? only.address : 0;
	if (strscpy(last_name, function, sizeof(last_name)) < 0)
		last_name[0] = '\0';
	return last_address;
}

/* Provider and function are named as they are; a glob would be most of the kernel's instructions. */
static int kinst_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
			 const struct dbk_probedesc *description)
{
	unsigned long start, end, address;
	int err = 0;

	dbk_state_assert();
	if (strcmp(description->provider, "kinst") != 0 ||
	    !dbk_glob_match(description->module, "vmlinux") ||
	    fbt_is_own_path(description->function) || description->function[0] == '\0' || !kernel_known())
		return 0;
	start = only_function(description->function);
	if (start == 0)
		return 0;
	end = start + dbk_symbol_bytes(start);
	for (address = start; address < end && !err;) {
		u32 bytes = instruction_bytes(address);
		char name[12];

		if (bytes == 0)
			break;
		scnprintf(name, sizeof(name), "%lu", address - start);
		if (dbk_glob_match(description->name, name))
			err = dbk_requester_pause(requester) ?:
			      kinst_publish(requester, description->function, address, name);
		address += bytes;
	}
	return err;
}

static int kinst_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	dbk_state_assert();
	return enable_kprobe(&container_of(probe, struct kinst_probe, named.probe)->kprobe);
}

static void kinst_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	dbk_state_assert();
	disable_kprobe(&container_of(probe, struct kinst_probe, named.probe)->kprobe);
}

/* A kprobe within another's handler does not fire. */
static void kinst_book(const struct dbk_provider *self)
{
	struct kinst_probe *kinst;

	dbk_state_assert();
	list_for_each_entry(kinst, &kinst_probes.probes, named.link) {
		unsigned long missed = READ_ONCE(kinst->kprobe.nmissed);
		unsigned long flags;

		if (missed == kinst->missed_seen)
			continue;
		flags = dbk_host_enter();
		if (dbk_probe_is_enabled(&kinst->named.probe))
			dbk_probe_missed(&kinst->named.probe, missed - kinst->missed_seen);
		dbk_host_leave(flags);
		kinst->missed_seen = missed;
	}
}

/* With one wait for all of them, if there is memory to note them. */
static void kprobes_unregister(struct list_head *gone, u32 count)
{
	struct kprobe **kprobes = kvcalloc(count, sizeof(*kprobes), GFP_KERNEL);
	struct kinst_probe *kinst;
	u32 noted = 0;

	list_for_each_entry(kinst, gone, named.link) {
		if (kprobes)
			kprobes[noted++] = &kinst->kprobe;
		else
			unregister_kprobe(&kinst->kprobe);
	}
	if (kprobes)
		unregister_kprobes(kprobes, noted);
	kvfree(kprobes);
}

const struct dbk_provider dbk_provider_kinst = {
	.name = "kinst",
	.provide = kinst_provide,
	.named = &kinst_probes,
	.enable = kinst_enable,
	.disable = kinst_disable,
	.book = kinst_book,
};
