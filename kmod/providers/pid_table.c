// SPDX-License-Identifier: GPL-2.0-only
/*
 * pid_table.c - provider pid: probes made of the places that programs bring along
 *
 * Two programs that name the same place share its probe.  A place is taken as the program says, but
 * for what would break the process: the file is that of the build id that the compiler saw, and an
 * instruction is one, counted from its function's beginning.
 */
#include <linux/file.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/pid.h>
#include <linux/slab.h>

#include "arch/instruction.h"
#include "kmod/kernel/symbols.h"
#include "kmod/providers/pid_files.h"

/* 16: a line each in the kernel's log. */
#define REFUSED_SAID_MAX 16

static DEFINE_HASHTABLE(table, 12); /* [S] */

/* What is known of one place while its probe is looked for or made. */
struct seeker {
	const struct dbk_requester *requester;
	struct file *file;   /* of a place of a process, held for the program */
	struct inode *inode; /* of it */
	struct pid_file *by_path; /* [S] of a place of no process, held */
	const struct pid_probe *last; /* [S] of the same program; NULL: none */
	u32 pid;	     /* that is known */
	struct mm_struct *mm;
	pid_t tgid;
};

static int refuse(struct dbk_reason *reason, const struct dbk_place *place, int err, const char *what)
{
	scnprintf(reason->text, sizeof(reason->text), "%s:%s:%s:%s: %.96s %s",
		  place->provider, place->module, place->function, place->name, place->path, what);
	return err;
}

/* Anything but a regular file is not opened: that alone lets a pipe's writer go on, or starts a device.
 * Return: the file; an error, -EINVAL: it is something else */
static struct file *file_open(const char *path)
{
	struct path found;
	struct file *file;
	int err = kern_path(path, LOOKUP_FOLLOW, &found);

	if (err)
		return ERR_PTR(err);
	if (d_is_reg(found.dentry))
		file = dentry_open(&found, O_RDONLY | O_LARGEFILE, current_cred());
	else
		file = ERR_PTR(-EINVAL);
	path_put(&found);
	if (!IS_ERR(file) && file_permission(file, MAY_READ) != 0) {
		fput(file);
		file = ERR_PTR(-EACCES);
	}
	return file;
}

struct pid_bytes pid_bytes_of(const struct dbk_place *place)
{
	struct pid_bytes bytes = { .at = place->build_id_at, .count = place->build_id_bytes };

	memcpy(bytes.bytes, place->build_id, bytes.count);
	return bytes;
}

bool pid_bytes_are_there(struct file *file, const struct pid_bytes *bytes)
{
	u8 found[DBK_PLACE_BUILD_ID_MAX];
	loff_t at = bytes->at;

	return bytes->count == 0 || (kernel_read(file, found, bytes->count, &at) == bytes->count &&
				     memcmp(found, bytes->bytes, bytes->count) == 0);
}

bool pid_is_known_by_code(const struct dbk_place *place)
{
	return place->pid == 0 && place->build_id_bytes != 0 &&
	       place->build_id_at == (place->kind == DBK_PLACE_INSTRUCTION ? place->function_at : place->offset);
}

/* Whether decoding from the function's first byte on comes to @bytes. */
static bool is_boundary(const u8 *code, u32 bytes)
{
	unsigned long decode = (unsigned long)dbk_function("insn_decode");
	u32 at = 0, length;

	while (at < bytes) {
		length = dbk_instruction_bytes(decode, code + at, bytes + DBK_INSTRUCTION_BYTES_MAX - at);
		if (length == 0)
			return false;
		at += length;
		cond_resched();
	}
	return at == bytes;
}

/* A breakpoint inside of an instruction would change it. */
bool pid_instruction_is_there(struct file *file, u32 kind, u64 function_at, u64 offset)
{
	u32 bytes = offset - function_at;
	loff_t at = function_at;
	bool good;
	u8 *code;

	if (kind != DBK_PLACE_INSTRUCTION)
		return true;
	code = kvzalloc(bytes + DBK_INSTRUCTION_BYTES_MAX, GFP_KERNEL);
	if (!code)
		return false;
	good = kernel_read(file, code, bytes + DBK_INSTRUCTION_BYTES_MAX, &at) >= (ssize_t)bytes &&
	       is_boundary(code, bytes);
	kvfree(code);
	return good;
}

/* Reads the file as it will be read under locks, some of them the kernel's own: where it has a page of code no more,
 * what waits for it is everyone. */
