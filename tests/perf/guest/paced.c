// SPDX-License-Identifier: Apache-2.0
//
// paced RATE SECONDS: RATE system calls a second, a thousandth of them each millisecond, and how long
// one of them takes: median, the thousandth slowest and the slowest, in nanoseconds.
//
//     PACED calls=1000000 late_ms=0 median=512 p999=4096 max=20480
//
// late_ms counts the milliseconds that were over before their calls were: then the rate was not kept.
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS_NS 1000000ll

static long long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long rate = argc > 1 ? atol(argv[1]) : 100000;
	long ms = (argc > 2 ? atol(argv[2]) : 1) * 1000;
	long each = rate / 1000, calls = 0, late = 0;
	unsigned *took;
	long long start, due;

	if (each < 1 || ms < 1 || !(took = malloc(sizeof(*took) * (size_t)(each * ms))))
		return 2;
	start = now_ns();
	for (long at = 0; at < ms; at++) {
		for (long call = 0; call < each; call++) {
			long long before = now_ns();

			syscall(SYS_getppid, calls);
			took[calls++] = (unsigned)(now_ns() - before);
		}
		due = start + (at + 1) * MS_NS;
		if (now_ns() > due + MS_NS) {
			late++;
		} else if (now_ns() < due) {
			struct timespec until = { due / 1000000000ll, due % 1000000000ll };

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		}
	}
	qsort(took, (size_t)calls, sizeof(*took), compare);
	printf("PACED calls=%ld late_ms=%ld median=%u p999=%u max=%u\n", calls, late, took[calls / 2],
	       took[calls - 1 - calls / 1000], took[calls - 1]);
	return 0;
}
