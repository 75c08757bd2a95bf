/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd: N processes of this program that are there at the same time
 *
 *   crowd N         has N children, each tenth of which executes this program anew; each calls hit() and stays.  When all have,
 *                   makes the file "all" and reads a line, on which they end; prints their number and the sum of their numbers
 *   crowd I hit     one that was executed
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void hit(long n)
{
	asm volatile("" : : "r"(n) : "memory");
}

/* 0 ends when all may end; 1 takes a byte when it is there. */
static int be_one(long n)
{
	char byte = 0;

	hit(n);
	return write(1, &byte, 1) != 1 || read(0, &byte, 1) != 0;
}

static void begin_one(long n, const int *ends, const int *ready)
{
	char number[24];

	dup2(ends[0], 0);
	dup2(ready[1], 1);
	close(ends[1]);
	if (n % 10 != 0)
		_exit(be_one(n));
	snprintf(number, sizeof(number), "%ld", n);
	execl("/proc/self/exe", "crowd", number, "hit", (char *)NULL);
	_exit(9);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0, sum = 0, ended = 0;
	int ends[2], ready[2], status;
	char byte;

	if (argc > 2)
		return be_one(count);
	if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0)
		return 3;
	for (long i = 0; i < count; i++) {
		pid_t child;

		child = fork();
		if (child == 0)
			begin_one(i, ends, ready);
		if (child < 0)
			return 4;
		sum += child;
	}
	for (long i = 0; i < count; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 5;
	close(open("all", O_CREAT | O_WRONLY, 0600));
	getchar();
	close(ends[1]);
	while (wait(&status) > 0)
		ended += status == 0;
	printf("%ld %ld\n", ended, sum);
	return ended != count;
}
