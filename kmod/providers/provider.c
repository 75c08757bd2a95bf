// SPDX-License-Identifier: GPL-2.0-only
/*
 * provider.c - all providers at once, and the engine's calls to each
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/wait.h>

#include "kmod/providers/named.h"
#include "kmod/providers/stable.h"

static const struct dbk_provider *const providers[] = {
	&dbk_provider_syscall, &dbk_provider_proc, &dbk_provider_stable,  &dbk_provider_io,
	&dbk_provider_boot,    &dbk_provider_sdt,  &dbk_provider_profile, &dbk_provider_fbt,
	&dbk_provider_kinst,   &dbk_provider_cpc,  &dbk_provider_pid,
	&dbk_provider_dtmalloc, &dbk_provider_foreign,
};

static bool provider_works[ARRAY_SIZE(providers)];   /* [S] */
static bool provider_watches[ARRAY_SIZE(providers)]; /* init and exit only */
static const struct dbk_requester *enabling;	     /* [S] whose program's probes are being enabled; or NULL */

void dbk_providers_init(void)
{
	unsigned int i;

	dbk_state_assert();
	dbk_probe_add_begin(dbk.engine);
	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		int err = providers[i]->init ? providers[i]->init(providers[i]) : 0;

		provider_works[i] = !err;
		if (err)
			pr_warn("provider %s is not available here (error %d)\n",
				providers[i]->name, -err);
	}
	dbk_probe_add_end(dbk.engine);
}

bool dbk_provider_is_ours(const char *name)
{
	unsigned int i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (strcmp(providers[i]->name, name) == 0)
			return true;
	return strcmp(name, "dtrace") == 0 || stable_has_provider(name);
}

void dbk_providers_exit(void)
{
	int i;

	dbk_state_assert();
	for (i = ARRAY_SIZE(providers) - 1; i >= 0; i--) {
		if (!provider_works[i])
			continue;
		if (providers[i]->named)
			dbk_named_retire(providers[i]);
		if (providers[i]->exit)
			providers[i]->exit(providers[i]);
	}
}

void dbk_providers_book(void)
{
	unsigned int i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (provider_works[i] && providers[i]->book)
			providers[i]->book(providers[i]);
}

int dbk_providers_provide(const struct dbk_requester *requester, const struct dbk_probedesc *description)
{
	unsigned int i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		int err;

		if (!provider_works[i] || !providers[i]->provide ||
		    (strcmp(providers[i]->name, "*") != 0 &&
		     !dbk_glob_match(description->provider, providers[i]->name)))
			continue;
		err = providers[i]->provide(providers[i], requester, description);
		if (err)
			return err;
	}
	return 0;
}

static bool is_heavy_for(const struct dbk_program *program, const struct dbk_probe *probe)
{
	struct dbk_probedesc description;
	u32 i;

	for (i = 0; dbk_program_probedesc(program, i, &description); i++)
		if (dbk_program_probedesc_is_heavy(program, i) &&
		    dbk_probedesc_match(&description, probe))
			return true;
	return false;
}

/* For a ring at work, or the one that is being enabled: all of them fire while the others are
 * patched, and what a light clause hooked is as heavy as its heaviest. */
static bool is_heavy(const struct dbk_probe *probe)
{
	struct dbk_ring *ring;

	list_for_each_entry(ring, &dbk.rings, link)
		if (dbk_consumer_activity(ring->consumer) < DBK_ACTIVITY_COOLDOWN &&
		    is_heavy_for(dbk_consumer_program(ring->consumer), probe))
			return true;
	return false;
}

