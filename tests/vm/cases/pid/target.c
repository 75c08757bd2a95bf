/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: what can happen to a process while its functions are traced
 *
 *   target threads N COUNT   N threads call work() COUNT times each, and malloc() as often
 *   target forks N           work(), and N children that call it too; the last one by vfork()
 *   target waits             work() for each line it reads, whose text it is; then says "done"
 *   target opens LIBRARY     calls plugged() of a library that it opens
 *   target text              the bytes of its text, as they are in memory, as a number
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long count;
void *volatile kept;

__attribute__((noinline)) long work(long a, const char *text, long c, long d, long e, long f, long seventh)
{
	asm volatile("" ::: "memory");
	return a + (long)strlen(text) + c + d + e + f + seventh;
}

static void *thread(void *unused)
{
	(void)unused;
	for (long i = 0; i < count; i++) {
		void *memory = malloc(16 + (size_t)i % 100);

		kept = memory;
		work(i, "thread", 3, 4, 5, 6, 7);
		free(memory);
	}
	return NULL;
}

static void threads(int number)
{
	pthread_t all[64];

	for (int i = 0; i < number; i++)
		pthread_create(&all[i], NULL, thread, NULL);
	for (int i = 0; i < number; i++)
		pthread_join(all[i], NULL);
}

static void forks(int number)
{
	work(1, "parent", 3, 4, 5, 6, 7);
	for (int i = 0; i < number; i++) {
		pid_t child = i == number - 1 ? vfork() : fork();

		if (child == 0) {
			work(2, "child", 3, 4, 5, 6, 7);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	work(3, "parent", 3, 4, 5, 6, 7);
}

static unsigned long text_sum(void)
{
	extern const unsigned char __executable_start, etext;
	unsigned long sum = 0;

	for (const volatile unsigned char *at = &__executable_start; at < &etext; at++)
		sum = sum * 31 + *at;
	return sum;
}

static void waits(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin))
		printf("%ld %lx\n", work(1, line, 3, 4, 5, 6, 7), text_sum());
	puts("done");
}

__attribute__((noinline)) static int opens(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*plugged)(int) = library ? (int (*)(int))dlsym(library, "plugged") : NULL;

	return plugged ? plugged(7) != 8 : 3;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && strcmp(argv[1], "threads") == 0) {
		count = atol(argv[3]);
		threads(atoi(argv[2]));
	} else if (argc == 3 && strcmp(argv[1], "forks") == 0) {
		forks(atoi(argv[2]));
	} else if (argc == 3 && strcmp(argv[1], "opens") == 0) {
		return opens(argv[2]);
	} else if (argc == 2 && strcmp(argv[1], "waits") == 0) {
		waits();
	} else {
		return 2;
	}
	return 0;
}
