// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc.c - provider proc: the life of processes and threads, and their signals
 *
 *   probe           fires in           arguments
 *   create          the parent         arg0: the child's task_struct
 *   start           the new process    none
 *   exec            the caller         arg0: the path, a string in kernel memory
 *   exec-success    the new image      none
 *   exec-failure    the caller         arg0: errno
 *   exit            the process        arg0: CLD_EXITED, CLD_KILLED or CLD_DUMPED
 *   lwp-create      the creator        arg0, arg1: the new thread's task_struct
 *   lwp-start       the new thread     none
 *   lwp-exit        the thread         none
 *   signal-send     the sender         arg0, arg1: the receiver's task_struct; arg2: signal
 *   signal-discard  the sender         as signal-send; the receiver ignores it
 *   signal-handle   the receiver       arg0: signal; arg1: its siginfo; arg2: the handler
 *   signal-clear    the receiver       arg0: signal, taken by sigtimedwait() and the like
 *
 * A process, not a thread: creating a thread is not a create, and exit fires once,
 * when the last thread leaves.  start and lwp-start fire when the new thread is
 * about to leave the kernel for the first time, so not in threads of the kernel;
 * exec and exec-failure see what programs ask for, not what the kernel itself
 * executes (exec-success does).
 */
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <trace/events/signal.h>

#include "kmod/arch/x86/call.h"
#include "kmod/providers/site.h"

enum { FORK, EXEC, TASK_EXIT, SIGNAL_SENT, SIGNAL_HANDLED, CALL, CALL_END, SITES };

enum {
	CREATE,
	START,
	EXEC_ASKED,
	EXEC_SUCCESS,
	EXEC_FAILURE,
	EXIT,
	LWP_CREATE,
	LWP_START,
	LWP_EXIT,
	SIGNAL_SEND,
	SIGNAL_DISCARD,
	SIGNAL_HANDLE,
	SIGNAL_CLEAR,
	PROBES
};

static struct dbk_site_probe probes[PROBES] = {
	[CREATE] = { "create", FORK, 1 },
	[START] = { "start", CALL_END, 0 },
	[EXEC_ASKED] = { "exec", CALL, 1 },
	[EXEC_SUCCESS] = { "exec-success", EXEC, 0 },
	[EXEC_FAILURE] = { "exec-failure", CALL_END, 1 },
	[EXIT] = { "exit", TASK_EXIT, 1 },
	[LWP_CREATE] = { "lwp-create", FORK, 2 },
	[LWP_START] = { "lwp-start", CALL_END, 0 },
	[LWP_EXIT] = { "lwp-exit", TASK_EXIT, 0 },
	[SIGNAL_SEND] = { "signal-send", SIGNAL_SENT, 3 },
	[SIGNAL_DISCARD] = { "signal-discard", SIGNAL_SENT, 3 },
	[SIGNAL_HANDLE] = { "signal-handle", SIGNAL_HANDLED, 3 },
	[SIGNAL_CLEAR] = { "signal-clear", CALL_END, 1 },
};

/* 256: strsize unless it was set; a longer path is cut. */
#define PATH_BYTES 256

/*
 * The last two threads of a process may both pass sched_process_exit after both
 * were counted out.  The first to leave its process's mark here fires.
 */
#define EXIT_MARK_BITS 8
static u64 exit_marks[1 << EXIT_MARK_BITS];

static const u64 no_args[1];

static __probe_ctx void on_fork(void *site, struct task_struct *parent, struct task_struct *child)
{
	u64 args[] = { (unsigned long)child, (unsigned long)child };
	bool is_process = child->tgid == child->pid;

	dbk_site_fire(site, &probes[is_process ? CREATE : LWP_CREATE], args);
}

static __probe_ctx void on_exec(void *site, struct task_struct *task, pid_t old_pid,
				struct linux_binprm *binprm)
{
	dbk_site_fire(site, &probes[EXEC_SUCCESS], no_args);
}

static __probe_ctx bool is_first_to_exit(struct task_struct *task)
{
	/* Unique for a while: when the leader was born, and its id. */
	u64 mark = task->group_leader->start_boottime ^ (u64)task->tgid << 40;
	u64 *slot = &exit_marks[hash_64(mark, EXIT_MARK_BITS)];

	return xchg(slot, mark) != mark;
}

