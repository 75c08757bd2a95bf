/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * proc.h - provider proc: the life of processes and threads, and their signals
 *
 * A process, not a thread: creating a thread is not a create, and exit fires once, when the last thread leaves.  start and
 * lwp-start fire when the new thread is about to leave the kernel for the first time, so not in threads of the kernel; exec
 * and exec-failure see what programs ask for, not what the kernel itself executes (exec-success does).
 */
/* A fault of the thread's own that becomes a signal. */
DBK_PLACE(proc, "vmlinux", "", "fault", "6.1+", TRACEPOINT, signal_generate,
	  (int signal, struct kernel_siginfo *info, struct task_struct *task, int group, int result),
	  task == current && dbk_fault_of(signal, info), PASS(dbk_fault_of(signal, info), info))

/* In the parent, and in the creator. */
DBK_PLACE(proc, "vmlinux", "", "create", "6.1+", TRACEPOINT, sched_process_fork,
	  (struct task_struct *parent, struct task_struct *child), child->tgid == child->pid, PASS(child))
DBK_PLACE(proc, "vmlinux", "", "lwp-create", "6.1+", TRACEPOINT, sched_process_fork,
	  (struct task_struct *parent, struct task_struct *child), child->tgid != child->pid, PASS(child, child))
/* What each system call passes is looked at once (kmod/providers/proc.c). */
DBK_CODED(proc, "start", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(proc, "lwp-start", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(proc, "exec-failure", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(proc, "signal-clear", "6.1+", TRACEPOINT, sys_exit)

/* In the caller, of execve() and execveat() by whatever table.  Without a path that can be read it is empty. */
DBK_PLACE(proc, "vmlinux", "", "exec", "6.1+", ENTRY, do_execveat_common, (int from, struct filename *path), true,
	  PASS(IS_ERR_OR_NULL(path) ? "" : path->name))

/* In the new image. */
DBK_PLACE(proc, "vmlinux", "", "exec-success", "6.1+", TRACEPOINT, sched_process_exec,
	  (struct task_struct *task, pid_t before, struct linux_binprm *program), true, PASS_NONE())
DBK_PLACE(proc, "vmlinux", "", "lwp-exit", "6.1+", TRACEPOINT, sched_process_exit,
	  (struct task_struct *task), true, PASS_NONE())
DBK_PLACE(proc, "vmlinux", "", "exit", "6.1+", TRACEPOINT, sched_process_exit, (struct task_struct *task),
	  dbk_is_last_exit(task), PASS(dbk_exit_reason(task)))

/* In the sender; what the receiver ignores is discarded. */
DBK_PLACE(proc, "vmlinux", "", "signal-send", "6.1+", TRACEPOINT, signal_generate,
	  (int signal, struct kernel_siginfo *info, struct task_struct *task, int group, int result),
	  true, PASS(task, task, signal))
DBK_PLACE(proc, "vmlinux", "", "signal-discard", "6.1+", TRACEPOINT, signal_generate,
	  (int signal, struct kernel_siginfo *info, struct task_struct *task, int group, int result),
	  result == TRACE_SIGNAL_IGNORED, PASS(task, task, signal))
/* In the receiver. */
DBK_PLACE(proc, "vmlinux", "", "signal-handle", "6.1+", TRACEPOINT, signal_deliver,
	  (int signal, struct kernel_siginfo *info, struct k_sigaction *action),
	  true, PASS(signal, info, action->sa.sa_handler))