static int file_check(struct file *file, const struct dbk_place *place, struct dbk_reason *reason)
{
	struct pid_bytes build = pid_bytes_of(place);
	loff_t at = place->offset;
	u8 code[DBK_INSTRUCTION_BYTES_MAX + 1]; /* as many as the kernel reads */
	ssize_t bytes;

	if (!pid_bytes_are_there(file, &build))
		return refuse(reason, place, -ESTALE, "is another build than the program was compiled for");
	if (!pid_instruction_is_there(file, place->kind, place->function_at, place->offset))
		return refuse(reason, place, -EINVAL, "has no instruction that begins there");
	bytes = kernel_read(file, code, sizeof(code), &at);
	return bytes < 0 ? refuse(reason, place, bytes, "cannot be read") : 0;
}

/* One that is waited for need not be there, nor be the one; of FUSE it is left alone. */
static int place_file_open(const struct dbk_requester *requester, const struct dbk_place *place,
			   const struct dbk_place *last, struct file **file)
{
	struct dbk_reason unsaid;
	struct file *found;
	int err;

	if (last && strcmp(last->path, place->path) == 0)
		found = file[-1] ? get_file(file[-1]) : ERR_PTR(-ENOENT);
	else
		found = file_open(place->path);
	err = PTR_ERR_OR_ZERO(found);
	if (err && place->pid == 0)
		return err == -EINTR || err == -ERESTARTSYS || fatal_signal_pending(requester->task) ? -EINTR : 0;
	if (err)
		return refuse(requester->reason, place, err, err == -EINVAL ? "is not a file" : "cannot be opened");
	*file = found;
	if (place->pid != 0)
		return file_check(found, place, requester->reason);
	if (!pid_is_of_fuse(found))
		file_check(found, place, &unsaid);
	return 0;
}

int dbk_place_files_open(const struct dbk_requester *requester, struct dbk_place_files *files_ret)
{
	const struct dbk_program *program = requester->program;
	u32 count = dbk_program_place_count(program);
	struct dbk_place_files files = { NULL, 0 };
	const struct dbk_place *place, *last = NULL;
	int err = 0;

	*files_ret = files;
	if (count == 0)
		return 0;
	files.at = kvcalloc(count, sizeof(*files.at), GFP_KERNEL);
	if (!files.at)
		return -ENOMEM;
	while (files.count < count && !err) {
		place = dbk_program_place(program, files.count);
		err = place_file_open(requester, place, last, &files.at[files.count++]);
		last = place;
		cond_resched();
		if (!err && fatal_signal_pending(requester->task))
			err = -EINTR;
	}
	if (err)
		dbk_place_files_close(&files);
	else
		*files_ret = files;
	return err;
}

void dbk_place_files_close(struct dbk_place_files *files)
{
	u32 i;

	for (i = 0; i < files->count; i++)
		if (files->at[i])
			fput(files->at[i]);
	kvfree(files->at);
	*files = (struct dbk_place_files){ NULL, 0 };
}

static void process_forget(struct seeker *seeker)
{
	if (seeker->mm)
		mmdrop(seeker->mm);
	seeker->mm = NULL;
	seeker->pid = 0;
}

/* The process of that id in the requester's namespace; its memory is held as a name only. */
static int process_find(struct seeker *seeker, const struct dbk_place *place)
{
	struct task_struct *task;
	struct mm_struct *mm;
	struct pid *pid;

	if (place->pid == seeker->pid)
		return 0;
	process_forget(seeker);
	rcu_read_lock();
	pid = get_pid(find_pid_ns(place->pid, task_active_pid_ns(seeker->requester->task)));
	rcu_read_unlock();
	task = get_pid_task(pid, PIDTYPE_TGID);
	put_pid(pid);
	mm = task ? get_task_mm(task) : NULL;
	if (mm) {
		mmgrab(mm);
		mmput(mm);
		seeker->mm = mm;
		seeker->tgid = task->tgid;
		seeker->pid = place->pid;
	}
	if (task)
		put_task_struct(task);
	return mm ? 0 : refuse(seeker->requester->reason, place, -ESRCH, "is of a process that is gone");
}

static u32 key_of(const struct dbk_place *place)
{
	return jhash_3words((u32)place->offset, (u32)(place->offset >> 32) ^ place->kind, place->pid, 0);
}

