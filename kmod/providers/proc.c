// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc.c - provider proc: the life of processes
 *
 *   proc:::create        in the parent; arg0: the child's task_struct
 *   proc:::exec-success  in the process, as its new self; no arguments
 *   proc:::exit          in the process; arg0: CLD_EXITED, CLD_KILLED or CLD_DUMPED
 *
 * A process, not a thread: creating a thread is no create, and exit fires once,
 * when the last thread leaves.
 */
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>

#include "kmod/core/provider.h"
#include "kmod/core/tracepoint.h"

enum { CREATE, EXEC_SUCCESS, EXIT, PROBES };

struct proc_probe {
	struct dbk_probe probe;
	struct tracepoint *tracepoint; /* [C] */
	void *callback;		       /* [C] */
	struct dbk_frame frame;	       /* [C] */
	u32 enabled;		       /* [S] */
	bool hooked;		       /* [S] */
};

static struct proc_probe proc_probes[PROBES];

/*
 * The last two threads of a process may both pass sched_process_exit after both
 * were counted out.  The first to leave its process's mark here fires.
 */
#define EXIT_MARK_BITS 8
static u64 exit_marks[1 << EXIT_MARK_BITS];

static __probe_ctx void fire(struct proc_probe *proc, const u64 *args)
{
	if (dbk_probe_is_enabled(&proc->probe))
		dbk_probe_fire(dbk.engine, &proc->probe, args, &proc->frame);
}

static __probe_ctx void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	u64 args[] = { (unsigned long)child };

	if (child->tgid == child->pid)
		fire(data, args);
}

static __probe_ctx void on_exec(void *data, struct task_struct *task, pid_t old_pid,
				struct linux_binprm *binprm)
{
	u64 none = 0;

	fire(data, &none);
}

static __probe_ctx bool is_first_to_exit(struct task_struct *task)
{
	/* Unique for a while: when the leader was born, and its id. */
	u64 mark = task->group_leader->start_boottime ^ (u64)task->tgid << 40;
	u64 *slot = &exit_marks[hash_64(mark, EXIT_MARK_BITS)];

	return xchg(slot, mark) != mark;
}

static __probe_ctx u64 exit_reason(struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	int code = signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code : task->exit_code;

	if ((code & 0x7f) == 0)
		return CLD_EXITED;
	return code & 0x80 ? CLD_DUMPED : CLD_KILLED;
}

static __probe_ctx void on_exit(void *data, struct task_struct *task)
{
	u64 args[] = { exit_reason(task) };

	if (atomic_read(&task->signal->live) != 0)
		return;
	if (thread_group_empty(task) || is_first_to_exit(task))
		fire(data, args);
}

static int proc_publish(unsigned int which, const char *name, const char *tracepoint_name,
			void *callback, u8 arg_count)
{
	struct proc_probe *proc = &proc_probes[which];

	*proc = (struct proc_probe){
		.probe = { .provider = "proc", .module = "", .function = "", .name = name },
		.tracepoint = dbk_tracepoint_find(tracepoint_name),
		.callback = callback,
	};
	if (!proc->tracepoint)
		return -ENOENT;
	proc->frame = dbk_tracepoint_frame(proc->tracepoint);
	proc->probe.host_data = (void *)&dbk_provider_proc;
	dbk_probe_args_in_order(&proc->probe, arg_count);
	return dbk_probe_add(dbk.engine, &proc->probe);
}

static void proc_exit(void)
{
	struct dbk_retire retire;
	unsigned int i;

	dbk_state_assert();
	dbk_retire_begin(&retire, PROBES);
	for (i = 0; i < PROBES; i++)
		if (proc_probes[i].probe.id != 0)
			dbk_retire_add(&retire, &proc_probes[i].probe);
	dbk_retire_end(&retire);
}

static int proc_init(void)
{
	int err;

	dbk_state_assert();
	err = proc_publish(CREATE, "create", "sched_process_fork", on_fork, 1);
	if (!err)
		err = proc_publish(EXEC_SUCCESS, "exec-success", "sched_process_exec", on_exec, 0);
	if (!err)
		err = proc_publish(EXIT, "exit", "sched_process_exit", on_exit, 1);
	if (err)
		proc_exit();
	return err;
}

static int proc_enable(struct dbk_probe *probe)
{
	struct proc_probe *proc = container_of(probe, struct proc_probe, probe);
	int err;

	dbk_state_assert();
	if (!proc->hooked) {
		err = tracepoint_probe_register(proc->tracepoint, proc->callback, proc);
		if (err)
			return err;
		proc->hooked = true;
	}
	proc->enabled++;
	return 0;
}

static void proc_disable(struct dbk_probe *probe)
{
	dbk_state_assert();
	container_of(probe, struct proc_probe, probe)->enabled--;
}

static int proc_settle(void)
{
	unsigned int i;

	dbk_state_assert();
	for (i = 0; i < PROBES; i++) {
		struct proc_probe *proc = &proc_probes[i];

		if (!proc->hooked || proc->enabled != 0)
			continue;
		tracepoint_probe_unregister(proc->tracepoint, proc->callback, proc);
		proc->hooked = false;
	}
	return 0;
}

const struct dbk_provider dbk_provider_proc = {
	.name = "proc",
	.init = proc_init,
	.exit = proc_exit,
	.enable = proc_enable,
	.disable = proc_disable,
	.settle = proc_settle,
};
