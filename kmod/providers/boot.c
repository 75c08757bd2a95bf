// SPDX-License-Identifier: GPL-2.0-only
/*
 * boot.c - provider boot: what a machine does on its way up (docs/design/0054-provider-boot.md)
 *
 *   probe               fires in               arguments
 *   module-load-start   who loads the module   arg0: its name
 *   module-load-done    ... after its init     arg0: its name; arg1: ns in init; arg2: 0 or -errno
 *   firmware-request    who wants the file     arg0: its name; arg1: the device, or ""
 *   firmware-done       ... and has it or not  arg0, arg1: the same; arg2: ns; arg3: 0 or -errno
 *   device-probe-start  who binds the driver   arg0: the device; arg1: the driver; arg2: the bus
 *   device-probe-done   ... and has, or not    arg0, arg1, arg2: the same; arg3: ns; arg4: 0 or -errno
 *   rootfs-mounted      who mounts /root or    arg0: what; arg1: file system type
 *                       /sysroot
 *   switch-root         the first process      none
 *   init-exec           the first process      arg0: the path
 *   unit-start          who makes its cgroup   arg0: the unit; arg1: the cgroup's path
 *   unit-ready          the service            arg0: its message, of which a line is READY=1
 *   unit-stop           who takes the cgroup   arg0: the unit; arg1: the cgroup's path
 *
 * Names and paths are strings in kernel memory.
 */
#include <linux/binfmts.h>
#include <linux/device.h>
#include <linux/device/bus.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/un.h>
#include <trace/events/cgroup.h>
#include <trace/events/initcall.h>
#include <trace/events/module.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>
#include <uapi/linux/mount.h>

#include "arch/call.h"
#include "kmod/providers/site.h"

enum { LOAD, INIT, INIT_DONE, EXEC, MKDIR, RMDIR, CALL_END, BIND, FIRMWARE, SITES };

enum {
	MODULE_LOAD_START,
	MODULE_LOAD_DONE,
	FIRMWARE_REQUEST,
	FIRMWARE_DONE,
	DEVICE_PROBE_START,
	DEVICE_PROBE_DONE,
	ROOTFS_MOUNTED,
	SWITCH_ROOT,
	INIT_EXEC,
	UNIT_START,
	UNIT_READY,
	UNIT_STOP,
	PROBES
};

static struct dbk_site_probe probes[PROBES] = {
	[MODULE_LOAD_START] = { "module-load-start", LOAD, 1 },
	[MODULE_LOAD_DONE] = { "module-load-done", INIT_DONE, 3, .also = BIT(LOAD) | BIT(INIT) },
	[FIRMWARE_REQUEST] = { "firmware-request", FIRMWARE, 2 },
	[FIRMWARE_DONE] = { "firmware-done", FIRMWARE, 4 },
	[DEVICE_PROBE_START] = { "device-probe-start", BIND, 3 },
	[DEVICE_PROBE_DONE] = { "device-probe-done", BIND, 5 },
	[ROOTFS_MOUNTED] = { "rootfs-mounted", CALL_END, 2 },
	[SWITCH_ROOT] = { "switch-root", CALL_END, 0 },
	[INIT_EXEC] = { "init-exec", EXEC, 1 },
	[UNIT_START] = { "unit-start", MKDIR, 2 },
	[UNIT_READY] = { "unit-ready", CALL_END, 1 },
	[UNIT_STOP] = { "unit-stop", RMDIR, 2 },
};

/* A module whose init function is about to run or runs; only the task that loads it looks at it. */
struct load {
	struct task_struct *task; /* atomic; NULL: free */
	const char *name; /* in the module: read only at the end of @init, after which it may be freed */
	initcall_t init;
	u64 init_began_ns;
};

/* 64: modules loaded at once; one that finds no room is a MISSED drop of module-load-done. */
#define LOAD_BITS 6
static struct load loads[1 << LOAD_BITS];

static const u64 no_args[1];

/* The bytes of a path or a message that are looked at, its NUL included: docs/probes.md says so. */
#define TEXT_BYTES 256