static bool is_probe_of(const struct pid_probe *pid, const struct seeker *seeker,
			const struct dbk_place *place)
{
	return pid->kind == place->kind && pid->offset == place->offset &&
	       pid->semaphore == place->semaphore && pid->by_path == seeker->by_path &&
	       pid->first.inode == seeker->inode && pid->mm == seeker->mm &&
	       (!pid_is_known_by_code(place) || memcmp(pid->code.bytes, place->build_id, place->build_id_bytes) == 0) &&
	       strcmp(pid->probe.provider, place->provider) == 0 &&
	       strcmp(pid->probe.module, place->module) == 0 &&
	       strcmp(pid->probe.function, place->function) == 0 &&
	       strcmp(pid->probe.name, place->name) == 0;
}

static struct pid_probe *find(const struct seeker *seeker, const struct dbk_place *place)
{
	struct pid_probe *pid;

	hash_for_each_possible(table, pid, link, key_of(place))
		if (is_probe_of(pid, seeker, place))
			return pid;
	return NULL;
}

static const char *name_put(char **at, const char *name)
{
	const char *put = *at;

	*at += strlen(name) + 1;
	return strcpy((char *)put, name);
}

/* @last is what the probe before has, or NULL. */
static struct pid_name *name_get(struct pid_name *last, const char *text)
{
	struct pid_name *name;
	size_t bytes = strlen(text) + 1;

	if (last && strcmp(last->text, text) == 0) {
		last->users++;
		return last;
	}
	name = kvzalloc(struct_size(name, text, bytes), GFP_KERNEL);
	if (!name)
		return NULL;
	name->users = 1;
	memcpy(name->text, text, bytes);
	return name;
}

static void name_forget(struct pid_name *name)
{
	if (name && --name->users == 0)
		kvfree(name);
}

static void names_free(struct pid_probe *pid)
{
	name_forget(pid->provider);
	name_forget(pid->module);
	kvfree(pid);
}

static void pid_free(struct pid_probe *pid)
{
	if (pid->by_path) {
		pid_file_remove(pid);
		pid_file_put(pid->by_path);
	} else {
		fput(pid->file);
	}
	if (pid->mm)
		mmdrop(pid->mm);
	names_free(pid);
}

/* In the file that its process has mapped, or in each of a path. */
static void hooks_make(struct pid_probe *pid, struct seeker *seeker)
{
	INIT_LIST_HEAD(&pid->hooks);
	pid->by_path = seeker->by_path;
	if (pid->by_path) {
		seeker->by_path = NULL; /* the probe holds it now */
		pid_file_add(pid->by_path, pid);
		return;
	}
	pid->file = get_file(seeker->file);
	pid->first.pid = pid;
	pid->first.inode = seeker->inode;
	list_add(&pid->first.link, &pid->hooks);
}

/* A probe that has its names, and nothing else. */
static struct pid_probe *named(const struct seeker *seeker, const struct dbk_place *place)
{
	size_t bytes = strlen(place->function) + strlen(place->name) + 2;
	struct pid_probe *pid = kvzalloc(struct_size(pid, names, bytes), GFP_KERNEL);
	char *at;

	if (!pid)
		return NULL;
	pid->provider = name_get(seeker->last ? seeker->last->provider : NULL, place->provider);
	pid->module = name_get(seeker->last ? seeker->last->module : NULL, place->module);
	if (!pid->provider || !pid->module) {
		names_free(pid);
		return NULL;
	}
	at = pid->names;
	pid->probe.provider = pid->provider->text;
	pid->probe.module = pid->module->text;
	pid->probe.function = name_put(&at, place->function);
	pid->probe.name = name_put(&at, place->name);
	return pid;
}

static struct pid_probe *make(struct seeker *seeker, const struct dbk_place *place)
{
	struct pid_probe *pid = named(seeker, place);

	if (!pid)
		return NULL;
	pid->kind = place->kind;
	pid->offset = place->offset;
	pid->function_at = place->function_at;
	pid->semaphore = place->semaphore;
	if (pid_is_known_by_code(place))
		pid->code = pid_bytes_of(place);
	pid->operand_count = place->operand_count;
	memcpy(pid->operands, place->operands, sizeof(pid->operands));
	pid->mm = seeker->mm;
	pid->tgid = seeker->tgid;
	if (pid->mm)
		mmgrab(pid->mm);
	pid_prepare(pid);
	hooks_make(pid, seeker);
	return pid;
}

static void by_path_forget(struct seeker *seeker)
{
	if (seeker->by_path)
		pid_file_put(seeker->by_path);
	seeker->by_path = NULL;
}

/* Finds what the place is in: a file of a process that lives, or one by its path. */
static int locate(struct seeker *seeker, const struct dbk_place *place, struct file *file)
{
	int err;

	seeker->file = NULL;
	seeker->inode = NULL;
	if (place->pid != 0) {
		seeker->file = file;
		/* An overlay's own inode is not what processes map. */
		seeker->inode = d_real_inode(file->f_path.dentry);
		return process_find(seeker, place);
	}
	process_forget(seeker);
	err = pid_file_get(place, file, &seeker->by_path);
	return err ? refuse(seeker->requester->reason, place, err, "cannot be waited for") : 0;
}

