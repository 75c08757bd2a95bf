// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.c - /dev/daybreak: control
 *
 * formats/abi/ioctl.md is what it promises.  A structure is copied in whole
 * before [S] or [L] is taken and out after it was released.  Rings belong to an open
 * file; what belongs to it is destroyed when it is closed (docs/design/0034-long-operations.md).
 */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kmod/bank/bank.h"
#include "kmod/control/device.h"
#include "kmod/core/regions.h"
#include "kmod/core/rights.h"
#include "kmod/core/ring.h"
#include "kmod/core/signature.h"
#include "kmod/core/tend.h"
#include "kmod/providers/provider.h"
#include "kmod/triggers/triggers.h"

#include "engine/api/trigger.h"
#include "formats/abi/segment.h"

/* A listing goes through the probes in order, a call each; it goes on where it was. */
struct opener {
	struct dbk_probe *list_at; /* [S] the probe last listed, while the generation is the same */
	u32 list_index;		   /* [S] its index */
	u32 list_generation;	   /* [S] of dbk.probe_generation */
	u64 triggers_seen;	   /* [A] what TRIGGERS_SEEN said last */
	bool asked;		   /* [S] for probes, since it enabled some: dbk_providers_asked() */
};

static int on_status(struct file *file, void *argument)
{
	struct dbk_ioc_status *status = argument;

	*status = (struct dbk_ioc_status){
		.abi_version = DBK_IOC_ABI_VERSION,
		.ring_count = dbk_rings_count(false),
		.region_count = dbk_rings_region_count(),
		.probe_count = dbk_engine_probe_count(dbk.engine),
		.anonymous = dbk_rings_count(true),
	};
	strscpy(status->reason, dbk.reason, sizeof(status->reason));
	return 0;
}

static int on_region(struct file *file, void *argument)
{
	struct dbk_ioc_region *region = argument;

	return dbk_rings_region(region->index, region) ? 0 : -ENOENT;
}

/* Who starts and ends what the machine records is for its log. */
static void say_who(const struct dbk_ring *ring, const char *what)
{
	pr_info("ring %s: %s by %s[%d]\n", dbk_consumer_ring(ring->consumer)->name, what,
		current->comm, task_tgid_nr(current));
}

static int on_claim(struct file *file, void *argument)
{
	struct dbk_ioc_ring *untrusted = argument;
	struct dbk_ring *ring;

	list_for_each_entry(ring, &dbk.rings, link) {
		u32 id = dbk_consumer_ring_id(ring->consumer);

		if (untrusted->ring_id != 0 && untrusted->ring_id != id)
			continue;
		if (ring->owner) {
			if (untrusted->ring_id != 0)
				return ring->owner == file ? -EALREADY : -EBUSY;
			continue;
		}
		dbk_ring_own(ring, file);
		say_who(ring, "claimed");
		untrusted->ring_id = id;
		untrusted->activity = dbk_consumer_activity(ring->consumer);
		return 0;
	}
	return -ENOENT;
}

/* The caller's ring, or an ERR_PTR: ENOENT: no such ring; EPERM: not the caller's. */
static struct dbk_ring *ring_owned(struct file *file, u32 ring_id)
{
	struct dbk_ring *ring = dbk_ring_find(ring_id);

	if (!ring)
		return ERR_PTR(-ENOENT);
	return ring->owner == file ? ring : ERR_PTR(-EPERM);
}

static int on_stop(struct file *file, void *argument)
{
	struct dbk_ioc_ring *untrusted = argument;
	struct dbk_ring *ring = ring_owned(file, untrusted->ring_id);
	int err;

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	err = dbk_ring_stop(ring);
	untrusted->activity = dbk_consumer_activity(ring->consumer);
	return err;
}

static int on_destroy(struct file *file, void *argument)
{
	struct dbk_ioc_ring *untrusted = argument;
	struct dbk_ring *ring = ring_owned(file, untrusted->ring_id);

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	dbk_ring_destroy(ring);
	untrusted->activity = DBK_ACTIVITY_KILLED;
	return 0;
}

/* What it recorded, and will record, is for the process that claims it. */
static int on_detach(struct file *file, void *argument)
{
	struct dbk_ioc_ring *untrusted = argument;
	struct dbk_ring *ring = ring_owned(file, untrusted->ring_id);

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	dbk_ring_own(ring, NULL);
	untrusted->activity = dbk_consumer_activity(ring->consumer);
	return 0;
}

