// SPDX-License-Identifier: GPL-2.0-only
/*
 * phase.c - when systemd's start-up is over
 *
 * Nothing in the kernel says it.  systemd has a unit that notes in utmp that the machine has
 * come to its runlevel, ordered after multi-user.target and graphical.target: its first
 * exec is the moment.  One comparison for each exec until then.
 */
#include <linux/binfmts.h>
#include <linux/cgroup.h>
#include <linux/fs_struct.h>
#include <linux/kernfs.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <trace/events/sched.h>

#include "kmod/kernel/phase.h"
#include "kmod/kernel/tracepoint.h"

unsigned int dbk_boot_running;

static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *binprm)
{
	static const char last[] = "systemd-update-utmp-runlevel.service";

	if (READ_ONCE(dbk_boot_running))
		return;
	rcu_read_lock();
	if (strcmp(task_dfl_cgroup(task)->kn->name, last) == 0)
		WRITE_ONCE(dbk_boot_running, 1);
	rcu_read_unlock();
}

/* Before what fires there: this exec is the first that is not the start-up's. */
static struct dbk_tracepoint_hook hook = { "sched_process_exec", on_exec, .priority = INT_MAX };

/* Whether the first process, whose child we are or which we are, is still in the initramfs. */
static bool is_in_initramfs(void)
{
	struct path root;
	bool is_rootfs;

	get_fs_root(current->fs, &root);
	is_rootfs = strcmp(root.mnt->mnt_sb->s_type->name, "rootfs") == 0;
	path_put(&root);
	return is_rootfs;
}

void dbk_phase_init(void)
{
	check_trace_callback_type_sched_process_exec(on_exec);
	dbk_boot_running = !is_in_initramfs();
	if (!dbk_boot_running)
		dbk_tracepoint_hook(&hook);
}

void dbk_phase_exit(void)
{
	dbk_tracepoint_unhook(&hook);
}
