/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and threads in the terms of procfs: psinfo_t, lwpsinfo_t, curpsinfo, curlwpsinfo.  They are read
 * out of the kernel's task_struct, so a program that uses them is compiled for a kernel's types.
 */
#pragma D depends_on library signal.d

/* pr_flag of a thread. */
inline int PR_STOPPED = 0x00000001;
inline int PR_PTRACE = 0x04000000;
inline int PR_ISSYS = 0x00001000;

/* pr_state of a thread, and the letters of pr_sname: S R Z T I O W. */
inline char SSLEEP = 1;
inline char SRUN = 2;
inline char SZOMB = 3;
inline char SSTOP = 4;
inline char SIDL = 5;
inline char SONPROC = 6;
inline char SWAIT = 7;

/* pr_dmodel of a process. */
inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;

typedef struct lwpsinfo {
	int pr_flag;			/* PR_ flags */
	id_t pr_lwpid;			/* thread id */
	uintptr_t pr_addr;		/* of the task_struct */
	uintptr_t pr_wchan;		/* always 0 */
	char pr_stype;			/* always 0 */
	char pr_state;			/* SSLEEP, SRUN, SZOMB, SSTOP or SONPROC */
	char pr_sname;			/* letter of pr_state */
	char pr_nice;			/* -20 to 19 */
	short pr_syscall;		/* always 0 */
	char pr_oldpri;			/* the same as pr_pri */
	char pr_cpu;			/* always 0 */
	int pr_pri;			/* the scheduler's priority: 0 is highest, 139 lowest */
	char pr_clname[8];		/* scheduling class: TS, RT, DL, BAT, IDLE or EXT */
	char pr_name[16];		/* the thread's name */
	int pr_onpro;			/* CPU it runs on, or ran on last */
	int pr_bindpro;			/* CPU that it is bound to; -1: none, or to several */
	int pr_bindpset;		/* always -1 */
} lwpsinfo_t;

typedef struct psinfo {
	int pr_nlwp;			/* threads */
	pid_t pr_pid;			/* process id, as pid has it */
	pid_t pr_ppid;			/* its parent's */
	pid_t pr_pgid;			/* process group */
	pid_t pr_sid;			/* session */
	uid_t pr_uid;			/* real user */
	uid_t pr_euid;			/* effective user */
	gid_t pr_gid;			/* real group */
	gid_t pr_egid;			/* effective group */
	uintptr_t pr_addr;		/* of the first thread's task_struct */
	size_t pr_size;			/* KiB */
	size_t pr_rssize;		/* KiB that are in memory; since 6.2 without what CPUs count apart */
	uint32_t pr_ttydev;		/* of the controlling terminal; -1: none */
	uint64_t pr_start;		/* nanoseconds after boot */
	uint64_t pr_time;		/* nanoseconds on a CPU: of the thread, and of those that ended */
	char pr_fname[16];		/* name of what it executes */
	char pr_psargs[80];		/* command line: arguments with blanks between */
	int pr_wstat;			/* as wait(2) gives it, when a zombie */
	int pr_argc;			/* count of arguments; of another process 0 */
	uintptr_t pr_argv;		/* in the process's memory */
	uintptr_t pr_envp;		/* in the process's memory; of another process not known */
	char pr_dmodel;			/* PR_MODEL_LP64, of a 32-bit program PR_MODEL_ILP32 */
	id_t pr_taskid;			/* always 0 */
	id_t pr_projid;			/* always 0 */
	int pr_nzomb;			/* always 0 */
	id_t pr_poolid;			/* always 0 */
	id_t pr_zoneid;			/* always 0 */
	id_t pr_contract;		/* always 0 */
	lwpsinfo_t pr_lwp;		/* the thread */
} psinfo_t;

/*
 * __state and exit_state as include/linux/sched.h numbers them: running 0, sleeping 1 and 2, stopped 4 and 8,
 * dead 0x10 to 0x80; a CPU works on it or not.
 */
