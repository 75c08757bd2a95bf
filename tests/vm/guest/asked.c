// SPDX-License-Identifier: Apache-2.0
//
// asked allocations|calls32|reads|writes: does what is asked about, a known number of times.  getppid() is called before the first and after
// the last of it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// As a 32-bit program calls: by the table of i386, with arguments of 32 bits.
static long call_32(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
	return result;
}

// An eventfd is 48 bytes of kmalloc(), until it is closed.
static void allocations(void)
{
	int descriptors[32];

	for (int i = 0; i < 32; i++)
		descriptors[i] = eventfd(0, 0);
	for (int i = 0; i < 32; i++)
		close(descriptors[i]);
}

// getpid() and lseek() are 20 and 19 of i386; of x86-64 those are writev() and readv().
static void calls32(void)
{
	for (int i = 0; i < 7; i++)
		if (call_32(20, 0, 0, 0) != getpid())
			_exit(4);
	for (int i = 0; i < 3; i++)
		if (call_32(19, -1, 5, SEEK_SET) != -9)
			_exit(5);
}

static void reads(void)
{
	static char buffer[4096];
	int zero = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 5; i++)
		if (read(zero, buffer, 100) != 100 || read(zero, buffer, 4000) != 4000)
			_exit(6);
}

// A pipe has a mutex, which is taken for each write.
static void writes(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		_exit(7);
	for (int i = 0; i < 12; i++)
		if (write(ends[1], "text", 4) != 4)
			_exit(8);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = { { "allocations", allocations }, { "calls32", calls32 }, { "reads", reads },
	      { "writes", writes } };

	for (size_t i = 0; argc == 2 && i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(argv[1], all[i].name) != 0)
			continue;
		syscall(SYS_getppid);
		all[i].run();
		syscall(SYS_getppid);
		return 0;
	}
	fprintf(stderr, "usage: asked allocations|calls32|reads|writes\n");
	return 2;
}
