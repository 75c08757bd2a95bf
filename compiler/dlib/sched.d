/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider sched: what args[] of its probes are.  args[0] is the thread it is about, args[1] its process.
 */
#pragma D depends_on library procfs.d
#pragma D depends_on library cpu.d

/* A CPU's run queue stands for it.  Of another CPU than this one chip and memory node are not at hand. */
translator cpuinfo_t < struct rq *Q > {
	cpu_id = Q->cpu;
	cpu_pset = 0;
	cpu_chip = Q->cpu == curcpu->cpu_id ? curcpu->cpu_chip : -1;
	cpu_lgrp = Q->cpu == curcpu->cpu_id ? curcpu->cpu_lgrp : -1;
};

provider sched {
	probe on__cpu(void);
	probe off__cpu(struct task_struct *L, struct task_struct *P) : (lwpsinfo_t *L, psinfo_t *P);
	probe sleep(void);
	probe preempt(void);
	probe wakeup(struct task_struct *L, struct task_struct *P) : (lwpsinfo_t *L, psinfo_t *P);
	probe enqueue(struct task_struct *L, struct task_struct *P, struct rq *Q, int tail) :
	    (lwpsinfo_t *L, psinfo_t *P, cpuinfo_t *Q, int tail);
	probe dequeue(struct task_struct *L, struct task_struct *P, struct rq *Q) :
	    (lwpsinfo_t *L, psinfo_t *P, cpuinfo_t *Q);
	probe change__pri(struct task_struct *L, struct task_struct *P, int priority) :
	    (lwpsinfo_t *L, psinfo_t *P, int priority);
	probe tick(struct task_struct *L, struct task_struct *P) : (lwpsinfo_t *L, psinfo_t *P);
	probe surrender(struct task_struct *L, struct task_struct *P) : (lwpsinfo_t *L, psinfo_t *P);
};