static int on_holder(struct file *file, void *argument)
{
	struct dbk_ioc_holder *holder = argument;
	const struct dbk_ring *ring = dbk_ring_find(holder->ring_id);

	if (!ring || !ring->ready)
		return -ENOENT;
	holder->flags = (ring->anonymous ? DBK_RING_EMBEDDED : 0) |
			(ring->owner ? DBK_RING_HELD : 0);
	holder->pid = ring->holder_pid;
	holder->reserved = 0;
	memcpy(holder->comm, ring->holder_comm, sizeof(holder->comm));
	return 0;
}

static int on_release(struct file *file, void *argument)
{
	struct dbk_ioc_release *untrusted = argument;
	struct dbk_ring *ring = ring_owned(file, untrusted->ring_id);

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	if (!dbk_consumer_counters(ring->consumer, untrusted->cpu))
		return -EINVAL;
	dbk_consumer_release(ring->consumer, untrusted->cpu, untrusted->sequence);
	return 0;
}

static int on_bank(struct file *file, void *argument)
{
	struct dbk_ioc_bank *status = argument;
	u32 ring_id = status->ring_id;

	if (ring_id != 0 && !dbk_ring_find(ring_id))
		return -ENOENT;
	memset(status, 0, sizeof(*status));
	status->ring_id = ring_id;
	dbk_bank_describe(status);
	dbk_rings_bank_bytes(ring_id, &status->inside_bytes, &status->outside_bytes);
	return 0;
}

/* A caller that lists from the start wants to see what is made when it is named, too: of tables, and functions. */
static int all_publish(void)
{
	static const struct dbk_probedesc everything = { "", "", "", "", 0 };
	struct dbk_reason unsaid = { "" };
	struct dbk_requester requester = { NULL, current, &unsaid };
	int err, tables;

	dbk_probe_add_begin(dbk.engine);
	tables = dbk_provider_stable.provide(&dbk_provider_stable, &requester, &everything);
	err = dbk_provider_fbt.provide(&dbk_provider_fbt, &requester, &everything) ?: tables;
	dbk_probe_add_end(dbk.engine);
	/* Without them the rest can still be listed. */
	return err == -ENOENT ? 0 : err;
}

static struct dbk_probe *probe_at(struct opener *opener, u32 index)
{
	struct dbk_probe *probe = NULL;

	if (opener->list_at && index == opener->list_index + 1 &&
	    opener->list_generation == dbk.probe_generation)
		probe = opener->list_at->next;
	else
		probe = dbk_engine_probe_at(dbk.engine, index);
	opener->list_at = probe;
	opener->list_index = index;
	opener->list_generation = dbk.probe_generation;
	return probe;
}

static int on_probe(struct file *file, void *argument)
{
	struct dbk_ioc_probe *entry = argument;
	u32 index = entry->index;
	struct dbk_probe *probe;
	int err;

	if (index == 0 && entry->probe_id != DBK_PROBE_ONLY_EXISTING) {
		err = all_publish();
		if (err)
			return err;
	}
	probe = probe_at(file->private_data, index);
	if (!probe)
		return -ENOENT;
	memset(entry, 0, sizeof(*entry));
	entry->index = index;
	entry->probe_id = probe->id;
	strscpy(entry->provider, probe->provider, sizeof(entry->provider));
	strscpy(entry->module, probe->module, sizeof(entry->module));
	strscpy(entry->function, probe->function, sizeof(entry->function));
	strscpy(entry->name, probe->name, sizeof(entry->name));
	return 0;
}

static int on_name(struct file *file, void *argument)
{
	struct dbk_ioc_name *entry = argument;
	const struct dbk_probe *probe = probe_at(file->private_data, entry->index);
	const char *name;

	if (!probe)
		return -ENOENT;
	if (probe->id != entry->probe_id)
		return -ESTALE;
	if (entry->which >= DBK_NAMES)
		return -EINVAL;
	name = (const char *const[DBK_NAMES]){ probe->provider, probe->module, probe->function,
					       probe->name }[entry->which];
	strscpy(entry->part, name + min_t(size_t, entry->at, strlen(name)), sizeof(entry->part));
	return 0;
}

