// SPDX-License-Identifier: GPL-2.0-only
/*
 * pid.c - provider pid: functions of programs, through the kernel's uprobes
 *         (docs/design/0084-pid-and-usdt.md)
 *
 * A uprobe is a breakpoint in the memory of the processes that map a file, and
 * hooks are per file and offset.  A probe of one process is hooked as any other; the filter keeps
 * the breakpoint out of everyone else's memory.  A child inherits its parent's pages, breakpoints
 * included: the first that it meets of each is taken out of its memory.
 *
 * Handlers run in the process itself, after its breakpoint, with interrupts on: firing turns them
 * off.  Arguments are the registers of the calling convention; further ones lie on the stack.
 */
#include "arch/user.h"
#include "kmod/frame.h"
#include "kmod/providers/pid_files.h"

DEFINE_MUTEX(pid_mutex);

static bool unregistered; /* [S] some, and not waited for yet */

static __probe_ctx struct pid_probe *pid_of(struct uprobe_consumer *consumer)
{
	return container_of(consumer, struct pid_hook, uprobe.consumer)->pid;
}

/* A vfork's child has its parent's memory for a while, and is another process. */
static __probe_ctx bool is_meant(const struct pid_probe *pid)
{
	return !pid->mm || (current->mm == pid->mm && current->tgid == pid->tgid);
}

static __probe_ctx void fire(struct pid_probe *pid, const u64 *args, struct dbk_frame *frame)
{
	unsigned long flags = dbk_host_enter();

	if (dbk_probe_is_enabled(&pid->probe))
		dbk_probe_fire(&pid->probe, args, frame);
	dbk_host_leave(flags);
}

/* A function that calls itself deeper than the kernel waits for. */
static __probe_ctx noinline void count_missed(struct pid_probe *pid)
{
	unsigned long flags = dbk_host_enter();

	if (dbk_probe_is_enabled(&pid->probe))
		dbk_probe_missed(&pid->probe, 1);
	dbk_host_leave(flags);
}

static __probe_ctx void fire_mark(struct pid_probe *pid, const struct pt_regs *regs,
				  struct dbk_frame *frame)
{
	u64 args[DBK_PLACE_OPERANDS_MAX] __dbk_unset;
	u32 i;

	for (i = 0; i < pid->operand_count; i++)
		args[i] = dbk_user_operand(regs, &pid->operands[i]);
	fire(pid, args, frame);
}

static __probe_ctx int on_place(struct uprobe_consumer *consumer, struct pt_regs *regs DBK_UPROBE_DATA)
{
	struct pid_probe *pid = pid_of(consumer);
	struct dbk_frame frame = { .kind = DBK_FRAME_NONE, .regs = regs };

	if (pid->mm && current->mm != pid->mm)
		return UPROBE_HANDLER_REMOVE;
	if (pid->kind == DBK_PLACE_RETURN) {
		if (unlikely(dbk_uprobe_returns_are_full()) && is_meant(pid))
			count_missed(pid);
		return 0;
	}
	if (!is_meant(pid))
		return 0;
	if (pid->kind == DBK_PLACE_ENTRY)
		frame.kind = DBK_FRAME_USER_FUNCTION;
	if (pid->kind == DBK_PLACE_MARK)
		fire_mark(pid, regs, &frame);
	else
		fire(pid, (const u64 *)regs, &frame);
	return 0;
}

static __probe_ctx int on_return(struct uprobe_consumer *consumer, unsigned long function,
				 struct pt_regs *regs DBK_UPROBE_DATA)
{
	struct pid_probe *pid = pid_of(consumer);
	struct dbk_frame frame = {
		.kind = DBK_FRAME_USER_RETURN,
		.function = function,
		.regs = regs,
	};
	/* Which of its returns it was the kernel does not say. */
	u64 args[2] = { -1, regs_return_value(regs) };

	if (is_meant(pid))
		fire(pid, args, &frame);
	return 0;
}

static bool wants(struct uprobe_consumer *consumer, DBK_UPROBE_FILTER_CONTEXT struct mm_struct *mm)
{
	const struct pid_probe *pid = pid_of(consumer);

	return !pid->mm || pid->mm == mm;
}

void pid_prepare(struct pid_probe *pid)
{
	static const u8 words[] = DBK_USER_ARGUMENT_WORDS;
	struct dbk_probe *probe = &pid->probe;

	probe->host_data = (void *)&dbk_provider_pid;
	if (pid->kind == DBK_PLACE_RETURN) {
		dbk_probe_args_in_order(probe, 2);
	} else if (pid->kind == DBK_PLACE_ENTRY) {
		probe->arg_count = ARRAY_SIZE(words);
		memcpy(probe->arg_word, words, sizeof(words));
	} else if (pid->kind == DBK_PLACE_MARK) {
		dbk_probe_args_in_order(probe, pid->operand_count);
	}
}

/* What cannot be stepped over out of line has no probe, nor has a place past the end of its file or with a count that
 * the kernel does not take: the others are worth having. */
static bool is_refusal(int err)
{
	return err && err != -ENOMEM && err != -EINTR && err != -ERESTARTSYS;
}

int pid_hook(struct pid_hook *hook)
{
	const struct pid_probe *pid = hook->pid;
	int err;

	lockdep_assert_held(&pid_mutex);
	hook->uprobe.consumer.handler = on_place;
	hook->uprobe.consumer.filter = wants;
	if (pid->kind == DBK_PLACE_RETURN)
		hook->uprobe.consumer.ret_handler = on_return;
	err = dbk_uprobe_register(&hook->uprobe, hook->inode, pid->offset, pid->semaphore);
	hook->refused = is_refusal(err);
	return hook->refused ? 0 : err;
}

static void unhook(struct pid_probe *pid)
{
	struct pid_hook *hook;

	list_for_each_entry(hook, &pid->hooks, link) {
		if (!hook->uprobe.registered)
			continue;
		dbk_uprobe_unregister(&hook->uprobe, hook->inode, pid->offset);
		unregistered = true;
	}
}

static int pid_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct pid_probe *pid = container_of(probe, struct pid_probe, probe);
	struct pid_hook *hook;
	int err = 0;

	dbk_state_assert();
	mutex_lock(&pid_mutex);
	/* What pid_instruction_is_there() refused stays refused: a breakpoint would be in the middle of one. */
	list_for_each_entry(hook, &pid->hooks, link)
		if (!hook->refused)
			err = err ?: pid_hook(hook);
	pid->enabled = !err;
	if (err)
		unhook(pid);
	mutex_unlock(&pid_mutex);
	return err;
}

static void pid_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct pid_probe *pid = container_of(probe, struct pid_probe, probe);

	dbk_state_assert();
	mutex_lock(&pid_mutex);
	pid->enabled = false;
	unhook(pid);
	mutex_unlock(&pid_mutex);
}

static int pid_settle(const struct dbk_provider *self, const struct module *module)
{
	dbk_state_assert();
	if (unregistered)
		dbk_uprobes_synchronize();
	unregistered = false;
	return 0;
}

static int pid_init(const struct dbk_provider *self)
{
	return 0;
}

/* With the last ring its places went. */
static void pid_exit(const struct dbk_provider *self)
{
	dbk_state_assert();
	pid_files_exit();
}

const struct dbk_provider dbk_provider_pid = {
	.name = "pid",
	.init = pid_init,
	.exit = pid_exit,
	.enable = pid_enable,
	.disable = pid_disable,
	.settle = pid_settle,
};