static int heavy_check(const struct dbk_program *program, struct dbk_reason *reason)
{
	u32 counts[ARRAY_SIZE(providers)] = { 0 };
	struct dbk_probedesc description;
	const struct dbk_probe *probe;
	bool heavy = false;
	u32 i;

	for (i = 0; dbk_program_probedesc(program, i, &description); i++)
		heavy |= dbk_program_probedesc_is_heavy(program, i);
	for (probe = heavy ? dbk_engine_probe_at(dbk.engine, 0) : NULL; probe; probe = probe->next) {
		int err = dbk_host_pause();

		if (err)
			return err;
		for (i = 0; i < ARRAY_SIZE(providers); i++) {
			u32 max = providers[i]->heavy_probes_max;

			if (max == 0 || probe->host_data != providers[i] ||
			    !is_heavy(probe) || ++counts[i] <= max)
				continue;
			scnprintf(reason->text, sizeof(reason->text),
				  "more than %u probes of %s for clauses that walk stacks or read memory "
				  "that may not be there: name fewer",
				  max, providers[i]->name);
			return -E2BIG;
		}
	}
	return 0;
}

void dbk_providers_prepare_begin(const struct dbk_requester *requester)
{
	dbk_state_assert();
	enabling = requester;
}

int dbk_providers_prepare(const struct dbk_requester *requester)
{
	const struct dbk_program *program = requester->program;
	u32 count = dbk_program_probedesc_count(program);
	u32 index;
	int err;

	dbk_state_assert();
	dbk_probe_add_begin(dbk.engine);
	for (index = 0, err = 0; index < count && !err; index++) {
		struct dbk_probedesc description;

		/* A probe named by its id exists; what its arguments are is looked for as of others. */
		if (dbk_program_probedesc(program, index, &description))
			err = dbk_requester_pause(requester) ?:
			      description.id == 0
				      ? dbk_providers_provide(requester, &description)
				      : dbk_provider_sdt.provide(&dbk_provider_sdt, requester, &description);
	}
	if (dbk_probe_add_end(dbk.engine) && !err)
		err = -ENOMEM;
	if (err && requester->reason->text[0] == '\0')
		scnprintf(requester->reason->text, sizeof(requester->reason->text),
			  "cannot make the probes it names (error %d)", -err);
	if (!err)
		err = heavy_check(program, requester->reason);
	if (err)
		dbk_providers_prepare_end();
	return err;
}

bool dbk_providers_are_prepared(void)
{
	dbk_state_assert();
	return enabling != NULL;
}

void dbk_providers_prepare_end(void)
{
	enabling = NULL;
}

static atomic_t asking; /* open files */

void dbk_providers_asked(bool asks)
{
	atomic_add(asks ? 1 : -1, &asking);
}

void dbk_providers_retire(void)
{
	unsigned int i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(providers) && atomic_read(&asking) == 0; i++)
		if (providers[i]->named)
			dbk_named_retire(providers[i]);
}

int dbk_host_probe_enable(struct dbk_probe *probe)
{
	const struct dbk_provider *provider = probe->host_data;

	dbk_state_assert();
	return provider && provider->enable ? provider->enable(provider, probe) : 0;
}

void dbk_host_probe_disable(struct dbk_probe *probe)
{
	const struct dbk_provider *provider = probe->host_data;

	dbk_state_assert();
	if (provider && provider->disable)
		provider->disable(provider, probe);
}

/*
 * A firing reads its probe's ECBs with interrupts off, which RCU counts as a
 * reader where it watches.  Functions traced where it does not (idle, entry
 * code) are waited for by the rude flavour, which has every CPU schedule.
 */
void dbk_host_synchronize(void)
{
	tracepoint_synchronize_unregister();
	synchronize_rcu_tasks_rude();
}

void dbk_retire_begin(struct dbk_retire *retire, u32 count_max)
{
	dbk_state_assert();
	retire->count = 0;
	retire->probes = kvcalloc(max(count_max, 1u), sizeof(*retire->probes), GFP_KERNEL);
}

void dbk_retire_add(struct dbk_retire *retire, struct dbk_probe *probe)
{
	if (retire->probes)
		retire->probes[retire->count++] = probe;
	else
		dbk_probe_remove(dbk.engine, probe);
}