static int on_function(struct file *file, void *argument)
{
	((struct dbk_ioc_name *)argument)->which = DBK_NAME_FUNCTION;
	return on_name(file, argument);
}

static bool is_terminated(const char *name, size_t bytes)
{
	return strnlen(name, bytes) < bytes;
}

static void asked_set(struct opener *opener, bool asked)
{
	if (asked != opener->asked)
		dbk_providers_asked(asked);
	opener->asked = asked;
}

static int on_provide(struct file *file, void *argument)
{
	const struct dbk_ioc_provide *untrusted = argument;
	struct dbk_probedesc description = { untrusted->provider, untrusted->module,
					     untrusted->function, untrusted->name, 0 };
	struct dbk_reason unsaid = { "" };
	struct dbk_requester requester = { NULL, current, &unsaid };
	int err, added;

	if (!is_terminated(untrusted->provider, sizeof(untrusted->provider)) ||
	    !is_terminated(untrusted->module, sizeof(untrusted->module)) ||
	    !is_terminated(untrusted->function, sizeof(untrusted->function)) ||
	    !is_terminated(untrusted->name, sizeof(untrusted->name)))
		return -EINVAL;
	asked_set(file->private_data, true);
	dbk_probe_add_begin(dbk.engine);
	err = dbk_providers_provide(&requester, &description);
	added = dbk_probe_add_end(dbk.engine);
	return err ?: added;
}

/* How many probes there are that @description names, or -EINTR. */
static int count_matches(const struct dbk_requester *requester,
			 const struct dbk_probedesc *description)
{
	const struct dbk_probe *probe = dbk_engine_probe_at(dbk.engine, 0);
	const char *provider = NULL; /* most probes have the text of the one before */
	u32 compared = 0, matched = 0;
	bool is_named = false;
	int err = 0;

	for (; probe && !err; probe = probe->next) {
		if (probe->provider != provider)
			is_named = dbk_glob_match(description->provider, probe->provider);
		provider = probe->provider;
		matched += is_named && dbk_probedesc_match(description, probe);
		err = ++compared % 1024 == 0 ? dbk_requester_pause(requester) : 0;
	}
	return err ?: matched;
}

static int on_count(struct file *file, void *argument)
{
	const struct dbk_ioc_provide *checked = argument; /* by on_provide(), first of all */
	struct dbk_probedesc description = { checked->provider, checked->module, checked->function,
					     checked->name, 0 };
	struct dbk_reason unsaid = { "" };
	struct dbk_requester requester = { NULL, current, &unsaid };

	return on_provide(file, argument) ?: count_matches(&requester, &description);
}

/* A name goes into logs, files and the command lines of shells. */
static int name_check(const char *untrusted_name, struct dbk_reason *reason)
{
	size_t bytes = strnlen(untrusted_name, DBK_RING_NAME_BYTES), i;
	bool good = bytes != 0 && bytes < DBK_RING_NAME_BYTES;

	for (i = 0; good && i < bytes; i++)
		good = isascii(untrusted_name[i]) && isgraph(untrusted_name[i]);
	if (!good) {
		strscpy(reason->text, "a name has 1 to 31 graphic ASCII characters",
			sizeof(reason->text));
		return -EINVAL;
	}
	if (dbk_ring_find_named(untrusted_name)) {
		scnprintf(reason->text, sizeof(reason->text), "there is a ring of the name %s",
			  untrusted_name);
		return -EEXIST;
	}
	return 0;
}

