// SPDX-License-Identifier: GPL-2.0-only
/*
 * named.c - probes that are made when a program names them, and go when none needs them
 */
#include <linux/slab.h>

#include "kmod/providers/named.h"

int dbk_named_check(const struct dbk_provider *provider, const struct dbk_requester *requester,
		    const char *function, const char *name)
{
	const struct dbk_named_set *set = provider->named;
	const struct dbk_named *named;

	dbk_state_assert();
	list_for_each_entry(named, &set->probes, link)
		if (strcmp(named->probe.name, name) == 0 &&
		    strcmp(named->probe.function, function) == 0)
			return -EEXIST;
	if (set->count < set->count_max)
		return 0;
	scnprintf(requester->reason->text, sizeof(requester->reason->text),
		  "%u probes of provider %s are there, and no more can be made: name fewer",
		  set->count_max, provider->name);
	return -E2BIG;
}

int dbk_named_add(const struct dbk_provider *provider, struct dbk_named *named)
{
	int err;

	dbk_state_assert();
	named->probe.provider = provider->name;
	named->probe.host_data = (void *)provider;
	err = dbk_probe_add(dbk.engine, &named->probe);
	if (err == -EINVAL)
		return err;
	list_add_tail(&named->link, &provider->named->probes);
	provider->named->count++;
	return err;
}

void dbk_named_retire(const struct dbk_provider *provider)
{
	struct dbk_named_set *set = provider->named;
	struct dbk_named *named, *next;
	LIST_HEAD(gone);
	u32 count = 0;

	dbk_state_assert();
	list_for_each_entry_safe(named, next, &set->probes, link) {
		if (dbk_probe_is_enabled(&named->probe))
			continue;
		list_move_tail(&named->link, &gone);
		count++;
	}
	if (count == 0)
		return;
	set->count -= count;
	dbk_probes_remove_unused(dbk.engine, provider);
	dbk.probe_generation++;
	if (set->unhook)
		set->unhook(&gone, count);
	list_for_each_entry_safe(named, next, &gone, link)
		kfree(named);
}
