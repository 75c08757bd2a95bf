// SPDX-License-Identifier: GPL-2.0-only
/*
 * triggers.c - the machine's own triggers: hooks; see triggers.h and machine.h (docs/design/0016-the-dying-machine.md)
 */
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/reboot.h>

#include "engine/api/trigger.h"
#include "kmod/kernel/tracepoint.h"
#include "kmod/triggers/console.h"
#include "kmod/triggers/machine.h"
#include "kmod/triggers/triggers.h"

#define INTERVAL_NS    NSEC_PER_SEC /* between two of a name */
#define LOOK_BYTES     48u	    /* where a message says what it is about: near its start */
#define BUG_LINE_BYTES 96u

static const char PANIC_TEXT[] = "Kernel panic - not syncing: ";
static const char LOCKUP_TEXT[] = "BUG: soft lockup";
static const char BUG_TEXT[] = "BUG: ";

static struct dbk_trigger oops, panicked, hung_task, soft_lockup, oom_kill;
/* What the kernel said of the bug that it is about to die of; ends in a NUL at all times. */
static char bug_line[BUG_LINE_BYTES];

/* ---- what the kernel says ------------------------------------------------------ */

/* Where @word begins within the first bytes of a text, or -1. */
static __probe_ctx int find_word(const char *text, u32 bytes, const char *word, u32 word_bytes)
{
	u32 at, i;

	for (at = 0; at < LOOK_BYTES && at + word_bytes <= bytes; at++) {
		for (i = 0; i < word_bytes && text[at + i] == word[i]; i++)
			;
		if (i == word_bytes)
			return at;
	}
	return -1;
}

static __probe_ctx void keep_bug_line(const char *text, u32 bytes)
{
	struct dbk_line line = { .used = 0 };

	dbk_dying_text(&line, text, bytes < BUG_LINE_BYTES - 1 ? bytes : BUG_LINE_BYTES - 1);
	__builtin_memcpy(bug_line, line.text, line.used); /* a fortified one panics and logs */
	bug_line[line.used] = '\0';
}

/*
 * The kernel's own panic() says this before it stops the other CPUs, and before a
 * crash kernel is started, which skips the notifiers.  oops_in_progress distinguishes it from
 * a process that writes the same into /dev/kmsg.
 */
static __probe_ctx void said_panic(const char *text, u32 bytes)
{
	struct dbk_line reason = { .used = 0 };

	dbk_dying_text(&reason, text, bytes);
	dbk_dying_mark(DBK_CRASH_PANIC, &reason);
	dbk_trigger_enter(dbk.engine, &panicked, 0);
	dbk_dying_seal(DBK_SEAL_OPEN);
}

__probe_ctx void dbk_dying_console(const char *text, u32 bytes)
{
	int at;

	dbk_dying_log(text, bytes);
	at = find_word(text, bytes, PANIC_TEXT, sizeof(PANIC_TEXT) - 1);
	/* "---[ end Kernel panic - not syncing: ..." is the same panic's last line. */
	if (at >= 4 && find_word(text + at - 4, 4, "end ", 4) == 0)
		return;
	if (at >= 0 && READ_ONCE(oops_in_progress)) {
		at += sizeof(PANIC_TEXT) - 1;
		said_panic(text + at, bytes - at);
	} else if (find_word(text, bytes, LOCKUP_TEXT, sizeof(LOCKUP_TEXT) - 1) >= 0) {
		dbk_trigger_fire(dbk.engine, &soft_lockup, 0);
	} else if (find_word(text, bytes, BUG_TEXT, sizeof(BUG_TEXT) - 1) == 0 &&
		   READ_ONCE(oops_in_progress)) {
		/* Any process may be called so, and have its segfault logged. */
		keep_bug_line(text, bytes);
	}
}

/* ---- notifiers ------------------------------------------------------------------- */

static __probe_ctx int dbk_dying_panic(struct notifier_block *block, unsigned long event,
				       void *text)
{
	struct dbk_line reason = { .used = 0 };

	dbk_dying_text(&reason, text, sizeof(reason.text));
	dbk_dying_mark(DBK_CRASH_PANIC, &reason);
	dbk_trigger_enter(dbk.engine, &panicked, 0);
	/* The other CPUs stand still. */
	dbk_dying_seal(DBK_SEAL_DEAD);
	return NOTIFY_DONE;
}

