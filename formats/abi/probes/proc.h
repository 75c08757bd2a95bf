/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* proc.h - provider proc: the life of processes and threads, and their signals (kmod/providers/proc.c) */
DBK_CODED(proc, "create", "6.1+", TRACEPOINT, sched_process_fork)
DBK_CODED(proc, "start", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(proc, "exec", "6.1+", TRACEPOINT, sys_enter)
DBK_CODED(proc, "exec-success", "6.1+", TRACEPOINT, sched_process_exec)
DBK_CODED(proc, "exec-failure", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(proc, "exit", "6.1+", TRACEPOINT, sched_process_exit)
DBK_CODED(proc, "lwp-create", "6.1+", TRACEPOINT, sched_process_fork)
DBK_CODED(proc, "lwp-start", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(proc, "lwp-exit", "6.1+", TRACEPOINT, sched_process_exit)
DBK_CODED(proc, "signal-send", "6.1+", TRACEPOINT, signal_generate)
DBK_CODED(proc, "signal-discard", "6.1+", TRACEPOINT, signal_generate)
DBK_CODED(proc, "signal-handle", "6.1+", TRACEPOINT, signal_deliver)
DBK_CODED(proc, "signal-clear", "6.1+", TRACEPOINT, sys_exit)

/* A fault of the thread's own that becomes a signal. */
DBK_PLACE(proc, "vmlinux", "", "fault", "6.1+", TRACEPOINT, signal_generate,
	  (int signal, struct kernel_siginfo *info, struct task_struct *task, int group, int result),
	  task == current && dbk_fault_of(signal, info), PASS(dbk_fault_of(signal, info), info))
