// SPDX-License-Identifier: Apache-2.0
//
// naming PROGRAM.dof: probes that are made when they are named, and go again (kmod/providers/named.h).
//
// The program names an instruction of getppid(), a timer and a counter.  The module is loaded and no ring is there.
// Prints CHECK lines (checks.sh).
#define _GNU_SOURCE
#include "tests/vm/guest/program.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// kmod/providers/cpc.c
#define COUNTERS_MAX 1000
// Of each of two processes; an instruction is waited for by the kernel, so fewer name one.
#define ROUNDS		 1000
#define INSTRUCTION_EACH 50
#define CALLS		 100
// The program's three, and ERROR.
#define MATCHED 4
// A ring at each so many rounds of one of them.
#define ROUNDS_EACH_RING 100

static long provide(int device, const char *provider, const char *function, const char *name)
{
	struct dbk_ioc_provide description = { 0 };

	strcpy(description.provider, provider);
	strcpy(description.function, function);
	strcpy(description.name, name);
	return ioctl(device, DBK_IOC_PROVIDE, &description);
}

static long probes_of(int device)
{
	struct dbk_ioc_status status;

	return ioctl(device, DBK_IOC_STATUS, &status) < 0 ? -1 : (long)status.probe_count;
}

// What a file that was closed while another process asked goes soon after.
static long probes_soon(int device, long wanted)
{
	for (int i = 0; i < 1000 && probes_of(device) != wanted; i++)
		usleep(10000);
	return probes_of(device);
}

static void check_asking(int device)
{
	long before = probes_of(device);
	int asker = open_device(), other = open_device();

	check("asked-for", provide(asker, "cpc", "", "page_faults-all-7") == 0 && provide(asker, "profile", "", "tick-7s") == 0 &&
				   provide(asker, "kinst", "ksys_read", "0") == 0 && probes_of(device) == before + 3,
	      probes_of(device) - before);
	check("asked-for-again", provide(other, "profile", "", "tick-7s") == 0 && provide(other, "profile", "", "tick-8s") == 0 &&
					 probes_of(device) == before + 4, probes_of(device) - before);
	close(other);
	check("stays-while-one-asks", probes_of(device) == before + 4, probes_of(device) - before);
	close(asker);
	check("goes-with-who-asked", probes_soon(device, before) == before, probes_of(device) - before);
}

static void check_limit(int device)
{
	long before = probes_of(device), made = 0;
	int asker = open_device(), refused;
	char name[32];

	for (int i = 1; i <= COUNTERS_MAX; i++) {
		snprintf(name, sizeof(name), "page_faults-all-%d", i);
		made += provide(asker, "cpc", "", name) == 0;
	}
	check("counters-to-the-limit", made == COUNTERS_MAX && probes_of(device) == before + made, made);
	refused = provide(asker, "cpc", "", "page_faults-all-1001") < 0 ? errno : 0;
	check("one-more-is-refused", refused == E2BIG && probes_of(device) == before + made, refused);
	check("one-of-them-is-not", provide(asker, "cpc", "", "page_faults-all-1000") == 0, 0);
	check("what-is-none-is-not", provide(asker, "cpc", "", "nothing-all-1000") == 0, 0);
	close(asker);
	check("limit-is-of-the-living", probes_soon(device, before) == before, probes_of(device) - before);
}

// What was asked for is no longer listed once something is enabled.
static void check_enabling(int device, const struct program *program)
{
	struct dbk_ioc_enable enable = { .dof = (uintptr_t)program->bytes, .dof_bytes = program->length };
	struct dbk_ioc_ring ring;
	long before = probes_of(device), made;
	int asker = open_device();

	made = provide(asker, "profile", "", "tick-9s") == 0;
	check("asks-and-enables", ioctl(asker, DBK_IOC_ENABLE, &enable) == 0 && probes_of(device) == before + made + 3,
	      probes_of(device) - before);
	ring.ring_id = enable.ring_id;
	check("goes-with-the-ring", ioctl(asker, DBK_IOC_DESTROY, &ring) == 0 && probes_of(device) == before,
	      probes_of(device) - before);
	close(asker);
}

// Of a process that asks, and goes; the two meet at some names.
static void ask_often(int which, volatile int *rounds)
{
	char name[32];
	int failed = 0;

	for (int round = 0; round < ROUNDS; round++) {
		int asker = open_device();

		*rounds = round;
		snprintf(name, sizeof(name), "tick-%ds", round % (which + 3) + 6);
		failed += provide(asker, "profile", "", name) != 0;
		snprintf(name, sizeof(name), "page_faults-user-%d", round % (which + 3) + 6);
		failed += provide(asker, "cpc", "", name) != 0;
		if (round % INSTRUCTION_EACH == 0)
			failed += provide(asker, "kinst", "__x64_sys_getppid", "0") != 0;
		close(asker);
	}
	_exit(failed != 0);
}

// Each ring has its probes whole, whatever other processes name or let go.
static int ring_is_whole(int device, const struct program *program)
{
	struct dbk_ioc_enable enable = { .dof = (uintptr_t)program->bytes, .dof_bytes = program->length };
	struct dbk_ioc_ring ring;
	uint64_t records;

	if (ioctl(device, DBK_IOC_ENABLE, &enable) < 0) {
		check("rounds-enable", 0, errno);
		return 0;
	}
	ring.ring_id = enable.ring_id;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	records = records_of(find_metadata(device, enable.ring_id, DBK_META_CPUS));
	ioctl(device, DBK_IOC_DESTROY, &ring);
	return enable.matched == MATCHED && records == CALLS;
}

static void check_rounds(int device, const struct program *program)
{
	volatile int *rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long before = probes_of(device), rings = 0, whole = 0;
	int left = 2, status, failed = 0;

	for (int which = 0; which < 2; which++)
		if (fork() == 0)
			ask_often(which, rounds + which);
	while (left != 0) {
		if (rounds[0] >= rings * ROUNDS_EACH_RING) {
			whole += ring_is_whole(device, program);
			rings++;
		}
		usleep(1000);
		while (left != 0 && waitpid(-1, &status, WNOHANG) > 0) {
			failed += status != 0;
			left--;
		}
	}
	check("rounds", failed == 0, ROUNDS);
	check("rounds-of-rings", rings > 1 && whole == rings, whole);
	check("rounds-leave-nothing", probes_soon(device, before) == before, probes_of(device) - before);
}

int main(int argc, char **argv)
{
	struct program program;
	int device;

	if (argc != 2) {
		fprintf(stderr, "usage: naming PROGRAM.dof\n");
		return 2;
	}
	program = read_program(argv[1]);
	device = open_device();
	check_asking(device);
	check_limit(device);
	check_enabling(device, &program);
	check_rounds(device, &program);
	close(device);
	return 0;
}
