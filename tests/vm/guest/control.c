// SPDX-License-Identifier: Apache-2.0
//
// control looking|killing|kills PROGRAM.dof: what others can do while a long enabling is under way.  Prints CHECK lines.
// control snapshots PROGRAM.dof: how long it takes to read the aggregations of all CPUs.
// control churn SEED COUNT PROGRAM.dof...: enables, looks, stops, destroys, closes, in turn and at random; 0: until killed.
// control arm COUNT PROGRAM.dof: enables and closes so often, and says how many probes matched.
//
// PROGRAM.dof of the first enables every function there is.
#include "tests/vm/guest/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Shared with children: how far an enabling is. */
static struct {
	atomic_int began, ended;
} *shared;

static int enable(int device, const struct program *program, struct dbk_ioc_enable *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->dof = (uintptr_t)program->bytes;
	answer->dof_bytes = program->length;
	return ioctl(device, DBK_IOC_ENABLE, answer);
}

static struct dbk_ioc_status status_of(int device)
{
	struct dbk_ioc_status status = { 0 };

	if (ioctl(device, DBK_IOC_STATUS, &status) != 0)
		check("status", 0, errno);
	return status;
}

/* Of one read: the list may be long. */
static long functions_hooked(void)
{
	int file = open("/sys/kernel/tracing/enabled_functions", O_RDONLY);
	char lines[4096];
	ssize_t length = file < 0 ? -1 : read(file, lines, sizeof(lines));
	long count = 0;

	for (ssize_t i = 0; i < length; i++)
		count += lines[i] == '\n';
	close(file);
	return length < 0 ? -1 : count;
}

/* A child that enables and waits to be killed. */
static pid_t start_enabling(const struct program *program)
{
	pid_t child;

	atomic_store(&shared->began, 0);
	atomic_store(&shared->ended, 0);
	child = fork();
	if (child == 0) {
		struct dbk_ioc_enable answer;
		int device = open_device();

		atomic_store(&shared->began, 1);
		if (enable(device, program, &answer) != 0)
			fprintf(stderr, "control: %s: %s\n", strerror(errno), answer.reason);
		atomic_store(&shared->ended, 1);
		pause();
		_exit(0);
	}
	while (!atomic_load(&shared->began))
		;
	return child;
}