static __probe_ctx struct load *load_of(struct task_struct *wanted)
{
	u32 at = hash_ptr(current, LOAD_BITS);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		struct load *load = &loads[(at + i) % ARRAY_SIZE(loads)];

		if (READ_ONCE(load->task) == wanted)
			return load;
	}
	return NULL;
}

static __probe_ctx void load_note(struct module *module)
{
	struct load *load = NULL;

	while (!load) {
		load = load_of(NULL);
		if (!load) {
			dbk_probe_missed(&probes[MODULE_LOAD_DONE].probe, 1);
			return;
		}
		if (cmpxchg(&load->task, NULL, current) != NULL)
			load = NULL;
	}
	load->name = module->name;
	load->init = module->init;
	load->init_began_ns = 0;
}

static __probe_ctx void on_load(void *site, struct module *module)
{
	u64 args[] = { (unsigned long)module->name, 0, 0 };
	struct load *load = load_of(current);

	/* One whose end was not seen (initcall_blacklist=): its module is gone, or this task would not load another. */
	if (load)
		smp_store_release(&load->task, NULL);
	dbk_site_fire(site, &probes[MODULE_LOAD_START], args);
	if (!dbk_probe_is_enabled(&probes[MODULE_LOAD_DONE].probe))
		return;
	if (module->init)
		load_note(module);
	else
		dbk_site_fire(site, &probes[MODULE_LOAD_DONE], args);
}

static __probe_ctx void on_init(void *site, initcall_t function)
{
	struct load *load = load_of(current);

	if (load && load->init == function)
		load->init_began_ns = dbk_host_mono_ns();
}

static __probe_ctx void on_init_done(void *site, initcall_t function, int result)
{
	struct load *load = load_of(current);
	u64 args[3] __dbk_unset;

	if (!load || load->init != function || load->init_began_ns == 0)
		return;
	args[0] = (unsigned long)load->name;
	args[1] = dbk_host_mono_ns() - load->init_began_ns;
	args[2] = result;
	smp_store_release(&load->task, NULL);
	dbk_site_fire(site, &probes[MODULE_LOAD_DONE], args);
}

static __probe_ctx void on_exec(void *site, struct task_struct *task, pid_t old_pid,
				struct linux_binprm *binprm)
{
	u64 args[] = { (unsigned long)binprm->filename };

	if (task->tgid == 1)
		dbk_site_fire(site, &probes[INIT_EXEC], args);
}

/* Whether @text from its last '.' on is what systemd has cgroups for. */
static __probe_ctx bool is_unit(const char *text)
{
	static const char kinds[][8] = { "service", "scope", "slice", "socket", "mount", "swap" };
	const char *kind = NULL;
	u32 i, at;

	for (; *text; text++)
		if (*text == '.')
			kind = text + 1;
	for (i = 0; kind && i < ARRAY_SIZE(kinds); i++) {
		for (at = 0; at < sizeof(kinds[i]) && kind[at] == kinds[i][at]; at++)
			if (kind[at] == '\0')
				return true;
	}
	return false;
}

static __probe_ctx void fire_unit(struct dbk_site *site, struct dbk_site_probe *probe,
				  const char *path)
{
	const char *name = path;
	const char *at;
	u64 args[2];

	for (at = path; *at; at++)
		if (*at == '/')
			name = at + 1;
	args[0] = (unsigned long)name;
	args[1] = (unsigned long)path;
	if (is_unit(name))
		dbk_site_fire(site, probe, args);
}

static __probe_ctx bool is_text(const char *text, const char *wanted)
{
	while (*text && *text == *wanted)
		text++, wanted++;
	return *text == *wanted;
}

/*
 * Where systemd has its units: with cgroup v1 each has a cgroup per controller as well, and on a hybrid
 * machine one in v2, which is made first, and one in v1's hierarchy of systemd.
 */
static __probe_ctx bool has_units(const struct cgroup *cgroup)
{
	if (cgroup->root == &cgrp_dfl_root)
		return true;
	return is_text(cgroup->root->name, "systemd") &&
	       READ_ONCE(cgrp_dfl_root.cgrp.nr_descendants) == 0;
}

static __probe_ctx void on_mkdir(void *site, struct cgroup *cgroup, const char *path)
{
	if (has_units(cgroup))
		fire_unit(site, &probes[UNIT_START], path);
}

