// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile.c - provider profile: probes that fire by the clock
 *
 *   profile:::profile-N[suffix]  on every CPU
 *   profile:::tick-N[suffix]     on one CPU
 *
 * N is a rate in hertz, or with a suffix (ns us ms s m h d, and their long
 * forms) an interval.  Such a probe is made when a program names it.  arg0 is the
 * kernel's program counter that the timer interrupted, arg1 that of user space;
 * the other one is 0.
 *
 * Timers are pinned and run in hard interrupt context.  A CPU that goes away
 * stops its timer on the way out; a tick then moves to another CPU.
 */
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <asm/irq_regs.h>

#include "kmod/frame.h"
#include "kmod/providers/named.h"

/* 200000 ns: a shorter interval does not exist in any DTrace; it would leave no time to work. */
#define INTERVAL_NS_MIN 200000ull
/* A year: beyond it a signed 64-bit number of nanoseconds is in sight. */
#define INTERVAL_NS_MAX (366ull * 86400 * NSEC_PER_SEC)
/* Programs can name any number of them. */
#define PROFILE_PROBES_MAX 1000

struct profile_timer {
	struct hrtimer timer; /* on its own CPU */
	struct profile_probe *owner;
};

struct profile_probe {
	struct dbk_named named;
	struct hlist_node instance;	       /* of the hotplug state, while enabled */
	u64 interval_ns;		       /* [C] */
	bool is_tick;			       /* [C] */
	int tick_cpu;			       /* hotplug lock: where the tick is, -1: nowhere */
	struct profile_timer __percpu *timers; /* [C] while enabled */
	bool enabled;  /* [S] changed only while no CPU comes or goes for it */
	char name[32]; /* [C] */
};

DBK_NAMED_SET(profile_probes, PROFILE_PROBES_MAX);
static enum cpuhp_state hotplug_state; /* [C] */

static __probe_ctx enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct profile_timer *own = container_of(timer, struct profile_timer, timer);
	struct profile_probe *profile = own->owner;
	struct pt_regs *regs = get_irq_regs();
	struct dbk_frame frame = { .kind = DBK_FRAME_INTERRUPT, .regs = regs };
	u64 args[2] = { 0, 0 };
	u64 passed;

	if (regs)
		args[user_mode(regs) ? 1 : 0] = instruction_pointer(regs);
	if (dbk_probe_is_enabled(&profile->named.probe))
		dbk_probe_fire(&profile->named.probe, args, &frame);
	/* Late by whole intervals: for all but the first of them nothing fired. */
	passed = hrtimer_forward_now(timer, ns_to_ktime(profile->interval_ns));
	if (unlikely(passed > 1))
		dbk_probe_missed(&profile->named.probe, min_t(u64, passed - 1, U32_MAX));
	return HRTIMER_RESTART;
}

