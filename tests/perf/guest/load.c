// SPDX-License-Identifier: Apache-2.0
//
// load PROCESSES ROUNDS: a mixed load whose trace is like a server's, the same on every machine.
//
// Each process has a name, and a partner that answers through pipes.  A round reads from /dev/zero and writes to
// /dev/null, in sizes that change, and opens a file, one of which is missing; every fourth asks the partner, every
// 256th sleeps.  That is about six system calls and half a context switch a round.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {"nginx", "postgres", "memcached", "sshd", "systemd-journal", "cron", "python3", "bash"};
static const char *const files[] = {"/proc/self/stat", "/bin", "/init", "/bin/missing"};

static void must(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		_exit(1);
	}
}

/* Gives back each byte that it gets, until there are no more. */
static void answer(int from, int to)
{
	char byte;

	prctl(PR_SET_NAME, "partner");
	while (read(from, &byte, 1) == 1)
		must(write(to, &byte, 1) == 1, "answer");
	_exit(0);
}

static void work(int number, long rounds)
{
	int ask[2], answered[2], zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	char buffer[4096], byte = 0;
	struct stat found;

	must(zero >= 0 && null >= 0 && pipe(ask) == 0 && pipe(answered) == 0, "files");
	prctl(PR_SET_NAME, names[number % COUNT(names)]);
	if (fork() == 0) {
		close(ask[1]);
		close(answered[0]);
		answer(ask[0], answered[1]);
	}
	close(ask[0]);
	close(answered[1]);
	for (long round = 0; round < rounds; round++) {
		must(read(zero, buffer, 32u << round % 7) > 0 && write(null, buffer, 16u << round % 8) > 0, "copy");
		int file = open(files[round % COUNT(files)], O_RDONLY);
		if (file >= 0) {
			must(fstat(file, &found) == 0, "fstat");
			close(file);
		}
		if (round % 4 == 0)
			must(write(ask[1], &byte, 1) == 1 && read(answered[0], &byte, 1) == 1, "ask");
		if (round % 256 == 0)
			nanosleep(&(struct timespec){0, 100000}, NULL);
	}
	close(ask[1]);
	wait(NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : 4, status, failed = 0;
	long rounds = argc > 2 ? atol(argv[2]) : 20000;

	for (int number = 0; number < processes; number++)
		if (fork() == 0)
			work(number, rounds);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
