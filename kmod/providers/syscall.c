// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscall.c - provider syscall: entry and return of every system call
 *
 * Two tracepoints, raw_syscalls:sys_enter and sys_exit, see all system calls of
 * all programs.  Hooking one puts every system call on the kernel's slow path,
 * so each is hooked only while a probe that needs it is enabled; otherwise
 * nothing is paid.  A call's number leads to its probe in one step.
 *
 * Names and numbers are those of the kernel's headers (compat/configure).  The
 * module says by which of the kernel's tables the call was made (arch/call.h).  A
 * table that the kernel does not use has no probes.  After an exec the tracepoint
 * sees what the new program would call by: execve() of a 32-bit program enters as
 * the shell's, and returns as the program's.
 *
 * entry: arg0 .. arg5.  return: arg0 and arg1 are the returned value, errno is
 * set when that is an error.  rt_sigreturn has no return: it returns to
 * somewhere else than it was called from, and the number is gone by then.
 */
#include <linux/ptrace.h>
#include <linux/slab.h>

#include "arch/call.h"
#include "kmod/kernel/tracepoint.h"
#include "kmod/providers/provider.h"

struct name {
	u16 table; /* enum dbk_call_table */
	u16 number;
	const char *text;
};

#define DBK_SYSCALL(table, number, text) { table, number, text },
static const struct name names[] = {
#include "kmod/compat/syscall_names.h"
};
#undef DBK_SYSCALL

static const char *const table_names[] = DBK_CALL_TABLE_NAMES;

/* The two probes of one system call, made when a program names it. */
struct syscall {
	struct dbk_probe entry;
	struct dbk_probe exit;
};

/* Indexed by number. */
struct side {
	struct dbk_tracepoint_hook hook; /* [S] */
	struct dbk_frame frame;		 /* [C] what all firings share */
	u32 enabled;			 /* [S] probes with ECBs */
	struct dbk_call_probes probes;
};

static struct side entries, exits;
static struct syscall *syscalls;	  /* [S] as names, NULL until a program names one */
static bool table_works[DBK_CALL_TABLES]; /* [S] once there are syscalls */

static const u8 argument_words[DBK_CALL_ARGUMENTS] = DBK_CALL_ARGUMENT_WORDS;

/* A 32-bit program's arguments, laid out as if a 64-bit one had called. */
static __probe_ctx noinline void fire_entry_32(struct dbk_probe *probe, struct pt_regs *regs)
{
	u64 as_64[sizeof(*regs) / sizeof(u64)] __dbk_unset;
	unsigned int i;

	for (i = 0; i < DBK_CALL_ARGUMENTS; i++)
		as_64[argument_words[i]] = dbk_call_argument_32(regs, i);
	dbk_probe_fire(probe, as_64, &entries.frame);
}

static __probe_ctx void on_enter(void *data, struct pt_regs *regs, long number)
{
	struct dbk_probe *probe;

	if (dbk_call_is_32bit()) {
		probe = dbk_call_probe_32(&entries.probes, number);
		if (probe && dbk_probe_is_enabled(probe))
			fire_entry_32(probe, regs);
		return;
	}
	probe = dbk_call_probe_64(&entries.probes, number);
	if (probe)
		dbk_probe_fire(probe, regs, &entries.frame);
}

static __probe_ctx void on_exit(void *data, struct pt_regs *regs, long value)
{
	unsigned long number = dbk_call_number(regs);
	struct dbk_probe *probe;
	struct dbk_frame frame __dbk_unset;
	u64 returned = value;

	probe = dbk_call_is_32bit() ? dbk_call_probe_32(&exits.probes, number)
				    : dbk_call_probe_64(&exits.probes, number);
	if (!probe || !dbk_probe_is_enabled(probe))
		return;
	frame = exits.frame;
	frame.error = IS_ERR_VALUE(value) ? -value : 0;
	dbk_probe_fire(probe, &returned, &frame);
}

