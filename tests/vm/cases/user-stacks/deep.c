/* SPDX-License-Identifier: Apache-2.0 */
/* deep: stands at known points, each a call of getpgid(2) whose argument is its number. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define AS_WRITTEN __attribute__((noinline, noclone, noipa))

AS_WRITTEN static long point(long number)
{
	/* Kept on the stack: a leaf that has nothing there gets no frame pointer, whatever the options. */
	volatile long result = 0;

	asm volatile("syscall" : "=a"(number) : "a"(SYS_getpgid), "D"(number) : "rcx", "r11", "memory");
	result += number;
	return result;
}

AS_WRITTEN static long deeper(int levels, long number)
{
	char room[200];
	long result = levels == 0 ? point(number) : deeper(levels - 1, number);

	asm volatile("" : : "r"(room) : "memory");
	return result + 1;
}

AS_WRITTEN static int compare(const void *one, const void *other)
{
	deeper(1, 2);
	return *(const char *)one - *(const char *)other;
}

/* A signal at the first instruction: what is before it, where a call would have been, is of no function. */
__attribute__((naked, noinline)) static void trap(void)
{
	asm("ud2; ret");
}

static void handle(int number, siginfo_t *unused, void *context)
{
	(void)unused;
	deeper(number == SIGILL ? 1 : 0, 3);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* past the ud2 */
}

static void *run(void *unused)
{
	(void)unused;
	deeper(2, 4);
	return NULL;
}

AS_WRITTEN static int library_calls(void)
{
	char text[] = "ba";
	pthread_t thread;

	qsort(text, 2, 1, compare);
	trap();
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	getpgid(5); /* point 5 is the C library's own */
	return text[0] != 'a';
}

/* After a call that does not return nothing follows: the address it would return to is in no function, or in another. */
__attribute__((noinline, noclone, noreturn)) static void last(void)
{
	deeper(0, 6);
	_exit(0);
}

AS_WRITTEN static void ends(void)
{
	last();
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	sigaction(SIGILL, &action, NULL);
	deeper(3, 1);
	if (library_calls() != 0)
		return 1;
	ends();
	return 1;
}
