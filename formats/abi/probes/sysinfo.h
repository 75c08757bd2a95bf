/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * sysinfo.h - provider sysinfo: what a CPU does, a probe for each of its counters
 *
 * arg0 is by how much the counter goes up.  The ticks are those of the clock that the kernel accounts by.
 */
DBK_PLACE(sysinfo, "vmlinux", "", "pswitch", "6.1+", TRACEPOINT, sched_switch,
	  (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state),
	  true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "inv_swtch", "6.1+", TRACEPOINT, sched_switch,
	  (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state),
	  (preempt || state == TASK_RUNNING) && prev->pid != 0, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "idlethread", "6.1+", TRACEPOINT, sched_switch,
	  (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state),
	  next->pid == 0, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "cpu_ticks_user", "6.1+", ENTRY, account_process_tick,
	  (struct task_struct *task, int user),
	  user, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "cpu_ticks_kernel", "6.1+", ENTRY, account_process_tick,
	  (struct task_struct *task, int user),
	  !user && task->pid != 0, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "cpu_ticks_idle", "6.1+", ENTRY, account_process_tick,
	  (struct task_struct *task, int user),
	  !user && task->pid == 0, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "sysexec", "6.1+", TRACEPOINT, sched_process_exec,
	  (struct task_struct *task, pid_t old, struct linux_binprm *program),
	  true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "sysfork", "6.1+", ENTRY, kernel_clone, (struct kernel_clone_args *args),
	  !args->fn && !(args->flags & (CLONE_THREAD | CLONE_VFORK)), PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "sysvfork", "6.1+", ENTRY, kernel_clone, (struct kernel_clone_args *args),
	  args->flags & CLONE_VFORK, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "nthreads", "6.1+", TRACEPOINT, sched_process_fork,
	  (struct task_struct *parent, struct task_struct *child),
	  child->pid != child->tgid, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "sysread", "6.1+", ENTRY, vfs_read vfs_readv, (), true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "syswrite", "6.1+", ENTRY, vfs_write vfs_writev, (), true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "readch", "6.1+", RETURN, vfs_read vfs_readv, (long bytes), bytes > 0, PASS(bytes))
DBK_PLACE(sysinfo, "vmlinux", "", "writech", "6.1+", RETURN, vfs_write vfs_writev, (long bytes), bytes > 0, PASS(bytes))
DBK_PLACE(sysinfo, "vmlinux", "", "namei", "6.1+", ENTRY, filename_lookup, (), true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "namei", "6.1+", ENTRY, do_filp_open do_file_open_root __filename_parentat, (), true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "modload", "6.1+", TRACEPOINT, module_load, (struct module *module),
	  true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "modunload", "6.1+", TRACEPOINT, module_free, (struct module *module),
	  true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "msg", "6.1+", ENTRY, do_msgsnd, (), true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "msg", "6.1+", ENTRY, do_msgrcv, (), true, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "sema", "6.1+", ENTRY, do_semtimedop, (), true, PASS(1))
/* A mutex that is waited for has one more each time its waiter spins or sleeps; at the first the thread is still running. */
DBK_PLACE(sysinfo, "vmlinux", "", "mutex_adenters", "6.1+", TRACEPOINT, contention_begin,
	  (void *lock, unsigned int flags),
	  (flags & LCB_F_MUTEX) && (flags & LCB_F_SPIN) && task_is_running(current), PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "rw_rdfails", "6.1+", TRACEPOINT, contention_begin,
	  (void *lock, unsigned int flags),
	  flags & LCB_F_READ, PASS(1))
DBK_PLACE(sysinfo, "vmlinux", "", "rw_wrfails", "6.1+", TRACEPOINT, contention_begin,
	  (void *lock, unsigned int flags),
	  flags & LCB_F_WRITE, PASS(1))

DBK_ABSENT(sysinfo, "bread", "io:::start has what is read")
DBK_ABSENT(sysinfo, "bwrite", "io:::start has what is written")
DBK_ABSENT(sysinfo, "lread", "vfs::vop_read:entry has reads of files")
DBK_ABSENT(sysinfo, "lwrite", "vfs::vop_write:entry has writes to files")
DBK_ABSENT(sysinfo, "phread", "there are no raw devices")
DBK_ABSENT(sysinfo, "phwrite", "there are no raw devices")
DBK_ABSENT(sysinfo, "cpu_ticks_wait", "waiting for a disk is time of the idle thread")
DBK_ABSENT(sysinfo, "wait_ticks_io", "waiting for a disk is time of the idle thread")
DBK_ABSENT(sysinfo, "intrblk", "interrupts are not blocked by level")
DBK_ABSENT(sysinfo, "procovf", "sdt:::sys_exit has the error of a fork()")
DBK_ABSENT(sysinfo, "trap", "sdt:::page_fault_user and page_fault_kernel are most of them")
DBK_ABSENT(sysinfo, "xcalls", "sdt:::call_function_entry has calls of other CPUs")
DBK_ABSENT(sysinfo, "canch", "terminals do not count characters")
DBK_ABSENT(sysinfo, "outch", "terminals do not count characters")
DBK_ABSENT(sysinfo, "rawch", "terminals do not count characters")
DBK_ABSENT(sysinfo, "rcvint", "interrupts are not counted by purpose: sdt:::irq_handler_entry")
DBK_ABSENT(sysinfo, "xmtint", "interrupts are not counted by purpose: sdt:::irq_handler_entry")
DBK_ABSENT(sysinfo, "ufsdirblk", "there is no UFS")
DBK_ABSENT(sysinfo, "ufsiget", "there is no UFS")
DBK_ABSENT(sysinfo, "ufsinopage", "there is no UFS")
DBK_ABSENT(sysinfo, "ufsipage", "there is no UFS")
