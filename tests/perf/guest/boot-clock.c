// SPDX-License-Identifier: Apache-2.0
//
// boot-clock: prints how many ticks the TSC has counted since the machine's start, how many of them came after the
// kernel's own clock began, how many this CPU slept, and what a thousand instructions take. Under `-icount shift=0` a tick
// is an instruction, or a nanosecond asleep.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "ticks.h"

// What the CPU slept since its tick can stop: /proc/timer_list has it to the nanosecond.
static unsigned long long slept_ns(void)
{
	FILE *list = fopen("/proc/timer_list", "r");
	unsigned long long ns;
	char line[256];

	while (list && fgets(line, sizeof(line), list)) {
		char *found = strstr(line, ".idle_sleeptime");

		if (found && sscanf(found, ".idle_sleeptime : %llu", &ns) == 1)
			return ns;
	}
	fprintf(stderr, "boot-clock: /proc/timer_list has no idle_sleeptime\n");
	exit(1);
}

int main(void)
{
	unsigned long long now = __rdtsc();
	struct timespec since;

	clock_gettime(CLOCK_MONOTONIC, &since);
	printf("BOOT ticks=%llu kernel=%llu slept=%llu ", now, since.tv_sec * 1000000000ull + since.tv_nsec, slept_ns());
	printf("ticks_per_1000=%llu\n", ticks_per_1000());
	return 0;
}
