// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc.c - provider proc: its probes that stand on every system call; formats/abi/probes/proc.h has the others
 *
 *   probe           fires in           arguments
 *   start           the new process    none
 *   exec-failure    the caller         arg0: errno
 *   lwp-start       the new thread     none
 *   signal-clear    the receiver       arg0: signal, taken by sigtimedwait() and the like
 *
 * A row each would be a callback each of every call: four at its end took 77 instructions more than one that looks which
 * call it is.
 */
#include <linux/sched.h>

#include "arch/call.h"
#include "kmod/providers/site.h"

enum { CALL_END, SITES };

enum { START, EXEC_FAILURE, LWP_START, SIGNAL_CLEAR, PROBES };

static struct dbk_site_probe probes[PROBES] = {
	[START] = { "start", CALL_END, 0 },
	[EXEC_FAILURE] = { "exec-failure", CALL_END, 1 },
	[LWP_START] = { "lwp-start", CALL_END, 0 },
	[SIGNAL_CLEAR] = { "signal-clear", CALL_END, 1 },
};

static const u64 no_args[1];

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
