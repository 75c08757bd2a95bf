/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * sched.h - provider sched: which thread a CPU runs, and why it stops
 *
 * sleep and preempt fire before off-cpu.  The idle thread leaves because there is something to do, which is neither.
 */
DBK_PLACE(sched, "vmlinux", "", "sleep", "6.1+", TRACEPOINT, sched_switch,
	  (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state),
	  !preempt && state != TASK_RUNNING && prev->pid != 0, PASS_NONE())
DBK_PLACE(sched, "vmlinux", "", "preempt", "6.1+", TRACEPOINT, sched_switch,
	  (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state),
	  (preempt || state == TASK_RUNNING) && prev->pid != 0, PASS_NONE())
DBK_PLACE(sched, "vmlinux", "", "off-cpu", "6.1+", TRACEPOINT, sched_switch,
	  (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state),
	  true, PASS(next, next))
DBK_PLACE(sched, "vmlinux", "", "on-cpu", "6.1+", ENTRY, finish_task_switch, (struct task_struct *prev),
	  true, PASS_NONE())
DBK_PLACE(sched, "vmlinux", "", "wakeup", "6.1+", TRACEPOINT, sched_waking, (struct task_struct *task),
	  true, PASS(task, task))

DBK_PLACE(sched, "vmlinux", "", "enqueue", "6.1+", ENTRY, enqueue_task_fair,
	  (struct rq *queue, struct task_struct *task, int flags),
	  true, PASS(task, task, queue, !(flags & DBK_ENQUEUE_HEAD)))
DBK_PLACE(sched, "vmlinux", "", "enqueue", "6.1+", ENTRY, enqueue_task_rt,
	  (struct rq *queue, struct task_struct *task, int flags),
	  true, PASS(task, task, queue, !(flags & DBK_ENQUEUE_HEAD)))
DBK_PLACE(sched, "vmlinux", "", "enqueue", "6.1+", ENTRY, enqueue_task_dl,
	  (struct rq *queue, struct task_struct *task, int flags),
	  true, PASS(task, task, queue, !(flags & DBK_ENQUEUE_HEAD)))
DBK_PLACE(sched, "vmlinux", "", "dequeue", "6.1+", ENTRY, dequeue_task_fair,
	  (struct rq *queue, struct task_struct *task), true, PASS(task, task, queue))
DBK_PLACE(sched, "vmlinux", "", "dequeue", "6.1+", ENTRY, dequeue_task_rt,
	  (struct rq *queue, struct task_struct *task), true, PASS(task, task, queue))
DBK_PLACE(sched, "vmlinux", "", "dequeue", "6.1+", ENTRY, dequeue_task_dl,
	  (struct rq *queue, struct task_struct *task), true, PASS(task, task, queue))

/* Asked for by nice() and sched_setscheduler(), whether it is then allowed or not. */
DBK_PLACE(sched, "vmlinux", "", "change-pri", "6.1+", ENTRY, set_user_nice,
	  (struct task_struct *task, long nice), task_nice(task) != nice,
	  PASS(task, task, NICE_TO_PRIO(nice)))
DBK_PLACE(sched, "vmlinux", "", "change-pri", "6.1+", ENTRY, __sched_setscheduler,
	  (struct task_struct *task, const struct sched_attr *attr), true,
	  PASS(task, task, dbk_priority_of(task, attr)))
DBK_PLACE(sched, "vmlinux", "", "tick", "6.1", ENTRY, scheduler_tick, (), true, PASS(current, current))
DBK_PLACE(sched, "vmlinux", "", "tick", "6.12+", ENTRY, sched_tick, (), true, PASS(current, current))
DBK_PLACE(sched, "vmlinux", "", "surrender", "6.1+", ENTRY, do_sched_yield, (), true,
	  PASS(current, current))

DBK_ABSENT(sched, "remain-cpu", "the scheduler passes no place when it lets the thread run on that runs")
DBK_ABSENT(sched, "cpucaps-sleep", "CPU bandwidth is taken from groups of threads, not from a thread")
DBK_ABSENT(sched, "cpucaps-wakeup", "CPU bandwidth is given to groups of threads, not to a thread")
DBK_ABSENT(sched, "schedctl-nopreempt", "Linux has no schedctl_start()")
DBK_ABSENT(sched, "schedctl-preempt", "Linux has no schedctl_start()")
DBK_ABSENT(sched, "schedctl-yield", "Linux has no schedctl_start()")
