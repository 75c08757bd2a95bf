/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * provider.h - what a provider is to the rest of the module
 *
 * A provider publishes probes in the engine and hooks into the kernel only
 * while one of them has an ECB.  The engine says so probe by probe
 * (probe_enable, probe_disable) and then once (settle); a provider whose hooks
 * are cheaper many at a time notes the former and works in the latter.
 *
 * Each probe's host_data points to its provider; a provider's own struct embeds
 * struct dbk_probe.  BEGIN, END and ERROR belong to the engine and have none.
 */
#ifndef DBK_KMOD_PROVIDER_H
#define DBK_KMOD_PROVIDER_H

#include "kmod/state.h"

struct dbk_named_set;
struct dbk_site_provider;

/* Who asks for probes: for a program that is being enabled, or to list what there is. */
struct dbk_requester {
	const struct dbk_program *program; /* NULL: to list */
	struct task_struct *task; /* files and process ids are as it sees them; when it is killed, making probes ends */
	struct dbk_reason *reason; /* why a provider refuses */
};

struct dbk_provider {
	const char *name; /* "*": its probes are of several providers */
	/* Probes whose firings may take long (dbk_program_probedesc_is_heavy()), of all rings at
	 * work; 0: any number. */
	u32 heavy_probes_max;

	struct dbk_named_set *named; /* what provide() made and retires again (named.h); may be NULL */
	const struct dbk_site_provider *sites; /* whose operations are those of site.h */

	/* All that follows may be NULL: there is nothing to do. */

	/* init() - publishes what exists.  Context: [S].  0 or a negative errno */
	int (*init)(const struct dbk_provider *self);
	/* exit() - takes everything out but what is @named; no probe is enabled any more.  Context: [S]. */
	void (*exit)(const struct dbk_provider *self);

	/* provide() - makes probes that exist only when named: profile-97, functions.  Context: [S],
	 * between dbk_probe_add_begin() and dbk_probe_add_end(), @requester's task.  0 or a negative errno */
	int (*provide)(const struct dbk_provider *self, const struct dbk_requester *requester,
		       const struct dbk_probedesc *description);

	int (*enable)(const struct dbk_provider *self, struct dbk_probe *probe);   /* [S] */
	void (*disable)(const struct dbk_provider *self, struct dbk_probe *probe); /* [S] */
	/* settle() - hooks and unhooks; for a module that comes or goes its own hooks alone, @module NULL:
	 * for a program all.  Context: [S]. */
	int (*settle)(const struct dbk_provider *self, const struct module *module);
	/* is_hooked() - whether @probe, which is enabled, fires.  NULL: enable() hooked it.  Context: [S]. */
	bool (*is_hooked)(const struct dbk_provider *self, const struct dbk_probe *probe);

	/* book() - counts as drops what the kernel has missed of its probes.  Context: [S]. */
	void (*book)(const struct dbk_provider *self);

	/* From now on modules bring and take probes; and no more.  Context: not [S]. */
	int (*watch)(const struct dbk_provider *self);
	void (*unwatch)(const struct dbk_provider *self);
};

extern const struct dbk_provider dbk_provider_syscall;
extern const struct dbk_provider dbk_provider_sdt;
extern const struct dbk_provider dbk_provider_proc;
extern const struct dbk_provider dbk_provider_stable;
extern const struct dbk_provider dbk_provider_io;
extern const struct dbk_provider dbk_provider_boot;
extern const struct dbk_provider dbk_provider_profile;
extern const struct dbk_provider dbk_provider_fbt;
extern const struct dbk_provider dbk_provider_kinst;
extern const struct dbk_provider dbk_provider_cpc;
extern const struct dbk_provider dbk_provider_dtmalloc;
extern const struct dbk_provider dbk_provider_pid;
extern const struct dbk_provider dbk_provider_foreign;

/** dbk_providers_init() - publishes all; one that cannot work here is left out with a line in
 * the log.  Context: [S]. */
