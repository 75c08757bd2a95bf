// SPDX-License-Identifier: GPL-2.0-only
/*
 * pid_files.c - provider pid: files that come later, and their copies; see pid_files.h
 */
#include <linux/atomic.h>
#include <linux/file.h>
#include <linux/fs_struct.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "arch/ftrace_args.h"
#include "kmod/kernel/function_hook.h"
#include "kmod/kernel/processes.h"
#include "kmod/kernel/symbols.h"
#include "kmod/providers/pid_files.h"

/* Any user can make files of that name, build id and path. */
#define COPIES_MAX 64
/* Of one process that lives already: it can go on mapping files that are called so while it is looked at. */
#define LOOKS_MAX    1024
#define LOOK_JIFFIES HZ

struct pid_file {
	struct list_head link;	 /* changed under [S] and [F], read under RCU */
	struct list_head copies; /* changed under [F], read under RCU */
	struct list_head probes; /* [F] */
	u64 number;		 /* [C] */
	u32 users;		 /* [S] */
	bool other_build_said;	 /* [F] */
	bool left_alone_said[2]; /* [F] as there are too many; as a process is its file system */
	u32 copy_count;		 /* [F] */
	struct pid_bytes build;	 /* [C] of a file without a build id none: the path is looked at */
	const char *path, *name; /* [C] the name is its end */
};

struct pid_copy {
	struct list_head link;
	struct file *file;
	const struct inode *inode;
	bool is_at_path; /* when its program was enabled: not any user's */
};

/* What a process has mapped and is looked at before it goes on. */
struct look {
	struct callback_head head;
	struct file *mapped; /* held */
	u64 number;	     /* of the file that it may be */
	struct pid_bytes build;
};

static LIST_HEAD(files);
static u64 last_number; /* [S] */
static u64 looked_number; /* [S] the last file that was looked for in the processes that lived */
static int (*work_add)(struct task_struct *task, struct callback_head *work,
		       enum task_work_notify_mode mode); /* [S] */
static typeof(&__d_path) path_in; /* [S] changed before there is a file */

/* Of a file in layers the kernel maps the one below. */
static const struct path *path_of(const struct file *mapped)
{
#ifdef DBK_HAVE_FILE_USER_PATH
	return file_user_path(mapped);
#else
	return &mapped->f_path;
#endif
}

/* As @task sees it. */
static bool is_path(const struct pid_file *file, struct file *mapped, struct task_struct *task)
{
	char *room = kmalloc(PATH_MAX, GFP_KERNEL), *path = NULL;
	struct path root = {};
	bool same;

	/* A helper of the kernel's whose exec failed late has no root folder any more. */
	task_lock(task);
	if (task->fs)
		get_fs_root(task->fs, &root);
	task_unlock(task);
	if (room && root.mnt && !d_unlinked(path_of(mapped)->dentry))
		path = path_in(path_of(mapped), &root, room, PATH_MAX);
	same = !IS_ERR_OR_NULL(path) && strcmp(path, file->path) == 0;
	path_put(&root);
	kfree(room);
	return same;
}

static bool has_copy(const struct pid_file *file, const struct inode *inode)
{
	const struct pid_copy *copy;

	list_for_each_entry_rcu(copy, &file->copies, link,
				lockdep_is_held(&pid_mutex)) if (copy->inode == inode) return true;
	return false;
}

/* By what can be asked anywhere. */
static bool may_be(const struct pid_file *file, const struct file *mapped)
{
	bool may;

	rcu_read_lock(); /* it can be renamed */
	may = strcmp(mapped->f_path.dentry->d_name.name, file->name) == 0 && !has_copy(file, file_inode(mapped));
	rcu_read_unlock();
	return may;
}

static bool is_code(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_EXEC) && vma->vm_file;
}

static void other_build_say(struct pid_file *file)
{
	if (!file->other_build_said)
		pr_warn("%s is another build than the program was compiled for\n", file->path);
	file->other_build_said = true;
}