static int ends_by_kill(pid_t child)
{
	int status = 0;

	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Until no ring is left, and nothing of it: a worker may be about to destroy it. */
static unsigned rings_left(int device)
{
	struct dbk_ioc_ring none = { .ring_id = 65536 };
	unsigned left = 0;

	for (int tries = 0; tries < 30000 && (left = status_of(device).ring_count) != 0; tries++)
		usleep(20000);
	/* Waits for control operations, of which the last may be a destruction. */
	ioctl(device, DBK_IOC_CLAIM, &none);
	return left;
}

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Times mean something where an emulator counts instructions. */
static int counts_instructions(void)
{
	return getenv("ICOUNT") != NULL;
}

static void check_looking(const struct program *program)
{
	pid_t child = start_enabling(program);
	int device = open_device();
	long looks = 0, regions = 0, longest_ns = 0;

	while (!atomic_load(&shared->ended)) {
		struct dbk_ioc_region region = { 0 };
		long begin_ns = now_ns(), took_ns;

		status_of(device);
		took_ns = now_ns() - begin_ns;
		if (took_ns > longest_ns)
			longest_ns = took_ns;
		/* One that ended before the enabling did. */
		looks += !atomic_load(&shared->ended);
		regions += ioctl(device, DBK_IOC_REGION, &region) == 0 && !atomic_load(&shared->ended);
		usleep(1000);
	}
	check("status-does-not-wait", looks >= 10, looks);
	check("regions-do-not-wait", regions >= 10, regions);
	if (counts_instructions())
		check("status-takes-at-most-50-ms", longest_ns <= 50000000, longest_ns);
	check("killed-when-enabled", ends_by_kill(child), 0);
	check("nothing-left", rings_left(device) == 0, 0);
}

/* In the first part of an enabling that lasts more than a thousand looks. */
static void check_killing(const struct program *program)
{
	/* The module's own hook is among them. */
	long others = functions_hooked();
	pid_t child = start_enabling(program), waiting;
	int device = open_device(), killed;
	struct dbk_ioc_enable answer;

	for (int looks = 0; looks < 100; looks++) {
		status_of(device);
		usleep(1000);
	}
	waiting = fork();
	if (waiting == 0) {
		enable(open_device(), program, &answer);
		_exit(0);
	}
	usleep(100000);
	check("waiting-is-killed", ends_by_kill(waiting) && !atomic_load(&shared->ended), 0);
	killed = ends_by_kill(child);
	check("enabling-is-killed", killed && !atomic_load(&shared->ended), killed);
	check("nothing-left-of-it", rings_left(device) == 0, 0);
	check("no-function-left", functions_hooked() == others, functions_hooked());
}

/* What an enabling takes that is left alone. */
static long whole_enabling_ns(int device, const struct program *program)
{
	long begin_ns = now_ns(), took_ns;
	pid_t child = start_enabling(program);

	while (!atomic_load(&shared->ended))
		usleep(1000);
	took_ns = now_ns() - begin_ns;
	check("enabled-when-not-killed", status_of(device).ring_count == 1, took_ns);
	ends_by_kill(child);
	rings_left(device);
	return took_ns;
}

/* Everywhere in an enabling of many clauses. */
#define KILLS 8

static void check_kills(const struct program *program)
{
	int device = open_device(), at_work = 0;
	struct dbk_ioc_status before, after;
	long whole_ns, longest_ns = 0;
	unsigned left = 0;

	whole_enabling_ns(device, program); /* the first finds what it names, which stays */
	whole_ns = whole_enabling_ns(device, program);
	before = status_of(device);
	for (int i = 0; i < KILLS; i++) {
		pid_t child = start_enabling(program);
		long took_ns;

		usleep(whole_ns / 1000 * i / KILLS);
		took_ns = now_ns();
		at_work += ends_by_kill(child) && !atomic_load(&shared->ended);
		took_ns = now_ns() - took_ns;
		fprintf(stderr, "control: killed after %d/%d, ended in %ld ms\n", i, KILLS, took_ns / 1000000);
		if (took_ns > longest_ns)
			longest_ns = took_ns;
		left += rings_left(device);
	}
	after = status_of(device);
	check("killed-while-enabling", at_work >= KILLS / 4, at_work);
	check("killed-in-half-of-it", longest_ns < whole_ns / 2, longest_ns);
	check("nothing-left-of-them", left == 0, left);
	check("module-is-as-before", memcmp(&before, &after, sizeof(before)) == 0, after.probe_count);
}

static void churn(unsigned seed, long count, int programs, char **paths)
{
	long refused = 0;

	for (long i = 0; count == 0 || i < count; i++) {
		struct program program = read_program(paths[rand_r(&seed) % (unsigned)programs]);
		struct dbk_ioc_region region = { 0 };
		struct dbk_ioc_ring ring = { 0 };
		struct dbk_ioc_enable answer;
		int device = open_device();

		if (enable(device, &program, &answer) != 0) {
			refused++;
			fprintf(stderr, "control: %s: %s\n", strerror(errno), answer.reason);
		}
		ring.ring_id = answer.ring_id;
		for (unsigned look = rand_r(&seed) % 64; look != 0; look--, region.index++)
			if (ioctl(device, DBK_IOC_REGION, &region) == 0)
				mmap(NULL, region.bytes, PROT_READ, MAP_SHARED, device, region.offset);
		usleep(rand_r(&seed) % 20000);
		if (rand_r(&seed) % 3 == 0)
			ioctl(device, DBK_IOC_STOP, &ring);
		if (rand_r(&seed) % 5 == 0)
			ioctl(device, DBK_IOC_DESTROY, &ring);
		if (rand_r(&seed) % 2 == 0)
			status_of(device);
		close(device);
		free(program.bytes);
	}
	printf("control: %ld refused\n", refused);
}

/* Of all CPUs, one after the other, as a consumer reads them. */
static void check_snapshots(const struct program *program)
{
	static char image[16 << 20];
	long longest_ns = 0, cpus = sysconf(_SC_NPROCESSORS_ONLN), bytes = 0;
	struct dbk_ioc_enable answer;
	int device = open_device();

	if (enable(device, program, &answer) != 0)
		check("snapshots-enable", 0, errno);
	for (int round = 0; round < 20; round++) {
		long begin_ns;

		if (system("for cpu in 0 1 2 3; do taskset -c $cpu sh -c 'ls -l /proc /dev; sleep 0'; done >/dev/null") != 0)
			check("workload", 0, round);
		begin_ns = now_ns();
		for (long cpu = 0; cpu < cpus; cpu++) {
			struct dbk_ioc_aggsnap taken = { .ring_id = answer.ring_id,
							 .cpu = (unsigned)cpu,
							 .buffer = (uintptr_t)image,
							 .bytes = sizeof(image) };

			if (ioctl(device, DBK_IOC_AGGSNAP, &taken) != 0)
				check("snapshot", 0, errno);
			bytes += taken.bytes;
		}
		begin_ns = now_ns() - begin_ns;
		if (begin_ns > longest_ns && round > 0) /* at first the image's own pages are made */
			longest_ns = begin_ns;
	}
	check("snapshots-hold-keys", bytes > 100000, bytes);
	check("snapshot-takes-at-most-1-ms", longest_ns <= 1000000, longest_ns);
	close(device);
}

static void arm(long count, const struct program *program)
{
	struct dbk_ioc_enable answer;

	for (long i = 0; i < count; i++) {
		int device = open_device();

		if (enable(device, program, &answer) != 0) {
			fprintf(stderr, "control: %s: %s\n", strerror(errno), answer.reason);
			exit(1);
		}
		printf("%u\n", answer.matched);
		close(device);
	}
}

int main(int argc, char **argv)
{
	struct program program;

	if (argc >= 5 && strcmp(argv[1], "churn") == 0) {
		churn((unsigned)atoi(argv[2]), atol(argv[3]), argc - 4, argv + 4);
		return 0;
	}
	if (argc < 3)
		return 2;
	program = read_program(argv[argc - 1]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (strcmp(argv[1], "looking") == 0)
		check_looking(&program);
	else if (strcmp(argv[1], "snapshots") == 0)
		check_snapshots(&program);
	else if (strcmp(argv[1], "killing") == 0)
		check_killing(&program);
	else if (strcmp(argv[1], "kills") == 0)
		check_kills(&program);
	else
		arm(atol(argv[2]), &program);
	return 0;
}
