// SPDX-License-Identifier: GPL-2.0-only
/* hrtimer_setup() replaced hrtimer_init() and the store to ->function. */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}