static void no_memory_say(const struct pid_file *file)
{
	pr_warn_ratelimited("%s: not probed where it is mapped now: out of memory\n", file->path);
}

static void hook_add(struct pid_file *file, struct pid_probe *pid, const struct pid_copy *copy)
{
	struct pid_hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	bool other, inside;
	int err = 0;

	if (!hook) {
		no_memory_say(file);
		return;
	}
	hook->pid = pid;
	hook->inode = (struct inode *)copy->inode;
	list_add_tail(&hook->link, &pid->hooks);
	other = !pid_bytes_are_there(copy->file, &pid->code);
	inside = !other && !pid_instruction_is_there(copy->file, pid->kind, pid->function_at, pid->offset);
	hook->refused = other || inside;
	pid->is_inside |= inside && copy->is_at_path;
	if (!hook->refused && pid->enabled)
		err = pid_hook(hook);
	if (other)
		other_build_say(file);
	else if (hook->refused || err)
		/* Any user can make copies, and a program may have thousands of probes. */
		pr_warn_ratelimited("no probe at %s:%s:%s:%s in a copy, %pD: %s (error %d)\n", pid->probe.provider,
				    pid->probe.module, pid->probe.function, pid->probe.name, copy->file,
				    err ? "it cannot be registered" : "no instruction that can be probed begins there",
				    -err);
}

static void copy_add(struct pid_file *file, struct file *mapped, const struct inode *inode, bool is_at_path)
{
	struct pid_copy *copy = kzalloc(sizeof(*copy), GFP_KERNEL);
	struct pid_probe *pid;

	if (!copy) {
		no_memory_say(file);
		return;
	}
	copy->file = get_file(mapped);
	copy->inode = inode;
	copy->is_at_path = is_at_path;
	list_add_tail_rcu(&copy->link, &file->copies);
	file->copy_count++;
	list_for_each_entry(pid, &file->probes, file_link)
		hook_add(file, pid, copy);
}

/* A file's server in user space may never answer, and the kernel reads the instruction with pid_mutex
 * and what each fork() needs held. */
static bool is_left_alone(struct pid_file *file, struct file *mapped)
{
	bool foreign = pid_is_of_fuse(mapped);

	if (!foreign && file->copy_count < COPIES_MAX)
		return false;
	if (!file->left_alone_said[foreign])
		pr_warn("%s: a copy is not probed: %s\n", file->path,
			foreign ? "its file system is a process (FUSE)" : "there are " __stringify(COPIES_MAX));
	file->left_alone_said[foreign] = true;
	return true;
}

static struct pid_file *file_numbered(u64 number)
{
	struct pid_file *file;

	list_for_each_entry(file, &files, link)
		if (file->number == number)
			return file;
	return NULL;
}

/* What @task has mapped is a copy if it is that build.  No lock but [S] is held: a file is read. */
static void look_at(u64 number, const struct pid_bytes *build, struct file *mapped, struct task_struct *task)
{
	bool fuse = pid_is_of_fuse(mapped);
	bool fits = !fuse && pid_bytes_are_there(mapped, build);
	struct pid_file *file;

	mutex_lock(&pid_mutex);
	file = file_numbered(number);
	if (file && !has_copy(file, file_inode(mapped)) && !((fuse || fits) && is_left_alone(file, mapped))) {
		if (fits && (build->count != 0 || is_path(file, mapped, task))) {
			copy_add(file, mapped, file_inode(mapped), false);
		} else if (!fits && is_path(file, mapped, task)) {
			other_build_say(file);
		}
	}
	mutex_unlock(&pid_mutex);
}

/* In the process, whose mapping is done, without locks. */
static void on_look(struct callback_head *head)
{
	struct look *look = container_of(head, struct look, head);

	look_at(look->number, &look->build, look->mapped, current);
	fput(look->mapped);
	kfree(look);
	module_put(THIS_MODULE);
}

