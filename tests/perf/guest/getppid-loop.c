// SPDX-License-Identifier: Apache-2.0
//
// getppid-loop CALLS [send | call]: makes system calls and prints what one takes, in ticks of the TSC.  Under
// `-icount shift=0` one tick is one executed instruction.  The calls are getppid(), or send() of a datagram to a
// socket of the loopback that is full, or of a function of its own.
//
// The calls are timed in blocks, and the median block counts: it has no timer tick in it, so
// that two runs of the same work print the same figure.
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ticks.h"

#define BLOCK_CALLS 1000 /* 0.3 to 1.5 ms of guest time, below the tick's 4 ms */
#define BLOCKS_MAX  4096

static int compare(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;

	return (x > y) - (x < y);
}

static int sender = -1;
static int calls_function;

/* A probe's place. */
__attribute__((noinline)) void called(long n)
{
	asm volatile("nop" : : "r"(n));
}

static int open_sender(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7001),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int receiver = socket(AF_INET, SOCK_DGRAM, 0);

	sender = socket(AF_INET, SOCK_DGRAM, 0);
	return bind(receiver, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       connect(sender, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static unsigned long long block(void)
{
	static const char text[] = "twenty-five characters ..";
	unsigned long long start = __rdtsc();

	for (int call = 0; calls_function && call < BLOCK_CALLS; call++)
		called(call);
	for (int call = 0; sender < 0 && !calls_function && call < BLOCK_CALLS; call++)
		syscall(SYS_getppid, text);
	for (int call = 0; sender >= 0 && call < BLOCK_CALLS; call++)
		send(sender, text, sizeof(text), 0);
	return __rdtsc() - start;
}

int main(int argc, char **argv)
{
	static unsigned long long ticks[BLOCKS_MAX];
	long blocks = (argc > 1 ? atol(argv[1]) : 100000) / BLOCK_CALLS;

	if (blocks < 1 || blocks > BLOCKS_MAX)
		return 2;
	calls_function = argc > 2 && strcmp(argv[2], "call") == 0;
	if (argc > 2 && !calls_function && !open_sender())
		return 3;
	block();
	for (long i = 0; i < blocks; i++)
		ticks[i] = block();
	qsort(ticks, blocks, sizeof(ticks[0]), compare);
	printf("ticks_per_1000=%llu median=%.1f min=%.1f max=%.1f\n", ticks_per_1000(),
	       (double)ticks[blocks / 2] / BLOCK_CALLS, (double)ticks[0] / BLOCK_CALLS,
	       (double)ticks[blocks - 1] / BLOCK_CALLS);
	return 0;
}
