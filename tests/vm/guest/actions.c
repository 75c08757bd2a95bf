// SPDX-License-Identifier: Apache-2.0
//
// actions NUMBER: calls getpgid(NUMBER, buffer) and says what became of it and of the buffer.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t got;

static void on_signal(int number)
{
	got = number;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 0;
	static char buffer[64];
	uint64_t before = now_ms();
	int word;

	signal(SIGUSR1, on_signal);
	syscall(SYS_getpgid, number, buffer);
	memcpy(&word, buffer + 32, sizeof(word));
	if (number == 1)
		printf("signal %d\n", (int)got);
	else if (number == 4)
		printf("%llu\n", (unsigned long long)(now_ms() - before));
	else if (buffer[0] != '\0')
		printf("%s %d\n", buffer, word);
	return 0;
}