void dbk_retire_end(struct dbk_retire *retire)
{
	dbk_state_assert();
	if (retire->count != 0)
		dbk_probe_remove_many(dbk.engine, retire->probes, retire->count);
	kvfree(retire->probes);
	dbk.probe_generation++;
}

/* ---- modules that come and go -------------------------------------------------------------- */

/* A notifier that waits, on its own stack. */
struct module_event {
	struct list_head link; /* [E] in module_events */
	unsigned long event;
	struct module *module;
	void (*coming)(struct module *module);
	void (*going)(struct module *module);
	bool done;
};

/* 10 ms: how long [S] may be free, or a long operation be over, before a notifier sees it. */
#define EVENT_POLL msecs_to_jiffies(10)

static DEFINE_SPINLOCK(events_lock);
static LIST_HEAD(module_events); /* [E] */
static DECLARE_WAIT_QUEUE_HEAD(events_done);
static const struct module *event_module; /* [S] the module being taken in or out, or NULL */

bool dbk_module_is_coming(const struct module *module)
{
	dbk_state_assert();
	return event_module == module;
}

static struct module_event *event_next(void)
{
	struct module_event *event;

	spin_lock(&events_lock);
	event = list_first_entry_or_null(&module_events, struct module_event, link);
	if (event)
		list_del(&event->link);
	spin_unlock(&events_lock);
	return event;
}

/* Not from within: an event's own settling handles nothing but its module. */
static void events_run(void)
{
	struct module_event *event;

	dbk_state_assert();
	while (!event_module && (event = event_next()) != NULL) {
		event_module = event->module;
		if (event->event == MODULE_STATE_COMING)
			event->coming(event->module);
		else
			event->going(event->module);
		event_module = NULL;
		smp_store_release(&event->done, true);
		wake_up_all(&events_done);
	}
}

int dbk_host_probes_settle(void)
{
	int first = 0;
	unsigned int i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		int err = provider_works[i] && providers[i]->settle
				  ? providers[i]->settle(providers[i], event_module)
				  : 0;

		if (err && !first)
			first = err;
	}
	return first;
}

bool dbk_host_probe_is_armed(const struct dbk_probe *probe)
{
	const struct dbk_provider *provider = probe->host_data;

	dbk_state_assert();
	return !provider || !provider->is_hooked || provider->is_hooked(provider, probe);
}

int dbk_requester_pause(const struct dbk_requester *requester)
{
	dbk_state_assert();
	cond_resched();
	return requester && fatal_signal_pending(requester->task) ? -EINTR : 0;
}

int dbk_host_pause(void)
{
	return dbk_requester_pause(event_module ? NULL : enabling);
}

int dbk_settle_pause(void)
{
	events_run();
	return dbk_host_pause();
}

void dbk_module_event(unsigned long what, struct module *module,
		      void (*coming)(struct module *module), void (*going)(struct module *module))
{
	struct module_event event = {
		.event = what,
		.module = module,
		.coming = coming,
		.going = going,
	};

	if (what != MODULE_STATE_COMING && what != MODULE_STATE_GOING)
		return;
	spin_lock(&events_lock);
	list_add_tail(&event.link, &module_events);
	spin_unlock(&events_lock);
	while (!smp_load_acquire(&event.done)) {
		if (mutex_trylock(&dbk.mutex)) {
			events_run();
			mutex_unlock(&dbk.mutex);
		} else {
			wait_event_timeout(events_done, READ_ONCE(event.done), EVENT_POLL);
		}
	}
}

void dbk_providers_watch(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		if (!provider_works[i] || !providers[i]->watch)
			continue;
		provider_watches[i] = providers[i]->watch(providers[i]) == 0;
		if (!provider_watches[i])
			pr_warn("provider %s will not see modules that are loaded later\n",
				providers[i]->name);
	}
}

void dbk_providers_unwatch(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (provider_watches[i])
			providers[i]->unwatch(providers[i]);
}