static int probe_publish(struct side *side, struct dbk_probe *probe, const struct name *call, const char *name)
{
	int err;

	if (probe->id != 0)
		return 0; /* there was no memory for the other one */
	probe->provider = "syscall";
	probe->module = table_names[call->table];
	probe->function = call->text;
	probe->name = name;
	probe->host_data = (void *)&dbk_provider_syscall;
	err = dbk_probe_add(dbk.engine, probe);
	/* Others may be enabled: the hook is at work. */
	if (probe->id != 0)
		smp_store_release(&side->probes.by_number[call->table][call->number], probe);
	return err;
}

static int syscall_publish(struct syscall *syscall, const struct name *name)
{
	int err;

	syscall->entry.arg_count = ARRAY_SIZE(argument_words);
	memcpy(syscall->entry.arg_word, argument_words, sizeof(argument_words));
	/* arg0 and arg1 are the same word. */
	syscall->exit.arg_count = 2;
	err = probe_publish(&entries, &syscall->entry, name, "entry");
	return err ?: probe_publish(&exits, &syscall->exit, name, "return");
}

static void provider_exit(const struct dbk_provider *self)
{
	struct dbk_retire retire;
	u32 i;

	dbk_state_assert();
	if (!syscalls)
		return;
	dbk_retire_begin(&retire, 2 * ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (syscalls[i].entry.id != 0)
			dbk_retire_add(&retire, &syscalls[i].entry);
		if (syscalls[i].exit.id != 0)
			dbk_retire_add(&retire, &syscalls[i].exit);
	}
	dbk_retire_end(&retire);
	kvfree(syscalls);
	syscalls = NULL;
}

static bool is_asked_for(const struct name *name, const struct dbk_probedesc *description)
{
	return table_works[name->table] && name->number < DBK_CALL_NUMBERS &&
	       dbk_glob_match(description->module, table_names[name->table]) &&
	       dbk_glob_match(description->function, name->text);
}

/* Not all 1200 calls at load: a boot would pay for what no program names. */
static int provider_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
			    const struct dbk_probedesc *description)
{
	int err = 0;
	u32 i;

	dbk_state_assert();
	if (!syscalls) {
		syscalls = kvcalloc(ARRAY_SIZE(names), sizeof(*syscalls), GFP_KERNEL);
		if (!syscalls)
			return -ENOMEM;
		for (i = 0; i < DBK_CALL_TABLES; i++)
			table_works[i] = dbk_call_table_works(i, dbk_symbol);
	}
	for (i = 0; i < ARRAY_SIZE(names) && !err; i++)
		if (syscalls[i].exit.id == 0 && is_asked_for(&names[i], description))
			err = syscall_publish(&syscalls[i], &names[i]);
	return err;
}

static int provider_init(const struct dbk_provider *self)
{
	dbk_state_assert();
	entries.hook = (struct dbk_tracepoint_hook){ "sys_enter", on_enter };
	exits.hook = (struct dbk_tracepoint_hook){ "sys_exit", on_exit };
	if (!dbk_tracepoint_find(&entries.hook) || !dbk_tracepoint_find(&exits.hook))
		return -ENOENT;
	entries.frame = dbk_tracepoint_frame(entries.hook.tracepoint);
	exits.frame = dbk_tracepoint_frame(exits.hook.tracepoint);
	return 0;
}

static struct side *side_of(const struct dbk_probe *probe)
{
	return probe->name[0] == 'e' ? &entries : &exits;
}

static int provider_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct side *side = side_of(probe);
	int err;

	dbk_state_assert();
	err = dbk_tracepoint_hook(&side->hook);
	side->enabled += err == 0;
	return err;
}

static void provider_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	dbk_state_assert();
	side_of(probe)->enabled--;
}

/* The last probe of a side is gone: so is the slow path. */
static void side_settle(struct side *side)
{
	if (side->enabled == 0)
		dbk_tracepoint_unhook(&side->hook);
}

static int provider_settle(const struct dbk_provider *self, const struct module *module)
{
	side_settle(&entries);
	side_settle(&exits);
	return 0;
}

const struct dbk_provider dbk_provider_syscall = {
	.name = "syscall",
	.init = provider_init,
	.exit = provider_exit,
	.provide = provider_provide,
	.enable = provider_enable,
	.disable = provider_disable,
	.settle = provider_settle,
};
