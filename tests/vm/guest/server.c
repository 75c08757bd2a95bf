// SPDX-License-Identifier: Apache-2.0
//
// server THREADS REQUESTS: answers requests, most at once, every hundredth after 30 ms.
//
// Each thread has a socket pair, puts a request into one end, receives it at the other, works, and
// answers.  Prints what a tracer must find: how many slept, and of the others how many took longer
// than 10 ms from before the receiving to after the answer (a busy machine), which a tracer may
// see either way:
//
//     SERVER SLOW MAYBE ALL
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS 10000000ll
#define SLEEP_NS 30000000ll
#define SLOW_ONE 100

static long requests;
static long slow, maybe;

static long long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void work(int is_slow)
{
	struct timespec sleep = { 0, SLEEP_NS };

	for (int i = 0; i < 10; i++)
		syscall(SYS_getppid);
	if (is_slow)
		nanosleep(&sleep, NULL);
}

static void *serve(void *argument)
{
	char request[64] = "request";
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		exit(2);
	for (long i = 0; i < requests; i++) {
		int is_slow = i % SLOW_ONE == SLOW_ONE - 1;
		long long from_ns;

		if (write(ends[0], request, sizeof(request)) != sizeof(request))
			exit(3);
		from_ns = now_ns();
		if (recvfrom(ends[1], request, sizeof(request), 0, NULL, NULL) <= 0)
			exit(4);
		work(is_slow);
		if (sendto(ends[1], request, sizeof(request), 0, NULL, 0) <= 0)
			exit(5);
		if (is_slow)
			__atomic_add_fetch(&slow, 1, __ATOMIC_RELAXED);
		else if (now_ns() - from_ns >= LIMIT_NS)
			__atomic_add_fetch(&maybe, 1, __ATOMIC_RELAXED);
		if (read(ends[0], request, sizeof(request)) <= 0)
			exit(6);
	}
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 1 ? atoi(argv[1]) : 1;

	requests = argc > 2 ? atol(argv[2]) : 1000;
	if (count < 1 || count > 64)
		return 1;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, serve, NULL) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("SERVER %ld %ld %ld\n", slow, maybe, count * requests);
	return 0;
}
