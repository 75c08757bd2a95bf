// SPDX-License-Identifier: GPL-2.0-only
/*
 * site.c - providers whose probes hang on a few tracepoints
 */
#include "kmod/core/site.h"

/* Mask of the sites that a probe needs. */
static u32 sites_of(const struct dbk_site_probe *at)
{
	return at->also | BIT(at->site);
}

static bool has_tracepoints(const struct dbk_site_provider *own, const struct dbk_site_probe *at)
{
	u32 i;

	for (i = 0; i < own->site_count; i++)
		if (sites_of(at) & BIT(i) && !own->sites[i].tracepoint)
			return false;
	return true;
}

static int publish(const struct dbk_site_provider *own, struct dbk_site_probe *at)
{
	at->probe = (struct dbk_probe){
		.provider = own->provider->name,
		.module = "",
		.function = "",
		.name = at->name,
		.host_data = (void *)own->provider,
	};
	dbk_probe_args_in_order(&at->probe, at->arg_count);
	return dbk_probe_add(dbk.engine, &at->probe);
}

int dbk_sites_init(const struct dbk_site_provider *own)
{
	u32 found = 0;
	u32 i;

	dbk_state_assert();
	for (i = 0; i < own->site_count; i++) {
		struct dbk_site *site = &own->sites[i];

		site->tracepoint = dbk_tracepoint_find(site->tracepoint_name);
		if (!site->tracepoint) {
			pr_warn("provider %s: this kernel has no tracepoint %s\n",
				own->provider->name, site->tracepoint_name);
			continue;
		}
		site->frame = dbk_tracepoint_frame(site->tracepoint);
		found++;
	}
	for (i = 0; i < own->probe_count; i++) {
		struct dbk_site_probe *at = &own->probes[i];
		int err = has_tracepoints(own, at) ? publish(own, at) : 0;

		if (err) {
			dbk_sites_exit(own);
			return err;
		}
	}
	return found != 0 ? 0 : -ENOENT;
}

void dbk_sites_exit(const struct dbk_site_provider *own)
{
	struct dbk_retire retire;
	u32 i;

	dbk_state_assert();
	dbk_retire_begin(&retire, own->probe_count);
	for (i = 0; i < own->probe_count; i++)
		if (own->probes[i].probe.id != 0)
			dbk_retire_add(&retire, &own->probes[i].probe);
	dbk_retire_end(&retire);
}

static bool any_hooked(const struct dbk_site_provider *own)
{
	u32 i;

	for (i = 0; i < own->site_count; i++)
		if (own->sites[i].hooked)
			return true;
	return false;
}

int dbk_sites_enable(const struct dbk_site_provider *own, struct dbk_probe *probe)
{
	u32 wanted = sites_of(container_of(probe, struct dbk_site_probe, probe));
	u32 i;

	dbk_state_assert();
	if (own->reset && !any_hooked(own))
		own->reset();
	for (i = 0; i < own->site_count; i++) {
		struct dbk_site *site = &own->sites[i];
		int err;

		if (!(wanted & BIT(i)) || site->hooked)
			continue;
		err = tracepoint_probe_register(site->tracepoint, site->callback, site);
		/* What was hooked so far goes with the next settle. */
		if (err)
			return err;
		site->hooked = true;
	}
	for (i = 0; i < own->site_count; i++)
		own->sites[i].enabled += !!(wanted & BIT(i));
	return 0;
}

void dbk_sites_disable(const struct dbk_site_provider *own, struct dbk_probe *probe)
{
	u32 wanted = sites_of(container_of(probe, struct dbk_site_probe, probe));
	u32 i;

	dbk_state_assert();
	for (i = 0; i < own->site_count; i++)
		own->sites[i].enabled -= !!(wanted & BIT(i));
}

void dbk_sites_settle(const struct dbk_site_provider *own)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < own->site_count; i++) {
		struct dbk_site *site = &own->sites[i];

		if (!site->hooked || site->enabled != 0)
			continue;
		tracepoint_probe_unregister(site->tracepoint, site->callback, site);
		site->hooked = false;
	}
}