/* @untrusted_name: NULL for one that is made up, and that others may have. */
static int enable(struct file *file, struct dbk_ioc_enable *untrusted, const char *untrusted_name)
{
	size_t bytes = untrusted->dof_bytes;
	struct dbk_reason reason = { "" };
	struct dbk_loaded loaded = {};
	struct dbk_ring *ring;
	void *dof;
	int err;

	if (dbk_bank_salvage()) {
		strscpy(untrusted->reason, "daybreak.salvage=1: nothing is recorded",
			DBK_REASON_BYTES);
		return -EROFS;
	}
	if (untrusted->dof_bytes > DBK_DOF_BYTES_MAX) {
		strscpy(untrusted->reason, "the DOF is larger than 8 MiB", DBK_REASON_BYTES);
		return -E2BIG;
	}
	dof = vmemdup_user(u64_to_user_ptr(untrusted->dof), untrusted->dof_bytes);
	if (IS_ERR(dof))
		return PTR_ERR(dof);
	err = dbk_signature_check(dof, &bytes, &reason) ?: dbk_loaded_create(dof, bytes, &reason, &loaded) ?:
	      mutex_lock_killable(&dbk.mutex);
	if (!err) {
		asked_set(file->private_data, false);
		err = untrusted_name ? name_check(untrusted_name, &reason) : 0;
		if (!err)
			err = dbk_ring_create(&loaded, untrusted_name ?: current->comm, file, &reason, &ring);
		if (!err) {
			untrusted->ring_id = dbk_consumer_ring_id(ring->consumer);
			untrusted->matched = ring->matched;
			if (untrusted_name)
				say_who(ring, "enabled");
		}
		mutex_unlock(&dbk.mutex);
	}
	dbk_loaded_destroy(&loaded);
	kvfree(dof);
	strscpy(untrusted->reason, reason.text, sizeof(untrusted->reason));
	return err;
}

/* The reason is for the caller whether the call fails or not. */
static long enable_call(struct file *file, void __user *user, bool is_named)
{
	struct dbk_ioc_enable_as untrusted;
	size_t bytes = is_named ? sizeof(untrusted) : sizeof(untrusted.enable);
	int err;

	if (copy_from_user(&untrusted, user, bytes))
		return -EFAULT;
	untrusted.enable.ring_id = 0;
	untrusted.enable.matched = 0;
	memset(untrusted.enable.reason, 0, sizeof(untrusted.enable.reason));
	err = enable(file, &untrusted.enable, is_named ? untrusted.name : NULL);
	if (copy_to_user(user, &untrusted, bytes))
		return -EFAULT;
	return err;
}

/* A ring of no owner is for all who could open the device: that is root. */
static struct dbk_ring *ring_readable(struct file *file, u32 ring_id)
{
	struct dbk_ring *ring = dbk_ring_find(ring_id);

	if (!ring)
		return ERR_PTR(-ENOENT);
	return !ring->owner || ring->owner == file ? ring : ERR_PTR(-EPERM);
}

/* What was switched and did not reach its reader comes with the next call. */
static void aggsnap_keep(struct file *file, const struct dbk_ioc_aggsnap *untrusted,
			 const struct dbk_segment_header *image)
{
	struct dbk_ring *ring = ring_readable(file, untrusted->ring_id);

	if (!IS_ERR(ring))
		dbk_consumer_agg_keep(ring->consumer, untrusted->cpu, image->sequence);
}

static int aggsnap(struct file *file, struct dbk_ioc_aggsnap *untrusted, void **image_ret)
{
	struct dbk_ring *ring = ring_readable(file, untrusted->ring_id);
	const void *image;
	u32 bytes;
	int err;

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	/* Before the buffers are switched: what does not fit would be lost. */
	if (untrusted->bytes < dbk_consumer_ring(ring->consumer)->aggbuf_bytes)
		return -ENOSPC;
	err = dbk_consumer_agg_snapshot(ring->consumer, untrusted->cpu, &bytes, &image);
	if (err)
		return err;
	*image_ret = kvmalloc(bytes, GFP_KERNEL);
	if (!*image_ret) {
		aggsnap_keep(file, untrusted, image);
		return -ENOMEM;
	}
	memcpy(*image_ret, image, bytes);
	untrusted->bytes = bytes;
	return 0;
}

static long aggsnap_call(struct file *file, void __user *user)
{
	struct dbk_ioc_aggsnap untrusted;
	void *image = NULL;
	int err;

	if (copy_from_user(&untrusted, user, sizeof(untrusted)))
		return -EFAULT;
	if (mutex_lock_killable(&dbk.mutex))
		return -EINTR;
	err = aggsnap(file, &untrusted, &image);
	mutex_unlock(&dbk.mutex);
	if (!err && (copy_to_user(u64_to_user_ptr(untrusted.buffer), image, untrusted.bytes) ||
		     copy_to_user(user, &untrusted, sizeof(untrusted)))) {
		err = -EFAULT;
		if (!mutex_lock_killable(&dbk.mutex)) {
			aggsnap_keep(file, &untrusted, image);
			mutex_unlock(&dbk.mutex);
		}
	}
	kvfree(image);
	return err;
}