/* Of a path: what is there now.  A file that comes later is looked at then; a process's has been. */
static bool has_instruction(const struct pid_probe *pid)
{
	bool has;

	mutex_lock(&pid_mutex);
	has = !pid->is_inside;
	mutex_unlock(&pid_mutex);
	return has;
}

/* The probe of @place, made when there is none. */
static int take(struct seeker *seeker, const struct dbk_place *place, struct file *file, struct pid_probe **pid_ret)
{
	struct pid_probe *pid;
	int err = locate(seeker, place, file);

	if (err)
		return err;
	pid = find(seeker, place);
	if (!pid) {
		pid = make(seeker, place);
		if (!pid)
			return -ENOMEM;
		if (!has_instruction(pid)) {
			pid_free(pid);
			return refuse(seeker->requester->reason, place, -EINVAL, "has no instruction that begins there");
		}
		hash_add(table, &pid->link, key_of(place));
		/* That an older ring's match failed is that ring's: it counts a drop. */
		err = dbk_probe_add(dbk.engine, &pid->probe);
		if (err == -EINVAL) {
			hash_del(&pid->link);
			pid_free(pid);
			return err;
		}
	}
	pid->users++;
	seeker->last = pid;
	*pid_ret = pid;
	return 0;
}

int dbk_places_get(const struct dbk_requester *requester, const struct dbk_place_files *files,
		   struct dbk_places *places_ret)
{
	u32 count = dbk_program_place_count(requester->program);
	struct seeker seeker = { .requester = requester };
	int err = 0;

	dbk_state_assert();
	*places_ret = (struct dbk_places){ NULL, 0 };
	if (count == 0)
		return 0;
	places_ret->probes = kvcalloc(count, sizeof(*places_ret->probes), GFP_KERNEL);
	if (!places_ret->probes)
		return -ENOMEM;
	dbk_probe_add_begin(dbk.engine);
	while (places_ret->count < count && !err) {
		err = take(&seeker, dbk_program_place(requester->program, places_ret->count), files->at[places_ret->count],
			   &places_ret->probes[places_ret->count]);
		by_path_forget(&seeker);
		if (!err)
			places_ret->count++;
		err = err ?: dbk_requester_pause(requester);
	}
	dbk_probe_add_end(dbk.engine);
	process_forget(&seeker);
	err = err ?: pid_files_look(requester);
	if (err)
		dbk_places_put(places_ret);
	return err;
}

void dbk_places_put(struct dbk_places *places)
{
	struct dbk_retire retire;
	u32 i;

	dbk_state_assert();
	if (!places->probes)
		return;
	dbk_retire_begin(&retire, places->count);
	for (i = 0; i < places->count; i++) {
		if (--places->probes[i]->users == 0)
			dbk_retire_add(&retire, &places->probes[i]->probe);
		else
			places->probes[i] = NULL;
	}
	dbk_retire_end(&retire);
	for (i = 0; i < places->count; i++) {
		if (!places->probes[i])
			continue;
		hash_del(&places->probes[i]->link);
		pid_free(places->probes[i]);
	}
	kvfree(places->probes);
	*places = (struct dbk_places){ NULL, 0 };
}

static bool is_refused(const struct pid_probe *pid)
{
	const struct pid_hook *hook;
	bool refused = false;

	mutex_lock(&pid_mutex);
	list_for_each_entry(hook, &pid->hooks, link)
		refused |= hook->refused;
	mutex_unlock(&pid_mutex);
	return refused;
}

void dbk_places_say(const struct dbk_places *places, const char *name, struct dbk_reason *remark)
{
	size_t used = strlen(remark->text);
	u32 i, count = 0;

	dbk_state_assert();
	for (i = 0; i < places->count; i++) {
		const struct dbk_probe *probe = &places->probes[i]->probe;

		if (!is_refused(places->probes[i]) || count++ >= REFUSED_SAID_MAX)
			continue;
		pr_warn("ring %s: the kernel puts no probe at %s:%s:%s:%s\n", name, probe->provider,
			probe->module, probe->function, probe->name);
	}
	if (count != 0)
		scnprintf(remark->text + used, sizeof(remark->text) - used,
			  "%s%u probes will not fire: the kernel puts none there (its log names them)",
			  used ? "\n" : "", count);
}
