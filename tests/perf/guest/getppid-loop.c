// SPDX-License-Identifier: Apache-2.0
//
// getppid-loop CALLS [WHAT]: does something over and over, and prints what doing it once takes, in ticks of the TSC.
// Under `-icount shift=0` one tick is one executed instruction.  The table below has what it can do; else getppid().
//
// The calls are timed in blocks, and the median block counts: it has no timer tick in it, so
// that two runs of the same work print the same figure.
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ticks.h"

#define BLOCK_CALLS 1000 /* of half a microsecond to 2: below half of the tick's 4 ms, so that most blocks have none */
#define LONG_CALLS  100	 /* the same, of calls of 2 to 12 microseconds */
#define BLOCKS_MAX  4096
#define DISK	    "/dev/ram0"
#define READ_BYTES  512

static const char text[] = "twenty-five characters ..";
static char room[READ_BYTES] __attribute__((aligned(READ_BYTES)));
static int fd = -1, answers[2];

static int compare(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;

	return (x > y) - (x < y);
}

/* A probe's place. */
__attribute__((noinline)) void called(long n)
{
	asm volatile("nop" : : "r"(n));
}

static void do_getppid(int call)
{
	syscall(SYS_getppid, text);
}

static void do_call(int call)
{
	called(call);
}

/* A datagram to a socket of the loopback that is full. */
static int open_send(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7001),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int receiver = socket(AF_INET, SOCK_DGRAM, 0);

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	return bind(receiver, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static void do_send(int call)
{
	send(fd, text, sizeof(text), 0);
}

/* The state of a TCP socket changes twice. */
static int open_listen(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7002),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	fd = socket(AF_INET, SOCK_STREAM, 0);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 1) == 0 &&
	       shutdown(fd, SHUT_RDWR) == 0;
}

static void do_listen(int call)
{
	listen(fd, 1);
	shutdown(fd, SHUT_RDWR);
}

/* A disk is read, past the page cache. */
static int open_read(void)
{
	fd = open(DISK, O_RDONLY | O_DIRECT);
	return pread(fd, room, sizeof(room), 0) == sizeof(room);
}

static void do_read(int call)
{
	if (pread(fd, room, sizeof(room), 0) != sizeof(room))
		exit(4);
}

/* Another process is woken, runs at once as its class is the better one, answers, and sleeps: one wakeup, two switches. */
static int open_wake(void)
{
	struct sched_param first = { .sched_priority = 1 };
	int questions[2];
	char byte;

	if (pipe(questions) != 0 || pipe(answers) != 0)
		return 0;
	fd = questions[1];
	if (fork() != 0)
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_FIFO, &first) != 0)
		exit(5);
	while (read(questions[0], &byte, 1) == 1 && write(answers[1], &byte, 1) == 1) {
	}
	exit(0);
}

static void do_wake(int call)
{
	char byte = 0;

	if (write(fd, &byte, 1) != 1 || read(answers[0], &byte, 1) != 1)
		exit(4);
}

/* Debian's shell executes Debian's true(1), over and over. */
static void do_shell(int call)
{
	pid_t shell = fork();
	int status;

	if (shell == 0) {
		execl("/bin/dash", "dash", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/debian-true || exit 1; done", NULL);
		_exit(9);
	}
	if (shell < 0 || waitpid(shell, &status, 0) != shell || status != 0)
		exit(4);
}

static const struct work {
	const char *name;
	int (*open)(void); /* whether it can be done; null: it can */
	void (*call)(int call);
	int block_calls; /* how many are timed as one */
} works[] = {
	{ "getppid", NULL, do_getppid, BLOCK_CALLS },
	{ "call", NULL, do_call, BLOCK_CALLS },
	{ "send", open_send, do_send, LONG_CALLS },
	{ "listen", open_listen, do_listen, LONG_CALLS },
	{ "read", open_read, do_read, LONG_CALLS },
	{ "wake", open_wake, do_wake, LONG_CALLS },
	{ "shell", NULL, do_shell, 1 },
};

static unsigned long long block(const struct work *work)
{
	unsigned long long start = __rdtsc();

	for (int call = 0; call < work->block_calls; call++)
		work->call(call);
	return __rdtsc() - start;
}

int main(int argc, char **argv)
{
	static unsigned long long ticks[BLOCKS_MAX];
	const struct work *work = &works[0];
	long blocks;

	for (size_t i = 0; argc > 2 && i < sizeof(works) / sizeof(works[0]); i++)
		if (strcmp(argv[2], works[i].name) == 0)
			work = &works[i];
	blocks = (argc > 1 ? atol(argv[1]) : 100000) / work->block_calls;
	if (blocks < 1 || blocks > BLOCKS_MAX)
		return 2;
	if (work->open && !work->open())
		return 3;
	block(work);
	for (long i = 0; i < blocks; i++)
		ticks[i] = block(work);
	qsort(ticks, blocks, sizeof(ticks[0]), compare);
	printf("ticks_per_1000=%llu median=%.1f min=%.1f max=%.1f\n", ticks_per_1000(),
	       (double)ticks[blocks / 2] / work->block_calls, (double)ticks[0] / work->block_calls,
	       (double)ticks[blocks - 1] / work->block_calls);
	return 0;
}