void dbk_providers_init(void);

/** dbk_provider_is_ours() - whether Daybreak has a provider @name.  Context: [S]. */
bool dbk_provider_is_ours(const char *name);

/** dbk_providers_exit() - takes all out.  Context: [S], no ring left. */
void dbk_providers_exit(void);

/** dbk_providers_watch() - from now on modules bring and take probes.  Context: not [S]. */
void dbk_providers_watch(void);
void dbk_providers_unwatch(void);

/** dbk_module_is_coming() - whether @module is being taken in: its init has not run.  Context: [S]. */
bool dbk_module_is_coming(const struct module *module);

/** dbk_providers_are_prepared() - whether a program is being enabled that has no consumer yet.  Context: [S]. */
bool dbk_providers_are_prepared(void);

/** dbk_module_event() - what a module notifier reports: @coming or @going is called, under [S], by
 * the caller or by the thread that is in the middle of a long operation; it has returned when this does.
 * Context: not [S]. */
void dbk_module_event(unsigned long event, struct module *module,
		      void (*coming)(struct module *module), void (*going)(struct module *module));

/**
 * dbk_settle_pause() - between two steps of a long settling
 *
 * Modules that come or go meanwhile are handled here: probes of other modules may be added,
 * and those of a module that goes are disabled and removed.
 *
 * Context: [S], for no module.
 * Return: 0; -EINTR: what is being enabled is no longer wanted, its process is being killed.
 */
int dbk_settle_pause(void);

/** dbk_providers_book() - all of them book().  Before a ring stops, and now and then.  Context: [S]. */
void dbk_providers_book(void);

/** dbk_providers_provide() - makes what @description names.  Context: as provide(). */
int dbk_providers_provide(const struct dbk_requester *requester, const struct dbk_probedesc *description);

/** dbk_providers_prepare_begin() - before a program's consumer is made: that ends when @requester's task is killed
 * @requester: lives until dbk_providers_prepare_end()
 * Context: [S], its task. */
void dbk_providers_prepare_begin(const struct dbk_requester *requester);

/**
 * dbk_providers_prepare() - before a program's probes are matched
 * @requester: lives until dbk_providers_prepare_end()
 *
 * Makes the probes that it names, and refuses one with too many probes for clauses that may take
 * long (heavy_probes_max).
 * Context: [S], @requester's task.  Return: 0 or a negative errno, with a reason.
 */
int dbk_providers_prepare(const struct dbk_requester *requester);
void dbk_providers_prepare_end(void);

/** dbk_requester_pause() - between two steps of what takes long: others may run
 * @requester: NULL: none can be killed
 * Context: [S], its task.  Return: 0; -EINTR: it is being killed. */
int dbk_requester_pause(const struct dbk_requester *requester);

/**
 * dbk_providers_retire() - the named probes that no ring has any more are gone
 *
 * Not while a process asked for probes and has neither enabled any since nor closed the device: it may be listing
 * them (dbk_providers_asked()).  Context: [S], no ring is being enabled.
 */
void dbk_providers_retire(void);

/** dbk_providers_asked() - of an open file: it asked for probes, or (@asks false) lists them no more.  Context: any. */
void dbk_providers_asked(bool asks);

/*
 * Taking many probes out of the engine with one wait for all of them; one by one
 * where there is no memory to note them.  Context: [S].
 */
struct dbk_retire {
	struct dbk_probe **probes;
	u32 count;
};

/** dbk_retire_begin() - for at most @count_max probes */
void dbk_retire_begin(struct dbk_retire *retire, u32 count_max);

/** dbk_retire_add() - @probe goes, at the latest with dbk_retire_end() */
void dbk_retire_add(struct dbk_retire *retire, struct dbk_probe *probe);

/** dbk_retire_end() - all are gone; their memory is the provider's again */
void dbk_retire_end(struct dbk_retire *retire);

#endif /* DBK_KMOD_PROVIDER_H */
