// SPDX-License-Identifier: GPL-2.0-only
/*
 * act.c - the engine's host: destructive actions
 *
 * A probe fires with interrupts off, perhaps under the very lock that a signal, a
 * message or a panic needs.  So they are noted per CPU and done by an irq_work: a self
 * interrupt of that CPU, taken as soon as interrupts are on again, and the only thing
 * of its sort that may be queued from NMI.
 *
 *     dbk_host_raise() --note--> acts[] of this CPU --irq_work--> send_sig()
 *
 * The notes are a small ring with one producer and one consumer on one CPU; the
 * producer is kept from itself by the engine's nesting guard.  A note that finds no
 * room is refused, and the firing's fault (docs/design/0006-destructive-actions.md).
 */
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/panic.h>
#include <linux/path.h>
#include <linux/dcache.h>
#include <linux/mount.h>
#include <linux/percpu.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include "engine/api/engine.h"
#include "arch/memory.h"
#include "kmod/host/host.h"

/* 8: a firing of all clauses seldom notes more than two. */
#define ACTS_MAX 8
/* 64 bytes of each name are enough to find it. */
#define WHERE_BYTES 160

enum act_kind { ACT_RAISE, ACT_BREAKPOINT, ACT_PANIC };

struct act {
	enum act_kind kind;
	int signal;
	pid_t tid;
	u64 start_boottime; /* of that thread: its id may be another's by then */
	u32 epid;
	char where[WHERE_BYTES];
};

struct act_cpu {
	struct irq_work work;
	u32 head, tail; /* [P] acts[tail .. head) wait */
	struct act acts[ACTS_MAX];
};

static DEFINE_PER_CPU(struct act_cpu, act_cpus);

/* ---- in the interrupt -------------------------------------------------------- */

static void act_raise(const struct act *act)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns(act->tid, &init_pid_ns), PIDTYPE_PID);
	/* Init is the kernel's to protect, kernel threads take no signals. */
	if (task && task->start_boottime == act->start_boottime && !is_global_init(task) &&
	    !(task->flags & (PF_KTHREAD | PF_EXITING)))
		send_sig(act->signal, task, 1);
	rcu_read_unlock();
}

static void act_run(const struct act *act)
{
	switch (act->kind) {
	case ACT_RAISE:
		act_raise(act);
		break;
	case ACT_BREAKPOINT:
		pr_emerg("breakpoint action at probe %s (enabled probe ID %u)\n", act->where,
			 act->epid);
		break;
	case ACT_PANIC:
		panic("daybreak: panic action at probe %s (enabled probe ID %u)", act->where,
		      act->epid);
	}
}

static void act_work(struct irq_work *work)
{
	struct act_cpu *cpu = container_of(work, struct act_cpu, work);

	while (READ_ONCE(cpu->tail) != smp_load_acquire(&cpu->head)) {
		act_run(&cpu->acts[cpu->tail % ACTS_MAX]);
		smp_store_release(&cpu->tail, cpu->tail + 1);
	}
}

void dbk_act_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		init_irq_work(&per_cpu(act_cpus, cpu).work, act_work);
}

void dbk_act_drain(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(act_cpus, cpu).work);
}

/* ---- in the probe ------------------------------------------------------------- */

static __probe_ctx struct act *act_begin(enum act_kind kind)
{
	struct act_cpu *cpu = this_cpu_ptr(&act_cpus);
	struct act *act;

	if (cpu->head - READ_ONCE(cpu->tail) >= ACTS_MAX)
		return NULL;
	act = &cpu->acts[cpu->head % ACTS_MAX];
	act->kind = kind;
	return act;
}

static __probe_ctx void act_commit(void)
{
	struct act_cpu *cpu = this_cpu_ptr(&act_cpus);

	smp_store_release(&cpu->head, cpu->head + 1);
	irq_work_queue(&cpu->work);
}