static __probe_ctx int dbk_dying_oops(struct notifier_block *block, unsigned long event, void *data)
{
	const struct die_args *args = data;
	struct dbk_line reason = { .used = 0 };

	if (event != DIE_OOPS)
		return NOTIFY_DONE;
	dbk_dying_text(&reason, bug_line[0] != '\0' ? bug_line : args->str, BUG_LINE_BYTES);
	if (args->regs) {
		dbk_dying_text(&reason, " at ", 4);
		dbk_dying_hex(&reason, instruction_pointer(args->regs));
	}
	dbk_dying_text(&reason, ", ", 2);
	dbk_dying_text(&reason, current->comm, TASK_COMM_LEN);
	dbk_dying_text(&reason, "[", 1);
	dbk_dying_decimal(&reason, current->pid, 1);
	dbk_dying_text(&reason, "]", 1);
	bug_line[0] = '\0';
	dbk_dying_mark(DBK_CRASH_OOPS, &reason);
	if (dbk_trigger_fire(dbk.engine, &oops, 0) != 0)
		dbk_dying_seal(DBK_SEAL_OPEN);
	return NOTIFY_DONE;
}

static __probe_ctx int dbk_dying_reboot(struct notifier_block *block, unsigned long event,
					void *command)
{
	struct dbk_line reason = { .used = 0 };
	const char *what = event == SYS_HALT	    ? "halt"
			   : event == SYS_POWER_OFF ? "power off"
						    : "restart";

	dbk_dying_text(&reason, what, sizeof(reason.text));
	if (command) {
		dbk_dying_text(&reason, ": ", 2);
		dbk_dying_text(&reason, command, sizeof(reason.text));
	}
	dbk_dying_mark(DBK_CRASH_RESTART, &reason);
	return NOTIFY_DONE;
}

static struct notifier_block panic_block = {
	.notifier_call = dbk_dying_panic,
	.priority = INT_MAX, /* before those that print, wait, or start another kernel */
};
static struct notifier_block die_block = { .notifier_call = dbk_dying_oops };
static struct notifier_block reboot_block = { .notifier_call = dbk_dying_reboot };

/* ---- tracepoints ------------------------------------------------------------------ */

/* Their arguments differ between kernels, stable ones included, and are not looked at. */
static __probe_ctx void on_hung_task(void *data)
{
	dbk_trigger_fire(dbk.engine, &hung_task, 0);
}

static __probe_ctx void on_oom(void *data)
{
	dbk_trigger_fire(dbk.engine, &oom_kill, 0);
}

static struct dbk_tracepoint_hook hooks[] = {
	{ "sched_process_hang", on_hung_task },
	{ "mark_victim", on_oom },
};

void dbk_triggers_hook(void)
{
	u32 i;

	dbk_trigger_init(&oops, DBK_TRIGGER_OOPS, 0, "oops", INTERVAL_NS);
	dbk_trigger_init(&panicked, DBK_TRIGGER_PANIC, 0, "panic", INTERVAL_NS);
	dbk_trigger_init(&hung_task, DBK_TRIGGER_HUNG_TASK, 0, "hung-task", INTERVAL_NS);
	dbk_trigger_init(&soft_lockup, DBK_TRIGGER_SOFT_LOCKUP, 0, "soft-lockup", INTERVAL_NS);
	dbk_trigger_init(&oom_kill, DBK_TRIGGER_OOM, 0, "oom-kill", INTERVAL_NS);
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (dbk_tracepoint_hook(&hooks[i]) != 0)
			pr_warn("no tracepoint %s: what it reports is not seen\n", hooks[i].name);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	register_die_notifier(&die_block);
	register_reboot_notifier(&reboot_block);
	dbk_clock_watch();
}

void dbk_triggers_unhook(void)
{
	u32 i;

	dbk_clock_unwatch();
	unregister_reboot_notifier(&reboot_block);
	unregister_die_notifier(&die_block);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	dbk_console_unhook();
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		dbk_tracepoint_unhook(&hooks[i]);
	tracepoint_synchronize_unregister();
	dbk_triggered_drain();
}