static __probe_ctx void on_rmdir(void *site, struct cgroup *cgroup, const char *path)
{
	if (has_units(cgroup))
		fire_unit(site, &probes[UNIT_STOP], path);
}

/* @text into @to, cut, or "" where it cannot be read. */
static __probe_ctx const char *user_text(char *to, u64 address)
{
	if (address == 0 || dbk_host_load_user_string(to, address, TEXT_BYTES) < 0)
		to[0] = '\0';
	return to;
}

/* mount(what, where, type, flags, data) has succeeded. */
static __probe_ctx noinline void mounted(struct dbk_site *site, struct pt_regs *regs)
{
	char text[TEXT_BYTES] __dbk_unset, type[TEXT_BYTES] __dbk_unset;
	u64 args[] = { (unsigned long)text, (unsigned long)type };

	user_text(text, dbk_call_argument(regs, 1));
	if (dbk_call_argument(regs, 3) & MS_MOVE) {
		if (current->tgid == 1 && is_text(text, "/"))
			dbk_site_fire(site, &probes[SWITCH_ROOT], no_args);
		return;
	}
	if (!is_text(text, "/root") && !is_text(text, "/sysroot"))
		return;
	user_text(text, dbk_call_argument(regs, 0));
	user_text(type, dbk_call_argument(regs, 2));
	dbk_site_fire(site, &probes[ROOTFS_MOUNTED], args);
}

/* Whether a line of @text is READY=1. */
static __probe_ctx bool says_ready(const char *text)
{
	static const char ready[] = "READY=1";
	u32 at = 0;

	for (;; text++) {
		if (at == sizeof(ready) - 1 && (*text == '\n' || *text == '\0'))
			return true;
		if (*text == '\0')
			return false;
		if (*text == '\n')
			at = 0;
		else
			at = at < sizeof(ready) - 1 && *text == ready[at] ? at + 1 : sizeof(ready);
	}
}

/* @bytes at @address were sent to the socket at @to_address. */
static __probe_ctx noinline void sent(struct dbk_site *site, u64 address, u64 bytes, u64 to_address,
				      u64 to_bytes)
{
	struct sockaddr_un to __dbk_unset;
	char text[TEXT_BYTES] __dbk_unset;
	u64 args[] = { (unsigned long)text };

	if (to_bytes < offsetof(struct sockaddr_un, sun_path) + 2 || to_bytes >= sizeof(to) ||
	    !dbk_host_load_user(&to, to_address, to_bytes))
		return;
	((char *)&to)[to_bytes] = '\0';
	bytes = min_t(u64, bytes, sizeof(text) - 1);
	if (to.sun_family != AF_UNIX || !is_text(to.sun_path, "/run/systemd/notify") ||
	    !dbk_host_load_user(text, address, bytes))
		return;
	text[bytes] = '\0';
	if (says_ready(text))
		dbk_site_fire(site, &probes[UNIT_READY], args);
}

static __probe_ctx noinline void sent_message(struct dbk_site *site, u64 address, u64 bytes)
{
	struct user_msghdr message __dbk_unset;
	struct iovec part __dbk_unset;

	if (dbk_host_load_user(&message, address, sizeof(message)) && message.msg_iovlen == 1 &&
	    dbk_host_load_user(&part, (unsigned long)message.msg_iov, sizeof(part)))
		sent(site, (unsigned long)part.iov_base, bytes, (unsigned long)message.msg_name,
		     (u32)message.msg_namelen);
}

/* Calls of 64-bit programs: what boots a machine is of its own kind. */
static __probe_ctx void on_call_end(void *site, struct pt_regs *regs, long value)
{
	if (IS_ERR_VALUE(value) || dbk_call_is_32bit())
		return;
	switch (dbk_call_of(dbk_call_number(regs))) {
	case DBK_CALL_MOUNT:
		mounted(site, regs);
		break;
	case DBK_CALL_PIVOT_ROOT:
		if (current->tgid == 1)
			dbk_site_fire(site, &probes[SWITCH_ROOT], no_args);
		break;
	case DBK_CALL_SENDTO:
		if (dbk_probe_is_enabled(&probes[UNIT_READY].probe))
			sent(site, dbk_call_argument(regs, 1), value, dbk_call_argument(regs, 4),
			     (u32)dbk_call_argument(regs, 5));
		break;
	case DBK_CALL_SENDMSG:
		if (dbk_probe_is_enabled(&probes[UNIT_READY].probe))
			sent_message(site, dbk_call_argument(regs, 1), value);
		break;
	default:
		break;
	}
}