translator lwpsinfo_t < struct task_struct *T > {
	/* PF_KTHREAD is 0x00200000. */
	pr_flag = ((T->__state & 0xc) ? PR_STOPPED : 0) | (T->ptrace ? PR_PTRACE : 0) |
	    ((T->flags & 0x00200000) ? PR_ISSYS : 0);
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_stype = 0;
	pr_state = T->exit_state ? SZOMB : (T->__state & 0xc) ? SSTOP : (T->__state & 0x3) ? SSLEEP :
	    T->on_cpu ? SONPROC : SRUN;
	pr_sname = T->exit_state ? 'Z' : (T->__state & 0xc) ? 'T' : (T->__state & 0x3) ? 'S' :
	    T->on_cpu ? 'O' : 'R';
	pr_nice = T->static_prio - 120;
	pr_syscall = 0;
	pr_oldpri = T->prio;
	pr_cpu = 0;
	pr_pri = T->prio;
	pr_clname = T->policy == 0 ? "TS" : T->policy == 1 || T->policy == 2 ? "RT" :
	    T->policy == 6 ? "DL" : T->policy == 3 ? "BAT" : T->policy == 5 ? "IDLE" : T->policy == 7 ? "EXT" : "<unknown>";
	pr_name = T->comm;
	pr_onpro = T->thread_info.cpu;
	pr_bindpro = T->nr_cpus_allowed == 1 ? T->thread_info.cpu : -1;
	pr_bindpset = -1;
};

/* A process's pages of one kind: kernels count them in plain words, since 6.2 in counters with a part per CPU. */
inline int64_t mm_pages[struct mm_struct *M, int kind] = sizeof (M->rss_stat) < 4 * sizeof (struct percpu_counter) ?
    ((int64_t *)&M->rss_stat)[kind] : ((struct percpu_counter *)&M->rss_stat)[kind].count;

/* MM_FILEPAGES is 0, MM_ANONPAGES 1, MM_SHMEMPAGES 3; without what each CPU counts apart it may be below 0. */
inline int64_t mm_resident[struct mm_struct *M] = mm_pages[M, 0] + mm_pages[M, 1] + mm_pages[M, 3];

/*
 * signal->pids[2] is the process group's (PIDTYPE_PGID), [3] the session's.  At the start of a process its
 * stack holds the count of arguments, then their addresses and a null, then those of the environment; the
 * count is read from there, so pr_argc and pr_envp are for the current process.  TIF_ADDR32 is bit 29: words have 4 bytes.
 */
inline int task_word[struct task_struct *T] = (T->thread_info.flags & (1 << 29)) ? 4 : 8;

translator psinfo_t < struct task_struct *T > {
	pr_nlwp = T->signal->nr_threads;
	pr_pid = T->tgid;
	pr_ppid = T->real_parent->tgid;
	pr_pgid = T->signal->pids[2]->numbers[0].nr;
	pr_sid = T->signal->pids[3]->numbers[0].nr;
	pr_uid = T->real_cred->uid.val;
	pr_euid = T->real_cred->euid.val;
	pr_gid = T->real_cred->gid.val;
	pr_egid = T->real_cred->egid.val;
	pr_addr = (uintptr_t)T->group_leader;
	pr_size = T->mm == NULL ? 0 : T->mm->total_vm * 4;
	pr_rssize = T->mm == NULL || mm_resident[T->mm] < 0 ? 0 : 4 * mm_resident[T->mm];
	pr_ttydev = T->signal->tty == NULL ? -1 :
	    (T->signal->tty->driver->major << 20) | (T->signal->tty->driver->minor_start + T->signal->tty->index);
	pr_start = T->group_leader->start_boottime;
	pr_time = T->se.sum_exec_runtime + T->signal->sum_sched_runtime;
	pr_fname = T->group_leader->comm;
	/* Another process's memory is not at hand: then its name. 79: one less than pr_psargs has. */
	pr_psargs = T->mm != NULL && T->mm == curthread->mm ? copyinargs(T->mm->arg_start,
	    T->mm->arg_end - T->mm->arg_start < 79 ? T->mm->arg_end - T->mm->arg_start : 79, T->comm) :
	    stringof(T->comm);
	pr_wstat = T->exit_code;
	pr_argc = T->mm == NULL ? 0 : *(uint32_t *)copyin(T->mm->start_stack, sizeof (uint32_t));
	pr_argv = T->mm == NULL ? 0 : T->mm->start_stack + task_word[T];
	pr_envp = T->mm == NULL ? 0 : T->mm->start_stack + 2 * task_word[T] +
	    task_word[T] * *(uint32_t *)copyin(T->mm->start_stack, sizeof (uint32_t));
	pr_dmodel = task_word[T] == 4 ? PR_MODEL_ILP32 : PR_MODEL_LP64;
	pr_taskid = 0;
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
	pr_lwp = xlate <lwpsinfo_t> (T);
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
#pragma D attributes Stable/Stable/Common curpsinfo

inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
#pragma D attributes Stable/Stable/Common curlwpsinfo
