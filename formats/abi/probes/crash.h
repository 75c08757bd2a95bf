/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * crash.h - provider crash: what a kernel says before it dies, or instead of dying
 *
 * panic has the format of its message, warn where it was asked for: the file, the line, and the caller's address.  hung-task has
 * the thread, oom-kill the process that is to end, and why.  The stack is that of what went wrong.
 */
DBK_PLACE(crash, "vmlinux", "", "panic", "6.1+", ENTRY, panic, (const char *format), true, PASS(format))
DBK_PLACE(crash, "vmlinux", "", "oops", "6.1+", ENTRY, oops_enter, (), true, PASS_NONE())
DBK_PLACE(crash, "vmlinux", "", "warn", "6.1+", ENTRY, __warn, (const char *file, int line, void *caller),
	  true, PASS(file, line, caller))
DBK_PLACE(crash, "vmlinux", "", "hung-task", "6.1+", TRACEPOINT, sched_process_hang, (struct task_struct *task),
	  true, PASS(task))
DBK_PLACE(crash, "vmlinux", "", "oom-kill", "6.1+", ENTRY, __oom_kill_process, (struct task_struct *task, const char *why),
	  true, PASS(task, why))

DBK_ABSENT(crash, "soft-lockup", "it has no function of its own: sdt:::console has its message")
