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

#include "arch/stack.h"
#include "formats/abi/counters.h"
#include "kmod/frame.h"
#include "kmod/providers/named.h"

/* Programs can name any number of them. */
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
	struct dbk_named named;
	struct perf_event_attr attributes;     /* [C] */
	struct perf_event *__percpu *counters; /* [C] while enabled */
	char name[64];			       /* [C] */
};

DBK_NAMED_SET(cpc_probes, CPC_PROBES_MAX);

static __probe_ctx void on_overflow(struct perf_event *counter, struct perf_sample_data *data,
				    struct pt_regs *regs)
{
	struct cpc_probe *cpc = counter->overflow_handler_context;
	struct dbk_frame frame = { .kind = DBK_FRAME_INTERRUPT, .regs = regs };
	u64 args[2] = { 0, 0 };
	unsigned long flags = dbk_host_enter();

	if (regs)
		args[user_mode(regs) ? 1 : 0] = instruction_pointer(regs);
	if (unlikely(dbk_stack_is_cramped()))
		dbk_probe_missed(&cpc->named.probe, 1);
	else if (dbk_probe_is_enabled(&cpc->named.probe))
		dbk_probe_fire(&cpc->named.probe, args, &frame);
	/* Throttled, it is stopped until the next tick, and does not count meanwhile. */
	if (unlikely(counter->hw.interrupts == THROTTLED))
		dbk_probe_missed(&cpc->named.probe, 1);
	dbk_host_leave(flags);
}

static struct perf_event *counter_open(struct cpc_probe *cpc, unsigned int cpu)
{
	return perf_event_create_kernel_counter(&cpc->attributes, cpu, NULL, on_overflow, cpc);
}

static void cpc_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct cpc_probe *cpc = container_of(probe, struct cpc_probe, named.probe);
	unsigned int cpu;

	dbk_state_assert();
	for_each_possible_cpu(cpu)
		if (*per_cpu_ptr(cpc->counters, cpu))
			perf_event_release_kernel(*per_cpu_ptr(cpc->counters, cpu));
	free_percpu(cpc->counters);
	cpc->counters = NULL;
}

/* A counter cannot be opened while a CPU comes: that takes the lock that is held then. */
static int cpc_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct cpc_probe *cpc = container_of(probe, struct cpc_probe, named.probe);
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
			cpc_disable(self, probe);
			return PTR_ERR(counter);
		}
	}
	return 0;
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
static int cpc_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
		       const struct dbk_probedesc *description)
{
	struct perf_event *counter;
	struct cpc_probe *cpc;
	int err;

	dbk_state_assert();
	if (strcmp(description->provider, "cpc") != 0 || strlen(description->name) >= sizeof(cpc->name))
		return 0;
	cpc = kzalloc(sizeof(*cpc), GFP_KERNEL);
	if (!cpc)
		return -ENOMEM;
	err = name_parse(description->name, &cpc->attributes) ?
		      dbk_named_check(self, requester, "", description->name) : -ENOENT;
	counter = err ? ERR_PTR(err) : counter_open(cpc, raw_smp_processor_id());
	if (IS_ERR(counter)) {
		kfree(cpc);
		return err == -E2BIG ? err : 0;
	}
	perf_event_release_kernel(counter);
	strscpy(cpc->name, description->name, sizeof(cpc->name));
	cpc->named.probe.module = "";
	cpc->named.probe.function = "";
	cpc->named.probe.name = cpc->name;
	dbk_probe_args_in_order(&cpc->named.probe, 2);
	err = dbk_named_add(&dbk_provider_cpc, &cpc->named);
	if (err == -EINVAL)
		kfree(cpc);
	return err;
}

const struct dbk_provider dbk_provider_cpc = {
	.name = "cpc",
	.provide = cpc_provide,
	.named = &cpc_probes,
	.enable = cpc_enable,
	.disable = cpc_disable,
};
