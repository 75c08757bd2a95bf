/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark_cost LOOP N: a loop of N rounds around nothing, a mark, or a mark after its test; in C and in C++
 *
 * HEADER is made by `dtrace -h` of a provider bench with a probe fired(int64_t).  With -DPEER it is systemtap's
 * <sys/sdt.h> in its place, whose user writes the test and the count of tracers as its comment says.
 */
#ifdef PEER
#define _SDT_HAS_SEMAPHORES 1
#include <stdint.h>
#include <sys/sdt.h>
unsigned short bench_fired_semaphore __attribute__((unused, section(".probes")));
#define BENCH_FIRED(arg0) STAP_PROBE1(bench, fired, arg0)
#define BENCH_FIRED_ENABLED() __builtin_expect(bench_fired_semaphore, 0)
#else
#include HEADER
#endif

#include <stdlib.h>

/* "memory": what is tested in one round is not known in the next. */
#define LOOP(name, what)                                                                                               \
	__attribute__((noinline)) static void name(long rounds, int64_t argument)                                      \
	{                                                                                                              \
		for (long i = 0; i < rounds; i++) {                                                                    \
			__asm__ __volatile__("" : : "r"(i), "r"(argument) : "memory");                                 \
			what;                                                                                          \
		}                                                                                                      \
	}

LOOP(nothing, (void)0)
LOOP(mark, BENCH_FIRED(argument))
LOOP(test, if (BENCH_FIRED_ENABLED()) BENCH_FIRED(argument))

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	switch (argv[1][0]) {
	case 'n':
		nothing(atol(argv[2]), argc);
		return 0;
	case 'm':
		mark(atol(argv[2]), argc);
		return 0;
	case 't':
		test(atol(argv[2]), argc);
		return 0;
	}
	return 2;
}