static int on_triggers_seen(struct file *file, void *argument)
{
	struct dbk_ioc_triggers *triggers = argument;
	struct opener *opener = file->private_data;

	triggers->sequence = dbk_engine_trigger_sequence(dbk.engine);
	WRITE_ONCE(opener->triggers_seen, triggers->sequence);
	return 0;
}

/* The calls that need nothing of user space but their structure. */
static const struct {
	unsigned int command;
	struct mutex *lock; /* [S], or for what only looks [L], which is not held for long */
	int (*call)(struct file *file, void *argument);
} calls[] = {
	{ DBK_IOC_STATUS, &dbk.look_mutex, on_status },
	{ DBK_IOC_REGION, &dbk.look_mutex, on_region },
	{ DBK_IOC_RELEASE, &dbk.look_mutex, on_release },
	{ DBK_IOC_HOLDER, &dbk.look_mutex, on_holder },
	{ DBK_IOC_TRIGGERS_SEEN, &dbk.look_mutex, on_triggers_seen },
	{ DBK_IOC_CLAIM, &dbk.mutex, on_claim },
	{ DBK_IOC_STOP, &dbk.mutex, on_stop },
	{ DBK_IOC_DESTROY, &dbk.mutex, on_destroy },
	{ DBK_IOC_PROBE, &dbk.mutex, on_probe },
	{ DBK_IOC_FUNCTION, &dbk.mutex, on_function },
	{ DBK_IOC_NAME, &dbk.mutex, on_name },
	{ DBK_IOC_PROVIDE, &dbk.mutex, on_provide },
	{ DBK_IOC_COUNT, &dbk.mutex, on_count },
	{ DBK_IOC_DETACH, &dbk.mutex, on_detach },
	{ DBK_IOC_BANK, &dbk.mutex, on_bank },
};

union argument {
	struct dbk_ioc_status status;
	struct dbk_ioc_region region;
	struct dbk_ioc_ring ring;
	struct dbk_ioc_holder holder;
	struct dbk_ioc_probe probe;
	struct dbk_ioc_name name;
	struct dbk_ioc_release release;
	struct dbk_ioc_provide provide;
	struct dbk_ioc_triggers triggers;
	struct dbk_ioc_bank bank;
};

static long device_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	void __user *user = (void __user *)address;
	union argument argument = { 0 };
	unsigned int i;
	int err;

	if (command == DBK_IOC_ENABLE || command == DBK_IOC_ENABLE_AS)
		return enable_call(file, user, command == DBK_IOC_ENABLE_AS);
	if (command == DBK_IOC_AGGSNAP)
		return aggsnap_call(file, user);
	for (i = 0; i < ARRAY_SIZE(calls) && calls[i].command != command; i++)
		;
	if (i == ARRAY_SIZE(calls))
		return -ENOTTY;
	if (_IOC_DIR(command) & _IOC_WRITE && copy_from_user(&argument, user, _IOC_SIZE(command)))
		return -EFAULT;
	if (mutex_lock_killable(calls[i].lock))
		return -EINTR;
	err = calls[i].call(file, &argument);
	mutex_unlock(calls[i].lock);
	if (!err && copy_to_user(user, &argument, _IOC_SIZE(command)))
		return -EFAULT;
	return err;
}

static int device_open(struct inode *inode, struct file *file)
{
	int err = dbk_rights_open();
	struct opener *opener;

	if (err)
		return err;
	opener = kzalloc(sizeof(*opener), GFP_KERNEL);
	if (!opener)
		return -ENOMEM;
	file->private_data = opener;
	return nonseekable_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	struct opener *opener = file->private_data;
	const bool asked = opener->asked;

	asked_set(opener, false);
	dbk_rings_leave(file, asked);
	kfree(opener);
	return 0;
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *table)
{
	struct opener *opener = file->private_data;

	return dbk_triggered_poll(file, table, READ_ONCE(opener->triggers_seen));
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.poll = device_poll,
	.mmap = dbk_device_mmap,
};

/* 0400: what is recorded is for root alone. */
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "daybreak",
	.fops = &device_operations,
	.mode = 0400,
};

int dbk_device_register(void)
{
	return misc_register(&device);
}

void dbk_device_unregister(void)
{
	misc_deregister(&device);
}
