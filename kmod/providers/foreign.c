// SPDX-License-Identifier: GPL-2.0-only
/*
 * foreign.c - probes of other modules (kmod/include/daybreak_provider.h)
 *
 * What another module does wrong harms itself alone.  So nothing of its is kept but the address
 * that says who it is: names are copied, through loads that may fault, before any lock is taken;
 * what it fires is named by a number, which is looked up; and when it goes, its probes go.
 */
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "arch/stack.h"
#include "engine/api/host.h"
#include "kmod/frame.h"
#include "kmod/include/daybreak_provider.h"
#include "kmod/kernel/symbols.h"
#include "kmod/providers/provider.h"

/* Probes that are registered at once, of all modules: of four that have all they may. A power of two. */
#define SLOTS (4u * DAYBREAK_PROBES_MAX)
/* A name with its NUL. */
#define NAME_BYTES 64

struct foreign_probe {
	struct dbk_probe probe;
	struct list_head link; /* of those that are taken out */
	struct module *owner;  /* [C] */
	u32 handle;	       /* [C] */
	char provider[NAME_BYTES], function[NAME_BYTES], name[NAME_BYTES]; /* [C] */
};

static struct foreign_probe *
	*slots;	 /* [R] by the handle's low bits; NULL until a module registers one */
static u32 turn; /* [S] of the next handle, above those bits: none is used again soon */
static unsigned long fire_bytes; /* [S] of the text of __daybreak_fire() */

__probe_ctx void __daybreak_fire(u32 handle, const u64 *args, u32 count)
{
	struct dbk_frame frame = {
		.kind = DBK_FRAME_TRACEPOINT,
		.iterator_start = (unsigned long)__daybreak_fire,
		.iterator_end = (unsigned long)__daybreak_fire + READ_ONCE(fire_bytes),
	};
	struct foreign_probe **table = smp_load_acquire(&slots);
	u64 words[DAYBREAK_ARGS_MAX] = { 0 };
	unsigned long flags = dbk_host_enter();
	struct foreign_probe *foreign = table ? READ_ONCE(table[handle % SLOTS]) : NULL;

	if (foreign && foreign->handle == handle && dbk_probe_is_enabled(&foreign->probe)) {
		count = min_t(u32, count, foreign->probe.arg_count);
		if (dbk_stack_is_cramped())
			dbk_probe_missed(&foreign->probe, 1);
		else if (count == 0 ||
		    copy_from_kernel_nofault(words, args, count * sizeof(*words)) == 0)
			dbk_probe_fire(&foreign->probe, words, &frame);
		else
			dbk_probe_missed(&foreign->probe, 1);
	}
	dbk_host_leave(flags);
}
EXPORT_SYMBOL_GPL(__daybreak_fire);

/* A word of letters, digits, '_' and '-', as untrusted as its address; @to has NAME_BYTES. */
static bool name_copy(char *to, const char *untrusted, bool may_be_empty)
{
	u32 i;

	for (i = 0; i < NAME_BYTES; i++) {
		if (copy_from_kernel_nofault(&to[i], untrusted + i, 1) != 0)
			return false;
		if (to[i] == '\0')
			return i != 0 || may_be_empty;
		if (!isalnum(to[i]) && to[i] != '_' && to[i] != '-')
			return false;
	}
	return false;
}

/* Programs name these without their provider, and would have them of any. */
static bool is_of_the_engine(const char *name)
{
	return strcmp(name, "BEGIN") == 0 || strcmp(name, "END") == 0 || strcmp(name, "ERROR") == 0 ||
	       strncmp(name, "tick-", 5) == 0 || strncmp(name, "profile-", 8) == 0;
}

/* Names that end in a number are those of processes' providers. */
static bool provider_copy(char *to, const char *untrusted)
{
	return name_copy(to, untrusted, false) && isalpha(to[0]) && !isdigit(to[strlen(to) - 1]) &&
	       !strchr(to, '-');
}

static bool is_of_another(const char *provider, const struct module *owner)
{
	const struct dbk_probe *probe;

	if (dbk_provider_is_ours(provider))
		return true;
	for (probe = dbk_engine_probe_at(dbk.engine, 0); probe; probe = probe->next)
		if (strcmp(probe->provider, provider) == 0 &&
		    (probe->host_data != &dbk_provider_foreign ||
		     container_of(probe, struct foreign_probe, probe)->owner != owner))
			return true;
	return false;
}

static bool is_there(const struct foreign_probe *foreign)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		if (slots[i] && strcmp(slots[i]->name, foreign->name) == 0 &&
		    strcmp(slots[i]->function, foreign->function) == 0 &&
		    strcmp(slots[i]->provider, foreign->provider) == 0)
			return true;
	return false;
}

static struct foreign_probe *foreign_create(struct module *owner, const char *provider,
					    const char *function, const char *name, u32 arg_count)
{
	struct foreign_probe *foreign;

	if (!owner || arg_count > DAYBREAK_ARGS_MAX)
		return ERR_PTR(-EINVAL);
	foreign = kzalloc(sizeof(*foreign), GFP_KERNEL);
	if (!foreign)
		return ERR_PTR(-ENOMEM);
	if (!provider_copy(foreign->provider, provider) ||
	    !name_copy(foreign->function, function, true) ||
	    !name_copy(foreign->name, name, false) || is_of_the_engine(foreign->name)) {
		kfree(foreign);
		return ERR_PTR(-EINVAL);
	}
	foreign->owner = owner;
	foreign->probe = (struct dbk_probe){
		.provider = foreign->provider,
		.module = owner->name,
		.function = foreign->function,
		.name = foreign->name,
		.host_data = (void *)&dbk_provider_foreign,
	};
	dbk_probe_args_in_order(&foreign->probe, arg_count);
	return foreign;
}