/* On the CPU that the timer is for. */
static void timer_start(void *data)
{
	struct profile_probe *profile = data;
	struct profile_timer *own = this_cpu_ptr(profile->timers);

	own->owner = profile;
#ifdef DBK_HAVE_HRTIMER_SETUP
	hrtimer_setup(&own->timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&own->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	own->timer.function = on_timer;
#endif
	hrtimer_start(&own->timer, ns_to_ktime(profile->interval_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Runs on each CPU that is online when the probe is enabled, and on each that comes later. */
static int on_cpu_online(unsigned int cpu, struct hlist_node *node)
{
	struct profile_probe *profile = hlist_entry(node, struct profile_probe, instance);

	if (profile->is_tick) {
		if (profile->tick_cpu >= 0)
			return 0;
		profile->tick_cpu = cpu;
	}
	timer_start(profile);
	return 0;
}

/* Runs on the CPU that goes, and on all when the probe is disabled. */
static int on_cpu_offline(unsigned int cpu, struct hlist_node *node)
{
	struct profile_probe *profile = hlist_entry(node, struct profile_probe, instance);
	unsigned int other;

	if (profile->is_tick && profile->tick_cpu != cpu)
		return 0;
	hrtimer_cancel(&per_cpu_ptr(profile->timers, cpu)->timer);
	if (!profile->is_tick)
		return 0;
	profile->tick_cpu = -1;
	/* Not disabled but unplugged: the tick goes on elsewhere. */
	if (!READ_ONCE(profile->enabled))
		return 0;
	other = cpumask_any_but(cpu_online_mask, cpu);
	if (other < nr_cpu_ids && smp_call_function_single(other, timer_start, profile, 1) == 0)
		profile->tick_cpu = other;
	return 0;
}

static int profile_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct profile_probe *profile = container_of(probe, struct profile_probe, named.probe);
	int err;

	dbk_state_assert();
	profile->timers = alloc_percpu(struct profile_timer);
	if (!profile->timers)
		return -ENOMEM;
	profile->tick_cpu = -1;
	WRITE_ONCE(profile->enabled, true);
	err = cpuhp_state_add_instance(hotplug_state, &profile->instance);
	if (err) {
		free_percpu(profile->timers);
		profile->timers = NULL;
	}
	return err;
}

static void profile_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct profile_probe *profile = container_of(probe, struct profile_probe, named.probe);

	dbk_state_assert();
	WRITE_ONCE(profile->enabled, false);
	cpuhp_state_remove_instance(hotplug_state, &profile->instance);
	free_percpu(profile->timers);
	profile->timers = NULL;
}

static const struct {
	const char *suffix;
	u64 unit_ns;
} units[] = {
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "us", NSEC_PER_USEC },
	{ "usec", NSEC_PER_USEC },
	{ "ms", NSEC_PER_MSEC },
	{ "msec", NSEC_PER_MSEC },
	{ "s", NSEC_PER_SEC },
	{ "sec", NSEC_PER_SEC },
	{ "m", 60 * NSEC_PER_SEC },
	{ "min", 60 * NSEC_PER_SEC },
	{ "h", 3600 * NSEC_PER_SEC },
	{ "hour", 3600 * NSEC_PER_SEC },
	{ "d", 86400 * NSEC_PER_SEC },
	{ "day", 86400 * NSEC_PER_SEC },
};

/**
 * interval_parse() - what `profile-97` or `tick-10ms` asks for
 * @text: after the dash: digits, then a suffix or nothing
 *
 * Return: nanoseconds; 0 when it is not an interval, or not one we can keep.
 */
static u64 interval_parse(const char *text)
{
	u64 number = 0, interval_ns = 0;
	unsigned int digits, i;

	/* 18 digits fit into 64 bits. */
	for (digits = 0; text[digits] >= '0' && text[digits] <= '9'; digits++) {
		if (digits == 18)
			return 0;
		number = number * 10 + (text[digits] - '0');
	}
	if (digits == 0 || number == 0)
		return 0;
	text += digits;
	if (text[0] == '\0' || strcmp(text, "hz") == 0)
		interval_ns = div64_u64(NSEC_PER_SEC, number);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(text, units[i].suffix) == 0 &&
		    number <= INTERVAL_NS_MAX / units[i].unit_ns)
			interval_ns = number * units[i].unit_ns;
	return interval_ns >= INTERVAL_NS_MIN && interval_ns <= INTERVAL_NS_MAX ? interval_ns : 0;
}

/* A name that is not an interval is left to match nothing, as any name that does not exist. */
static int profile_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
			   const struct dbk_probedesc *description)
{
	struct profile_probe *profile;
	const char *name = description->name;
	bool is_tick = strncmp(name, "tick-", 5) == 0;
	u64 interval_ns;
	int err;

	dbk_state_assert();
	if (!is_tick && strncmp(name, "profile-", 8) != 0)
		return 0;
	interval_ns = interval_parse(name + (is_tick ? 5 : 8));
	if (interval_ns == 0 || strlen(name) >= sizeof(profile->name))
		return 0;
	err = dbk_named_check(self, requester, "", name);
	if (err)
		return err == -EEXIST ? 0 : err;
	profile = kzalloc(sizeof(*profile), GFP_KERNEL);
	if (!profile)
		return -ENOMEM;
	strscpy(profile->name, name, sizeof(profile->name));
	profile->is_tick = is_tick;
	profile->interval_ns = interval_ns;
	profile->named.probe.module = "";
	profile->named.probe.function = "";
	profile->named.probe.name = profile->name;
	dbk_probe_args_in_order(&profile->named.probe, 2);
	err = dbk_named_add(&dbk_provider_profile, &profile->named);
	if (err == -EINVAL)
		kfree(profile);
	return err;
}

static int profile_init(const struct dbk_provider *self)
{
	int state;

	state = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "daybreak:profile", on_cpu_online,
					on_cpu_offline);
	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

static void profile_exit(const struct dbk_provider *self)
{
	dbk_state_assert();
	cpuhp_remove_multi_state(hotplug_state);
}

const struct dbk_provider dbk_provider_profile = {
	.name = "profile",
	.init = profile_init,
	.exit = profile_exit,
	.provide = profile_provide,
	.named = &profile_probes,
	.enable = profile_enable,
	.disable = profile_disable,
};