__probe_ctx bool dbk_host_raise(int32_t signal)
{
	struct act *act = act_begin(ACT_RAISE);

	if (!act)
		return false;
	act->signal = signal;
	act->tid = current->pid;
	act->start_boottime = current->start_boottime;
	act_commit();
	return true;
}

static __probe_ctx unsigned int put_text(char *to, unsigned int at, const char *text)
{
	while (at < WHERE_BYTES - 1 && *text != '\0')
		to[at++] = *text++;
	to[at] = '\0';
	return at;
}

static __probe_ctx bool act_at(enum act_kind kind, const struct dbk_probe *probe, uint32_t epid)
{
	struct act *act = act_begin(kind);
	unsigned int at;

	if (!act)
		return false;
	act->epid = epid;
	at = put_text(act->where, 0, probe->provider);
	at = put_text(act->where, at, ":");
	at = put_text(act->where, at, probe->module);
	at = put_text(act->where, at, ":");
	at = put_text(act->where, at, probe->function);
	at = put_text(act->where, at, ":");
	put_text(act->where, at, probe->name);
	act_commit();
	return true;
}

__probe_ctx bool dbk_host_breakpoint(const struct dbk_probe *probe, uint32_t epid)
{
	return act_at(ACT_BREAKPOINT, probe, epid);
}

__probe_ctx bool dbk_host_panic(const struct dbk_probe *probe, uint32_t epid)
{
	return act_at(ACT_PANIC, probe, epid);
}

/* A clock that stands still (suspend) must not hold the machine: 2^30 pauses are seconds. */
__probe_ctx void dbk_host_chill(uint64_t ns)
{
	u64 begin = dbk_host_mono_ns();
	u32 pauses;

	for (pauses = 0; pauses < 1u << 30 && dbk_host_mono_ns() - begin < ns; pauses++)
		cpu_relax();
}

/*
 * Only into a process that is all there: its page tables are this CPU's (a probe inside
 * of a context switch has the one's task and the other's memory), and it is not leaving.
 */
__probe_ctx bool dbk_host_store_user(uint64_t address, const void *from, uint32_t bytes)
{
	struct mm_struct *mm = current->mm;

	if (!mm || (current->flags & (PF_KTHREAD | PF_EXITING)) || dbk_context_level() == 3 ||
	    !dbk_memory_is_loaded(mm))
		return false;
	return copy_to_user_nofault((void __user *)(unsigned long)address, from, bytes) == 0;
}

/* ---- what the kernel's structures look like --------------------------------------- */

/*
 * struct mount is the filesystems' own (fs/mount.h): a hash node of two pointers, the
 * parent, the mountpoint, then the vfsmount that everybody knows; so since v3.3.
 */
#define MOUNT_VFSMOUNT 32

static const struct dbk_kernel_layout layout = {
#ifndef CONFIG_PREEMPT_RT
	.has_locks = true,
	.mutex_owner = offsetof(struct mutex, owner),
	.mutex_flags = 0x7, /* kernel/locking/mutex.h: MUTEX_FLAGS */
	.rwlock_count = offsetof(rwlock_t, raw_lock.cnts),
	.rwlock_writer = 0x1ff, /* _QW_WMASK: held or waited for */
	.rwlock_held = 0x0ff,	/* _QW_LOCKED */
	.rwlock_readers = ~0x1ffu,
#endif
	.has_paths = true,
	.path_mnt = offsetof(struct path, mnt),
	.path_dentry = offsetof(struct path, dentry),
	.mnt_root = offsetof(struct vfsmount, mnt_root),
	.mnt_parent = 16 - MOUNT_VFSMOUNT,
	.mnt_mountpoint = 24 - MOUNT_VFSMOUNT,
	.mnt_itself = MOUNT_VFSMOUNT,
	.dentry_parent = offsetof(struct dentry, d_parent),
	.dentry_name = offsetof(struct dentry, d_name.name),
};

__probe_ctx const struct dbk_kernel_layout *dbk_host_layout(void)
{
	return &layout;
}