static __probe_ctx u64 exit_reason(struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	int code = signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code : task->exit_code;

	if ((code & 0x7f) == 0)
		return CLD_EXITED;
	return code & 0x80 ? CLD_DUMPED : CLD_KILLED;
}

static __probe_ctx void on_exit(void *site, struct task_struct *task)
{
	u64 args[] = { exit_reason(task) };

	dbk_site_fire(site, &probes[LWP_EXIT], no_args);
	if (atomic_read(&task->signal->live) != 0)
		return;
	if (is_first_to_exit(task))
		dbk_site_fire(site, &probes[EXIT], args);
}

static __probe_ctx void on_signal_sent(void *site, int sig, struct kernel_siginfo *info,
				       struct task_struct *task, int group, int result)
{
	u64 args[] = { (unsigned long)task, (unsigned long)task, sig };

	dbk_site_fire(site, &probes[SIGNAL_SEND], args);
	if (result == TRACE_SIGNAL_IGNORED)
		dbk_site_fire(site, &probes[SIGNAL_DISCARD], args);
}

static __probe_ctx void on_signal_handled(void *site, int sig, struct kernel_siginfo *info,
					  struct k_sigaction *action)
{
	u64 args[] = { sig, (unsigned long)info, (unsigned long)action->sa.sa_handler };

	dbk_site_fire(site, &probes[SIGNAL_HANDLE], args);
}

static __probe_ctx noinline void fire_exec(struct dbk_site *site, u64 address)
{
	char path[PATH_BYTES];
	u64 args[] = { (unsigned long)path };

	if (!dbk_probe_is_enabled(&probes[EXEC_ASKED].probe))
		return;
	if (dbk_host_load_user_string(path, address, sizeof(path)) < 0)
		path[0] = '\0';
	dbk_site_fire(site, &probes[EXEC_ASKED], args);
}

static __probe_ctx_inline u64 exec_path(const struct pt_regs *regs, unsigned int index)
{
	return dbk_call_is_32bit() ? dbk_call_argument_32(regs, index) : dbk_call_argument(regs, index);
}

static __probe_ctx void on_call(void *site, struct pt_regs *regs, long number)
{
	switch (dbk_call_of(number)) {
	case DBK_CALL_EXECVE:
		fire_exec(site, exec_path(regs, 0));
		break;
	case DBK_CALL_EXECVEAT:
		fire_exec(site, exec_path(regs, 1));
		break;
	default:
		break;
	}
}

static __probe_ctx void on_call_end(void *site, struct pt_regs *regs, long value)
{
	u64 args[1];

	switch (dbk_call_of(dbk_call_number(regs))) {
	case DBK_CALL_EXECVE:
	case DBK_CALL_EXECVEAT:
		args[0] = -value;
		if (IS_ERR_VALUE(value))
			dbk_site_fire(site, &probes[EXEC_FAILURE], args);
		break;
	case DBK_CALL_CLONE:
		/* To the parent it returns an id. */
		if (value != 0)
			break;
		if (current->pid == current->tgid)
			dbk_site_fire(site, &probes[START], no_args);
		dbk_site_fire(site, &probes[LWP_START], no_args);
		break;
	case DBK_CALL_SIGWAIT:
		args[0] = value;
		if (value > 0)
			dbk_site_fire(site, &probes[SIGNAL_CLEAR], args);
		break;
	default:
		break;
	}
}

static struct dbk_site sites[SITES] = {
	[FORK] = { "sched_process_fork", on_fork },
	[EXEC] = { "sched_process_exec", on_exec },
	[TASK_EXIT] = { "sched_process_exit", on_exit },
	[SIGNAL_SENT] = { "signal_generate", on_signal_sent },
	[SIGNAL_HANDLED] = { "signal_deliver", on_signal_handled },
	[CALL] = { "sys_enter", on_call },
	[CALL_END] = { "sys_exit", on_call_end },
};

static const struct dbk_site_provider proc = {
	.provider = &dbk_provider_proc,
	.sites = sites,
	.probes = probes,
	.site_count = SITES,
	.probe_count = PROBES,
};

DBK_SITE_PROVIDER(proc, "proc");
