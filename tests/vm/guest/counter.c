// SPDX-License-Identifier: Apache-2.0
//
// counter ADDRESS [LIMIT]: counts system calls on every CPU, and keeps the counts where a crash cannot.
//
// One process per CPU, pinned there, calls getppid(n, mix(n), cpu) for n = 1, 2, ...: getppid() ignores
// what it is given, a probe on it does not.  Physical memory from ADDRESS on, which nothing else uses
// (memmap=1M$ADDRESS) and which outlives a reset, has a page for each CPU:
//
//     u64 magic     "DBKCOUNT"
//     u64 started   n, stored before the call
//     u64 done      n, stored after it
//     u64 cpu
//
// So whatever the machine dies of, a record of the last call is there exactly when its number is `done`,
// and may be there or not when it is `started`.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAGIC	   0x544e554f434b4244ull
#define PAGE_BYTES 4096u

struct witness {
	uint64_t magic;
	uint64_t started;
	uint64_t done;
	uint64_t cpu;
};

/* What verify works out as well: no other n gives it. */
static uint64_t mix(uint64_t n)
{
	return n * 0x9e3779b97f4a7c15ull;
}

static void count(volatile struct witness *witness, unsigned cpu, uint64_t limit)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0) {
		perror("counter: sched_setaffinity");
		exit(1);
	}
	witness->started = 0;
	witness->done = 0;
	witness->cpu = cpu;
	__atomic_store_n(&witness->magic, MAGIC, __ATOMIC_SEQ_CST);
	for (uint64_t n = 1; limit == 0 || n <= limit; n++) {
		__atomic_store_n(&witness->started, n, __ATOMIC_SEQ_CST);
		syscall(SYS_getppid, n, mix(n), (uint64_t)cpu);
		__atomic_store_n(&witness->done, n, __ATOMIC_SEQ_CST);
	}
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t limit = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	int memory = open("/dev/mem", O_RDWR);
	char *pages;

	if (argc < 2 || memory < 0) {
		fprintf(stderr, "counter: needs ADDRESS and /dev/mem\n");
		return 1;
	}
	pages = mmap(NULL, (size_t)cpus * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory,
		     (off_t)strtoull(argv[1], NULL, 0));
	if (pages == MAP_FAILED) {
		perror("counter: mmap of /dev/mem");
		return 1;
	}
	for (unsigned cpu = 0; cpu < (unsigned)cpus; cpu++) {
		if (fork() == 0) {
			count((struct witness *)(pages + (size_t)cpu * PAGE_BYTES), cpu, limit);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
