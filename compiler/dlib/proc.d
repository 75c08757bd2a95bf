/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider proc: what args[] of its probes are.  Where a probe is about a thread of a process, args[0] is the
 * thread and args[1] its process.
 */
#pragma D depends_on library procfs.d

/* args[0] of fault. */
inline int FLTILL = 1;
inline int FLTBPT = 3;
inline int FLTTRACE = 4;
inline int FLTACCESS = 5;
inline int FLTBOUNDS = 6;
inline int FLTIZDIV = 8;
inline int FLTFPE = 9;

provider proc {
	probe fault(int fault, struct kernel_siginfo *info);
	probe create(struct task_struct *P) : (psinfo_t *P);
	probe start(void);
	probe exec(char *path) : (string path);
	probe exec__success(void);
	probe exec__failure(int error);
	probe exit(int reason);
	probe lwp__create(struct task_struct *L, struct task_struct *P) : (lwpsinfo_t *L, psinfo_t *P);
	probe lwp__start(void);
	probe lwp__exit(void);
	probe signal__send(struct task_struct *L, struct task_struct *P, int signal) :
	    (lwpsinfo_t *L, psinfo_t *P, int signal);
	probe signal__discard(struct task_struct *L, struct task_struct *P, int signal) :
	    (lwpsinfo_t *L, psinfo_t *P, int signal);
	probe signal__handle(int signal, struct kernel_siginfo *info, void (*handler)(void));
	probe signal__clear(int signal);
};