static void look_later(const struct pid_file *file, struct file *mapped)
{
	struct look *look = kmalloc(sizeof(*look), GFP_NOWAIT | __GFP_NOWARN);

	if (!look) {
		no_memory_say(file);
		return;
	}
	if (!try_module_get(THIS_MODULE)) {
		kfree(look);
		return;
	}
	init_task_work(&look->head, on_look);
	look->mapped = get_file(mapped);
	look->number = file->number;
	look->build = file->build;
	if (!work_add(current, &look->head, TWA_RESUME))
		return;
	module_put(THIS_MODULE); /* it is ending */
	fput(mapped);
	kfree(look);
}

/* perf_event_mmap(vma), under the write side of mmap_lock. */
static void on_mmap(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)dbk_ftrace_argument(fregs, 0);
	const struct pid_file *file;

	if (!is_code(vma) || vma->vm_mm != current->mm)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(file, &files, link) if (may_be(file, vma->vm_file))
		look_later(file, vma->vm_file);
	rcu_read_unlock();
}

static struct dbk_function_hook mmap_hook = { "perf_event_mmap", { .func = on_mmap } };

/* A file that is there already is mapped by processes that do not map it again. */
static void first_copy_add(struct pid_file *file, struct file *found)
{
	/* An overlay's own inode is not what processes map. */
	const struct inode *inode = d_real_inode(found->f_path.dentry);

	mutex_lock(&pid_mutex);
	/* A process that mapped it since the hook is there was first. */
	if (!has_copy(file, inode) && !is_left_alone(file, found) &&
	    pid_bytes_are_there(found, &file->build))
		copy_add(file, found, inode, true);
	mutex_unlock(&pid_mutex);
}

static bool may_be_new(const struct file *mapped)
{
	const struct pid_file *file;

	list_for_each_entry(file, &files, link)
		if (file->number > looked_number && may_be(file, mapped))
			return true;
	return false;
}

/* The next file that a process has mapped as code, and that may be one; held.  Its mapping ends at *@at_ret. */
static struct file *mapped_find(struct mm_struct *mm, unsigned long *at_ret)
{
	VMA_ITERATOR(iterator, mm, *at_ret);
	struct vm_area_struct *vma;

	for_each_vma(iterator, vma)
	{
		cond_resched();
		if (!is_code(vma) || !may_be_new(vma->vm_file))
			continue;
		*at_ret = vma->vm_end;
		return get_file(vma->vm_file);
	}
	return NULL;
}

/* What it maps from now on the hook sees.  No mmap_lock is held where a file is read, or gets hooks.  Return: whether all
 * of it was seen. */
static bool process_look(const struct dbk_requester *requester, struct task_struct **task)
{
	const unsigned long end = jiffies + LOOK_JIFFIES;
	const struct pid_file *file;
	struct mm_struct *mm;
	struct file *mapped;
	unsigned long at = 0;
	u32 i;

	for (i = 0; i < LOOKS_MAX && time_before(jiffies, end) && !fatal_signal_pending(requester->task); i++) {
		mm = dbk_process_lock(task);
		if (IS_ERR_OR_NULL(mm))
			return !mm;
		mapped = mapped_find(mm, &at);
		dbk_process_unlock(mm);
		if (!mapped)
			return true;
		list_for_each_entry(file, &files, link)
			if (file->number > looked_number && may_be(file, mapped))
				look_at(file->number, &file->build, mapped, *task);
		fput(mapped);
	}
	return false;
}

int pid_files_look(const struct dbk_requester *requester)
{
	struct task_struct *task = NULL;
	u32 left_out = 0;
	int err = 0;

	dbk_state_assert();
	if (looked_number == last_number)
		return 0;
	while (!err && (task = dbk_process_next(task)) != NULL) {
		left_out += !process_look(requester, &task);
		err = dbk_requester_pause(requester);
	}
	if (task)
		put_task_struct(task);
	if (left_out)
		pr_warn("%u processes could not be looked at: what they run already may not be probed\n", left_out);
	looked_number = last_number;
	return err;
}