static void take_out(u32 slot, struct list_head *gone)
{
	struct foreign_probe *foreign = slots[slot];

	WRITE_ONCE(slots[slot], NULL);
	list_add_tail(&foreign->link, gone);
}

/* After one wait for all of them. */
static void free_all(struct list_head *gone)
{
	struct foreign_probe *foreign, *next;
	struct dbk_retire retire;

	dbk_state_assert();
	if (list_empty(gone))
		return;
	dbk_retire_begin(&retire, list_count_nodes(gone));
	list_for_each_entry(foreign, gone, link)
		if (foreign->probe.id != 0)
			dbk_retire_add(&retire, &foreign->probe);
	dbk_retire_end(&retire);
	dbk_host_synchronize();
	list_for_each_entry_safe(foreign, next, gone, link)
		kfree(foreign);
}

/* Those of @owner; NULL: all. */
static void foreign_remove(const struct module *owner)
{
	LIST_HEAD(gone);
	u32 i;

	for (i = 0; slots && i < SLOTS; i++)
		if (slots[i] && (!owner || slots[i]->owner == owner))
			take_out(i, &gone);
	free_all(&gone);
}

static int slots_make(void)
{
	struct foreign_probe **table;

	if (slots)
		return 0;
	table = kvcalloc(SLOTS, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	fire_bytes = dbk_symbol_bytes((unsigned long)__daybreak_fire);
	smp_store_release(&slots, table);
	return 0;
}

/* A slot for a probe of @owner, or SLOTS. */
static u32 slot_find(const struct module *owner)
{
	u32 free = SLOTS;
	u32 owned = 0;
	u32 i;

	for (i = 0; i < SLOTS; i++) {
		if (!slots[i])
			free = min(free, i);
		else if (slots[i]->owner == owner)
			owned++;
	}
	return owned < DAYBREAK_PROBES_MAX ? free : SLOTS;
}

static int foreign_publish(struct foreign_probe *foreign)
{
	u32 i;

	if (is_of_another(foreign->provider, foreign->owner) || is_there(foreign))
		return -EEXIST;
	i = slot_find(foreign->owner);
	if (i == SLOTS)
		return -ENOSPC;
	if (++turn > INT_MAX / SLOTS - 1)
		turn = 1;
	foreign->handle = turn * SLOTS + i;
	/* Without memory for an ECB it is there all the same. */
	if (dbk_probe_add(dbk.engine, &foreign->probe) == -EINVAL)
		return -EINVAL;
	WRITE_ONCE(slots[i], foreign);
	return 0;
}

/* Whether the caller must not sleep; a kernel that preempts readers of RCU does not count them in in_atomic(). */
static bool may_not_sleep(void)
{
	return in_atomic() || irqs_disabled() || rcu_preempt_depth() != 0;
}

int __daybreak_probe_register(struct module *owner, const char *provider, const char *function,
			      const char *name, u32 arg_count)
{
	struct foreign_probe *foreign;
	int err;

	if (may_not_sleep())
		return -EWOULDBLOCK;
	foreign = foreign_create(owner, provider, function, name, arg_count);
	if (IS_ERR(foreign))
		return PTR_ERR(foreign);
	err = mutex_lock_killable(&dbk.mutex);
	if (!err) {
		err = slots_make() ?: foreign_publish(foreign);
		dbk.probe_generation++;
		mutex_unlock(&dbk.mutex);
	}
	if (!err)
		return foreign->handle;
	kfree(foreign);
	return err;
}
EXPORT_SYMBOL_GPL(__daybreak_probe_register);

/* @untrusted: @count probes, of which those that @owner registered go. */
void __daybreak_probes_unregister(struct module *owner, const struct daybreak_probe *untrusted,
				  u32 count)
{
	LIST_HEAD(gone);
	u32 handle, i;

	/* Its probes go when it does. */
	if (!owner || may_not_sleep())
		return;
	mutex_lock(&dbk.mutex);
	for (i = 0; slots && i < min(count, SLOTS); i++) {
		struct foreign_probe *foreign;

		if (copy_from_kernel_nofault(&handle, &untrusted[i].handle, sizeof(handle)) != 0)
			break;
		foreign = slots[handle % SLOTS];
		if (foreign && foreign->handle == handle && foreign->owner == owner)
			take_out(handle % SLOTS, &gone);
	}
	free_all(&gone);
	mutex_unlock(&dbk.mutex);
}
EXPORT_SYMBOL_GPL(__daybreak_probes_unregister);

static void module_goes(struct module *module)
{
	foreign_remove(module);
}

static int module_notify(struct notifier_block *block, unsigned long event, void *module)
{
	if (event == MODULE_STATE_GOING && READ_ONCE(slots))
		dbk_module_event(event, module, NULL, module_goes);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_notify };

static int foreign_watch(const struct dbk_provider *self)
{
	return register_module_notifier(&module_notifier);
}

static void foreign_unwatch(const struct dbk_provider *self)
{
	unregister_module_notifier(&module_notifier);
}

/* No module that registered one is left: it would have kept this one. */
static void foreign_exit(const struct dbk_provider *self)
{
	foreign_remove(NULL);
	kvfree(slots);
}

/* Nothing is hooked: to fire is the module's affair. */
const struct dbk_provider dbk_provider_foreign = {
	.name = "*",
	.exit = foreign_exit,
	.watch = foreign_watch,
	.unwatch = foreign_unwatch,
};
