/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider sched: what args[] of its probes are.  args[0] is the thread it is about, args[1] its process.
 */
#pragma D depends_on library procfs.d

provider sched {
	probe off__cpu(struct task_struct *L, struct task_struct *P) : (lwpsinfo_t *L, psinfo_t *P);
	probe sleep(void);
	probe preempt(void);
	probe wakeup(struct task_struct *L, struct task_struct *P) : (lwpsinfo_t *L, psinfo_t *P);
};