static struct pid_bytes file_bytes_of(const struct dbk_place *place)
{
	return pid_is_known_by_code(place) ? (struct pid_bytes){} : pid_bytes_of(place);
}

static bool is_of_place(const struct pid_file *file, const struct dbk_place *place)
{
	struct pid_bytes build = file_bytes_of(place);

	return strcmp(file->path, place->path) == 0 && file->build.count == build.count && file->build.at == build.at &&
	       memcmp(file->build.bytes, build.bytes, build.count) == 0;
}

static struct pid_file *make(const struct dbk_place *place)
{
	struct pid_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return NULL;
	file->path = kstrdup(place->path, GFP_KERNEL);
	if (!file->path) {
		kfree(file);
		return NULL;
	}
	file->name = kbasename(file->path);
	file->number = ++last_number;
	file->build = file_bytes_of(place);
	INIT_LIST_HEAD(&file->copies);
	INIT_LIST_HEAD(&file->probes);
	return file;
}

int pid_file_get(const struct dbk_place *place, struct file *at_path, struct pid_file **file_ret)
{
	struct pid_file *file;
	bool first = list_empty(&files);
	int err = 0;

	dbk_state_assert();
	list_for_each_entry(file, &files, link)
		if (is_of_place(file, place))
			goto found;
	work_add = dbk_function("task_work_add");
	path_in = dbk_function("__d_path");
	if (!work_add || !path_in)
		return -ENOENT;
	file = make(place);
	if (!file)
		return -ENOMEM;
	mutex_lock(&pid_mutex);
	list_add_tail_rcu(&file->link, &files);
	mutex_unlock(&pid_mutex);
	if (first)
		err = dbk_function_hook(&mmap_hook);
	if (err) {
		mutex_lock(&pid_mutex);
		list_del_rcu(&file->link);
		mutex_unlock(&pid_mutex);
		synchronize_rcu();
		kfree(file->path);
		kfree(file);
		return err;
	}
	if (at_path)
		first_copy_add(file, at_path);
found:
	file->users++;
	*file_ret = file;
	return 0;
}

void pid_file_put(struct pid_file *file)
{
	struct pid_copy *copy, *next;

	dbk_state_assert();
	if (--file->users != 0)
		return;
	mutex_lock(&pid_mutex);
	list_del_rcu(&file->link);
	mutex_unlock(&pid_mutex);
	if (list_empty(&files))
		dbk_function_unhook(&mmap_hook);
	/* No mapping looks at the file.  What is to be looked at has its number alone: it may stay for ever in
	 * a process that waits, and must not keep [S] with it. */
	synchronize_rcu();
	list_for_each_entry_safe(copy, next, &file->copies, link) {
		fput(copy->file);
		kfree(copy);
	}
	kfree(file->path);
	kfree(file);
}

void pid_file_add(struct pid_file *file, struct pid_probe *pid)
{
	struct pid_copy *copy;

	dbk_state_assert();
	mutex_lock(&pid_mutex);
	list_add_tail(&pid->file_link, &file->probes);
	list_for_each_entry(copy, &file->copies, link)
		hook_add(file, pid, copy);
	mutex_unlock(&pid_mutex);
}

void pid_file_remove(struct pid_probe *pid)
{
	struct pid_hook *hook, *next;

	dbk_state_assert();
	mutex_lock(&pid_mutex);
	list_del(&pid->file_link);
	list_for_each_entry_safe(hook, next, &pid->hooks, link)
		kfree(hook);
	mutex_unlock(&pid_mutex);
}

void pid_files_exit(void)
{
	dbk_state_assert();
	synchronize_rcu_tasks(); /* each on_look() that gave the module back has returned */
	dbk_function_hook_free(&mmap_hook);
}
