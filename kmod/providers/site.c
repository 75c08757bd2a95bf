// SPDX-License-Identifier: GPL-2.0-only
/*
 * site.c - providers whose probes hang on a few tracepoints or functions
 */
#include "arch/registers.h"
#include "kmod/providers/site.h"

/* 64: calls of one function that can be under way at once; one more is a MISSED drop. */
#define CALLS_MAX 64

/* Mask of the sites that a probe needs. */
static u32 sites_of(const struct dbk_site_probe *at)
{
	return at->also | BIT(at->site);
}

static bool is_there(const struct dbk_site *site)
{
	return site->hook.tracepoint || site->address != 0;
}

static bool has_sites(const struct dbk_site_provider *own, const struct dbk_site_probe *at)
{
	u32 i;

	for (i = 0; i < own->site_count; i++)
		if (sites_of(at) & BIT(i) && !is_there(&own->sites[i]))
			return false;
	return true;
}

static int publish(const struct dbk_site_provider *own, struct dbk_site_probe *at)
{
	at->probe = (struct dbk_probe){
		.provider = own->provider->name,
		.module = "vmlinux",
		.function = "",
		.name = at->name,
		.host_data = (void *)own->provider,
	};
	dbk_probe_args_in_order(&at->probe, at->arg_count);
	return dbk_probe_add(dbk.engine, &at->probe);
}

int dbk_sites_init(const struct dbk_provider *self)
{
	const struct dbk_site_provider *own = self->sites;
	u32 found = 0;
	u32 i;

	dbk_state_assert();
	for (i = 0; i < own->site_count; i++) {
		struct dbk_site *site = &own->sites[i];

		site->own = own;
		site->hook = (struct dbk_tracepoint_hook){ site->name, site->callback, site };
		if (!site->callback)
			site->address = dbk_symbol(site->name);
		else if (dbk_tracepoint_find(&site->hook))
			site->frame = dbk_tracepoint_frame(site->hook.tracepoint);
		if (is_there(site))
			found++;
		else
			pr_warn("provider %s: this kernel has no %s %s\n", own->provider->name,
				site->callback ? "tracepoint" : "function", site->name);
	}
	for (i = 0; i < own->probe_count; i++) {
		struct dbk_site_probe *at = &own->probes[i];
		int err = has_sites(own, at) ? publish(own, at) : 0;

		if (err) {
			dbk_sites_exit(self);
			return err;
		}
	}
	return found != 0 ? 0 : -ENOENT;
}

void dbk_sites_exit(const struct dbk_provider *self)
{
	const struct dbk_site_provider *own = self->sites;
	struct dbk_retire retire;
	u32 i;

	dbk_state_assert();
	dbk_retire_begin(&retire, own->probe_count);
	for (i = 0; i < own->probe_count; i++)
		if (own->probes[i].probe.id != 0)
			dbk_retire_add(&retire, &own->probes[i].probe);
	dbk_retire_end(&retire);
}

/* The kernel only counts what it missed; the next call it did not miss books it, or dbk_sites_book(). */
static __probe_ctx void count_missed(struct dbk_site *site)
{
	unsigned long missed = READ_ONCE(site->kretprobe.nmissed) + READ_ONCE(site->kretprobe.kp.nmissed);
	unsigned long seen = READ_ONCE(site->missed_seen);
	const struct dbk_site_provider *own = site->own;
	unsigned long flags;
	u32 i;

	if (likely(missed == seen) || cmpxchg(&site->missed_seen, seen, missed) != seen)
		return;
	flags = dbk_host_enter();
	for (i = 0; i < own->probe_count; i++)
		if (&own->sites[own->probes[i].site] == site &&
		    dbk_probe_is_enabled(&own->probes[i].probe))
			dbk_probe_missed(&own->probes[i].probe, missed - seen);
	dbk_host_leave(flags);
}

static __probe_ctx int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *kretprobe = get_kretprobe(instance);
	struct dbk_site *site = container_of(kretprobe, struct dbk_site, kretprobe);
	struct dbk_frame frame = { .kind = DBK_FRAME_FUNCTION, .sp = kernel_stack_pointer(regs) };

	if (!kretprobe)
		return 1;
	count_missed(site);
	frame.ip = site->address;
	frame.parent_ip = dbk_register_caller(regs);
	site->entered((struct dbk_site_call *)instance->data, &frame, regs);
	return 0;
}

static __probe_ctx int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *kretprobe = get_kretprobe(instance);
	struct dbk_site *site = container_of(kretprobe, struct dbk_site, kretprobe);
	struct dbk_frame frame = { .kind = DBK_FRAME_RETURN, .regs = regs };

	if (!kretprobe)
		return 0;
	frame.function = site->address;
	site->returned((struct dbk_site_call *)instance->data, &frame, regs);
	return 0;
}

static int hook(struct dbk_site *site)
{
	if (site->callback)
		return dbk_tracepoint_hook(&site->hook);
	site->missed_seen = 0;
	site->kretprobe = (struct kretprobe){
		.kp.addr = (void *)site->address,
		.entry_handler = on_entry,
		.handler = on_return,
		.data_size = sizeof(struct dbk_site_call),
		.maxactive = CALLS_MAX,
	};
	return register_kretprobe(&site->kretprobe);
}

static void unhook(struct dbk_site *site)
{
	if (site->callback)
		dbk_tracepoint_unhook(&site->hook);
	else
		unregister_kretprobe(&site->kretprobe);
}

static bool any_hooked(const struct dbk_site_provider *own, u32 mask)
{
	u32 i;

	for (i = 0; i < own->site_count; i++)
		if ((mask & BIT(i)) && own->sites[i].hooked)
			return true;
	return false;
}

int dbk_sites_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	const struct dbk_site_provider *own = self->sites;
	u32 wanted = sites_of(container_of(probe, struct dbk_site_probe, probe));
	u32 i;

	dbk_state_assert();
	/* What was unhooked was waited for, before the ECBs that it served were freed. */
	if (own->reset && !any_hooked(own, own->reset_sites))
		own->reset();
	for (i = 0; i < own->site_count; i++) {
		struct dbk_site *site = &own->sites[i];
		int err;

		if (!(wanted & BIT(i)) || site->hooked)
			continue;
		err = hook(site);
		/* What was hooked so far goes with the next settle. */
		if (err)
			return err;
		site->hooked = true;
	}
	for (i = 0; i < own->site_count; i++)
		own->sites[i].enabled += !!(wanted & BIT(i));
	return 0;
}

void dbk_sites_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	const struct dbk_site_provider *own = self->sites;
	u32 wanted = sites_of(container_of(probe, struct dbk_site_probe, probe));
	u32 i;

	dbk_state_assert();
	for (i = 0; i < own->site_count; i++)
		own->sites[i].enabled -= !!(wanted & BIT(i));
}

int dbk_sites_settle(const struct dbk_provider *self, const struct module *module)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < self->sites->site_count; i++) {
		struct dbk_site *site = &self->sites->sites[i];

		if (!site->hooked || site->enabled != 0)
			continue;
		unhook(site);
		site->hooked = false;
	}
	return 0;
}

void dbk_sites_book(const struct dbk_provider *self)
{
	const struct dbk_site_provider *own = self->sites;
	u32 i;

	dbk_state_assert();
	for (i = 0; i < own->site_count; i++)
		if (own->sites[i].hooked && !own->sites[i].callback)
			count_missed(&own->sites[i]);
}
