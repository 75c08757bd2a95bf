// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpc.c - provider cpc: each N-th event that a counter counts
 * (docs/design/0085-instructions-and-counters.md)
 *
 *   cpc:::EVENT-MODE-N
 *
 * EVENT is one of formats/abi/counters.h, MODE kernel, user or all, and N a number of events:
 * on every CPU a counter of the kernel's perf events calls us when it has counted as many.  A probe
 * is made when a program names it; then one counter is opened and closed again: an event that this
 * machine does not count has no probe.  arg0 is the kernel's program counter, arg1 that of user
 * space; the other one is 0.
 *
 * A firing is as late as the counter's interrupt.  Those of hardware are NMIs.  CPUs that come while a
 * probe is enabled are not counted.
 */
#include <linux/cpumask.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "formats/abi/counters.h"
#include "kmod/providers/fbt.h"

/* A program can name any number of them, and each stays until the module goes. */
#define CPC_PROBES_MAX 1000

/* kernel/events/core.c: MAX_INTERRUPTS */
#define THROTTLED (~0ULL)

static const struct event {
	const char *name;
	u32 type;
	u32 config;
	u32 least;
	u32 modes;
} events[] = {
#define EVENT(name, type, config, least, modes) { #name, type, config, least, modes },
	DBK_COUNTERS(EVENT)
#undef EVENT
};

/* In the order of DBK_COUNTED_*. */
static const char *const modes[] = { "kernel", "user", "all" };

struct cpc_probe {
	struct dbk_probe probe;
	struct list_head link;		       /* [S] in cpc_probes */
	struct perf_event_attr attributes;     /* [C] */
	struct perf_event *__percpu *counters; /* [C] while enabled */
	char name[64];			       /* [C] */
};

static LIST_HEAD(cpc_probes); /* [S] */
static u32 cpc_count;	      /* [S] */

static __probe_ctx void on_overflow(struct perf_event *counter, struct perf_sample_data *data,
				    struct pt_regs *regs)
{
	struct cpc_probe *cpc = counter->overflow_handler_context;
	struct dbk_frame frame = { .kind = DBK_FRAME_INTERRUPT, .regs = regs };
	u64 args[2] = { 0, 0 };
	unsigned long flags = dbk_host_enter();

	if (regs)
		args[user_mode(regs) ? 1 : 0] = instruction_pointer(regs);
	if (unlikely(fbt_is_cramped()))
		dbk_probe_missed(&cpc->probe, 1);
	else if (dbk_probe_is_enabled(&cpc->probe))
		dbk_probe_fire(&cpc->probe, args, &frame);
	/* Throttled, it is stopped until the next tick, and does not count meanwhile. */
	if (unlikely(counter->hw.interrupts == THROTTLED))
		dbk_probe_missed(&cpc->probe, 1);
	dbk_host_leave(flags);
}

static struct perf_event *counter_open(struct cpc_probe *cpc, unsigned int cpu)
{
	return perf_event_create_kernel_counter(&cpc->attributes, cpu, NULL, on_overflow, cpc);
}

static void cpc_disable(struct dbk_probe *probe)
{
	struct cpc_probe *cpc = container_of(probe, struct cpc_probe, probe);
	unsigned int cpu;

	dbk_state_assert();
	for_each_possible_cpu(cpu)
		if (*per_cpu_ptr(cpc->counters, cpu))
			perf_event_release_kernel(*per_cpu_ptr(cpc->counters, cpu));
	free_percpu(cpc->counters);
	cpc->counters = NULL;
}

/* A counter cannot be opened while a CPU comes: that takes the lock that is held then. */
static int cpc_enable(struct dbk_probe *probe)
{
	struct cpc_probe *cpc = container_of(probe, struct cpc_probe, probe);
	unsigned int cpu;

	dbk_state_assert();
	cpc->counters = alloc_percpu(struct perf_event *);
	if (!cpc->counters)
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		struct perf_event *counter = counter_open(cpc, cpu);

		if (!IS_ERR(counter)) {
			*per_cpu_ptr(cpc->counters, cpu) = counter;
		} else if (cpu_online(cpu)) {
			cpc_disable(probe);
			return PTR_ERR(counter);
		}
	}
	return 0;
}

static bool cpc_exists(const char *name)
{
	struct cpc_probe *cpc;

	list_for_each_entry(cpc, &cpc_probes, link)
		if (strcmp(cpc->name, name) == 0)
			return true;
	return false;
}

/* What `cycles-kernel-100000` asks for; false: nothing that there is. */
static bool name_parse(const char *text, struct perf_event_attr *attributes)
{
	const char *mode = strchr(text, '-');
	const char *number = mode ? strchr(mode + 1, '-') : NULL;
	u32 i, asked;

	if (!number || kstrtou64(number + 1, 10, &attributes->sample_period) != 0 ||
	    attributes->sample_period > S64_MAX)
		return false;
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (strlen(modes[i]) == number - mode - 1 &&
		    strncmp(modes[i], mode + 1, number - mode - 1) == 0)
			break;
	if (i == ARRAY_SIZE(modes))
		return false;
	asked = BIT(i);
	attributes->exclude_user = i == 0;
	attributes->exclude_kernel = i == 1;
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (strlen(events[i].name) == mode - text &&
		    strncmp(events[i].name, text, mode - text) == 0)
			break;
	if (i == ARRAY_SIZE(events) || attributes->sample_period < events[i].least ||
	    !(events[i].modes & asked))
		return false;
	attributes->size = sizeof(*attributes);
	attributes->type = events[i].type;
	attributes->config = events[i].config;
	return true;
}

/* A name that nothing here counts is left to match nothing. */
static int cpc_provide(const struct dbk_probedesc *description)
{
	struct perf_event *counter;
	struct cpc_probe *cpc;

	dbk_state_assert();
	if (strcmp(description->provider, "cpc") != 0 || cpc_exists(description->name) ||
	    strlen(description->name) >= sizeof(cpc->name) || cpc_count == CPC_PROBES_MAX)
		return 0;
	cpc = kzalloc(sizeof(*cpc), GFP_KERNEL);
	if (!cpc)
		return -ENOMEM;
	counter = name_parse(description->name, &cpc->attributes)
			  ? counter_open(cpc, raw_smp_processor_id())
			  : ERR_PTR(-ENOENT);
	if (IS_ERR(counter)) {
		kfree(cpc);
		return 0;
	}
	perf_event_release_kernel(counter);
	strscpy(cpc->name, description->name, sizeof(cpc->name));
	cpc->probe.provider = "cpc";
	cpc->probe.module = "";
	cpc->probe.function = "";
	cpc->probe.name = cpc->name;
	cpc->probe.host_data = (void *)&dbk_provider_cpc;
	dbk_probe_args_in_order(&cpc->probe, 2);
	list_add_tail(&cpc->link, &cpc_probes);
	cpc_count++;
	return dbk_probe_add(dbk.engine, &cpc->probe);
}

static void cpc_exit(void)
{
	struct cpc_probe *cpc, *next;
	struct dbk_retire retire;

	dbk_state_assert();
	dbk_retire_begin(&retire, cpc_count);
	list_for_each_entry(cpc, &cpc_probes, link)
		dbk_retire_add(&retire, &cpc->probe);
	dbk_retire_end(&retire);
	list_for_each_entry_safe(cpc, next, &cpc_probes, link)
		kfree(cpc);
}

const struct dbk_provider dbk_provider_cpc = {
	.name = "cpc",
	.exit = cpc_exit,
	.provide = cpc_provide,
	.enable = cpc_enable,
	.disable = cpc_disable,
};
