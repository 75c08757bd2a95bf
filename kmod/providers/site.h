/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * site.h - providers whose probes hang on a few tracepoints or functions
 *
 * A site is one tracepoint with a callback of the provider's, which looks at
 * what happened and fires those of its probes that it means; or one function,
 * with two callbacks.  A site is hooked while a probe that needs it is enabled.  A provider of this kind is two tables,
 * sites and probes; the functions here are its operations.
 */
#ifndef DBK_KMOD_SITE_H
#define DBK_KMOD_SITE_H

#include <linux/kprobes.h>

#include "kmod/kernel/tracepoint.h"
#include "kmod/providers/provider.h"

struct dbk_site_provider;

/* One call of a function, from its entry to its return. */
struct dbk_site_call {
	u64 args[5];
};

/* At a function's entry and return: @regs are those of that moment. */
typedef void dbk_site_function(struct dbk_site_call *call, struct dbk_frame *frame,
			       struct pt_regs *regs);

struct dbk_site {
	const char *name;	     /* [C] of the tracepoint or the function */
	void *callback;		     /* [C] of a tracepoint; NULL: a function */
	dbk_site_function *entered;  /* [C] of a function */
	dbk_site_function *returned; /* [C] */

	const struct dbk_site_provider *own; /* [C] */
	struct dbk_frame frame;		     /* [C] of the tracepoint */
	unsigned long address;		     /* [C] of the function; 0: not there */
	struct dbk_tracepoint_hook hook; /* [S] of a tracepoint, which this kernel may not have */
	struct kretprobe kretprobe;	     /* [S] */
	unsigned long missed_seen; /* atomic: of the kernel's count, what is counted as drops */
	u32 enabled;		       /* [S] probes */
	bool hooked;		       /* [S] */
};

struct dbk_site_probe {
	const char *name; /* [C] */
	u8 site;	  /* [C] index in the provider's table */
	u8 arg_count;	  /* [C] */
	u16 also;	  /* [C] mask of the other sites that it needs */
	struct dbk_probe probe;
};

struct dbk_site_provider {
	const struct dbk_provider *provider;
	struct dbk_site *sites;
	struct dbk_site_probe *probes;
	u32 site_count, probe_count;
	void (*reset)(void); /* while no site of @reset_sites is hooked and none of their callbacks runs,
				before the first is; may be NULL.  Context: [S]. */
	u16 reset_sites;     /* mask */
};

/* The operations of a provider with `sites`. */
int dbk_sites_init(const struct dbk_provider *self);
void dbk_sites_exit(const struct dbk_provider *self);
int dbk_sites_enable(const struct dbk_provider *self, struct dbk_probe *probe);
void dbk_sites_disable(const struct dbk_provider *self, struct dbk_probe *probe);
int dbk_sites_settle(const struct dbk_provider *self, const struct module *module);
void dbk_sites_book(const struct dbk_provider *self);

/** dbk_site_fire_at() - from a function.  Probe context */
static __probe_ctx_inline void dbk_site_fire_at(struct dbk_site_probe *at, const u64 *args,
						struct dbk_frame *frame)
{
	if (dbk_probe_is_enabled(&at->probe))
		dbk_probe_fire(&at->probe, args, frame);
}

/** dbk_site_fire() - from a tracepoint.  Probe context */
static __probe_ctx_inline void dbk_site_fire(struct dbk_site *site, struct dbk_site_probe *at,
					     const u64 *args)
{
	dbk_site_fire_at(at, args, &site->frame);
}

/* The struct dbk_provider of @own, which is one of these. */
#define DBK_SITE_PROVIDER(own, text)                                                               \
	const struct dbk_provider dbk_provider_##own = {                                           \
		.name = text,                                                                      \
		.sites = &own,                                                                     \
		.init = dbk_sites_init,                                                            \
		.exit = dbk_sites_exit,                                                            \
		.enable = dbk_sites_enable,                                                        \
		.disable = dbk_sites_disable,                                                      \
		.settle = dbk_sites_settle,                                                        \
		.book = dbk_sites_book,                                                            \
	}

#endif /* DBK_KMOD_SITE_H */