static __probe_ctx_inline const char *device_name(const struct device *device)
{
	return device ? dev_name(device) : "";
}

/* really_probe(device, driver) */
static __probe_ctx void on_bind(struct dbk_site_call *call, struct dbk_frame *frame,
				struct pt_regs *regs)
{
	const struct device *device = (const struct device *)regs_get_kernel_argument(regs, 0);
	const struct device_driver *driver =
		(const struct device_driver *)regs_get_kernel_argument(regs, 1);

	call->args[0] = (unsigned long)dev_name(device);
	call->args[1] = (unsigned long)driver->name;
	call->args[2] = (unsigned long)driver->bus->name;
	dbk_site_fire_at(&probes[DEVICE_PROBE_START], call->args, frame);
	call->args[3] = dbk_host_mono_ns();
}

static __probe_ctx void on_bound(struct dbk_site_call *call, struct dbk_frame *frame,
				 struct pt_regs *regs)
{
	call->args[3] = dbk_host_mono_ns() - call->args[3];
	call->args[4] = (int)regs_return_value(regs);
	dbk_site_fire_at(&probes[DEVICE_PROBE_DONE], call->args, frame);
}

/* _request_firmware(firmware_ret, name, device, ...) */
static __probe_ctx void on_firmware(struct dbk_site_call *call, struct dbk_frame *frame,
				    struct pt_regs *regs)
{
	call->args[0] = regs_get_kernel_argument(regs, 1);
	call->args[1] = (unsigned long)device_name(
		(const struct device *)regs_get_kernel_argument(regs, 2));
	dbk_site_fire_at(&probes[FIRMWARE_REQUEST], call->args, frame);
	call->args[2] = dbk_host_mono_ns();
}

static __probe_ctx void on_firmware_done(struct dbk_site_call *call, struct dbk_frame *frame,
					 struct pt_regs *regs)
{
	call->args[2] = dbk_host_mono_ns() - call->args[2];
	call->args[3] = (int)regs_return_value(regs);
	dbk_site_fire_at(&probes[FIRMWARE_DONE], call->args, frame);
}

static struct dbk_site sites[SITES] = {
	[LOAD] = { "module_load", on_load },
	[INIT] = { "initcall_start", on_init },
	[INIT_DONE] = { "initcall_finish", on_init_done },
	[EXEC] = { "sched_process_exec", on_exec },
	[MKDIR] = { "cgroup_mkdir", on_mkdir },
	[RMDIR] = { "cgroup_rmdir", on_rmdir },
	[CALL_END] = { "sys_exit", on_call_end },
	[BIND] = { "really_probe", .entered = on_bind, .returned = on_bound },
	[FIRMWARE] = { "_request_firmware", .entered = on_firmware, .returned = on_firmware_done },
};

/* Before any site of a load is hooked: of one under way the end was not seen. */
static void boot_reset(void)
{
	/* The kernel declares these, and a kernel with other arguments does not build. */
	check_trace_callback_type_module_load(on_load);
	check_trace_callback_type_initcall_start(on_init);
	check_trace_callback_type_initcall_finish(on_init_done);
	check_trace_callback_type_sched_process_exec(on_exec);
	check_trace_callback_type_cgroup_mkdir(on_mkdir);
	check_trace_callback_type_cgroup_rmdir(on_rmdir);
	check_trace_callback_type_sys_exit(on_call_end);
	memset(loads, 0, sizeof(loads));
}

static const struct dbk_site_provider boot = {
	.provider = &dbk_provider_boot,
	.sites = sites,
	.probes = probes,
	.site_count = SITES,
	.probe_count = PROBES,
	.reset = boot_reset,
	.reset_sites = BIT(LOAD) | BIT(INIT) | BIT(INIT_DONE),
};

DBK_SITE_PROVIDER(boot, "boot");
