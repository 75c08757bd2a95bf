// SPDX-License-Identifier: Apache-2.0
//
// fail_nth load MODULE.ko [PARAMETERS] | enable PROGRAM.dof | read PROGRAM.dof
//
// Does the same again and again; the first time its first allocation fails, the second time its second, until it has
// made no further one.  Each must end well or with an error; what it did is undone.  Prints one CHECK line.
//
// The kernel counts the allocations of the task that wrote /proc/self/fail-nth (Documentation/fault-injection).
#include "formats/abi/ioctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// More than any of them makes; one that never ends is a fault of its own.
#define FAILURES_MAX 20000

static char *image;
static size_t image_bytes;
static const char *parameters = "";

static void read_image(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &status) < 0 || !(image = malloc(status.st_size)) ||
	    read(fd, image, status.st_size) != status.st_size) {
		perror(path);
		exit(2);
	}
	image_bytes = status.st_size;
	close(fd);
}

static int fail_fd;

static void fail_at(int number)
{
	char text[16];

	if (pwrite(fail_fd, text, snprintf(text, sizeof(text), "%d", number), 0) < 0) {
		perror("/proc/self/fail-nth");
		exit(2);
	}
}

// Whether the failure that was asked for has been; none is asked for afterwards.
static int has_failed(void)
{
	char text[16] = "";

	if (pread(fail_fd, text, sizeof(text) - 1, 0) < 0)
		exit(2);
	fail_at(0);
	return atoi(text) == 0;
}

static int try_load(int number)
{
	int failed;
	long result;

	fail_at(number);
	result = syscall(SYS_init_module, image, image_bytes, parameters);
	failed = has_failed();
	if (result == 0 && syscall(SYS_delete_module, "daybreak", O_NONBLOCK) != 0)
		perror("delete_module");
	return failed;
}

// Whether what fails is the module's own: the kernel's loader allocates hundreds of times before it says "module_load",
// and goes on without some of it. The trace has the failure too, as the kernel's log has it, but for one with __GFP_NOWARN:
// then one of the next says where it was. All the loader's memory for the file is of that kind.
static int fails_in_init(int number)
{
	static char events[65536];
	const char *loaded, *failure;
	int failed, last = number + 4;

	do {
		int fd = open("/sys/kernel/tracing/trace", O_RDWR | O_TRUNC);
		ssize_t length;

		failed = try_load(number++);
		length = pread(fd, events, sizeof(events) - 1, 0);
		events[length > 0 ? length : 0] = 0;
		close(fd);
		loaded = strstr(events, "module_load: daybreak");
		failure = strstr(events, "FAULT_INJECTION");
	} while (failed && !failure && number < last);
	return !failed || (loaded && failure && loaded < failure);
}

static int first_of_init(void)
{
	int before = 0, after = 1;

	while (after < FAILURES_MAX && !fails_in_init(after)) {
		before = after;
		after *= 2;
	}
	while (after - before > 1) {
		int middle = (before + after) / 2;

		if (fails_in_init(middle))
			after = middle;
		else
			before = middle;
	}
	return after;
}

static int try_enable(int number)
{
	struct dbk_ioc_enable enable = { .dof = (uintptr_t)image, .dof_bytes = image_bytes };
	int failed, fd = open("/dev/daybreak", O_RDONLY);

	fail_at(number);
	ioctl(fd, DBK_IOC_ENABLE, &enable);
	failed = has_failed();
	close(fd);
	return failed;
}

// All that a reader does with a ring: its regions mapped, its aggregations taken.
static void read_ring(int fd, uint32_t ring_id)
{
	static char snapshot[16 << 20];
	struct dbk_ioc_aggsnap taken = { .ring_id = ring_id, .buffer = (uintptr_t)snapshot, .bytes = sizeof(snapshot) };
	struct dbk_ioc_region region = { 0 };
	struct dbk_ioc_ring stopped = { .ring_id = ring_id };

	for (; ioctl(fd, DBK_IOC_REGION, &region) == 0; region.index++) {
		void *at = mmap(NULL, region.bytes, PROT_READ, MAP_SHARED, fd, (off_t)region.offset);

		if (at != MAP_FAILED)
			munmap(at, region.bytes);
	}
	ioctl(fd, DBK_IOC_AGGSNAP, &taken);
	ioctl(fd, DBK_IOC_STOP, &stopped);
}

static int try_read(int number)
{
	struct dbk_ioc_enable enable = { .dof = (uintptr_t)image, .dof_bytes = image_bytes };
	int failed, fd = open("/dev/daybreak", O_RDONLY);

	if (ioctl(fd, DBK_IOC_ENABLE, &enable) != 0) {
		perror("DBK_IOC_ENABLE");
		exit(2);
	}
	fail_at(number);
	read_ring(fd, enable.ring_id);
	failed = has_failed();
	close(fd);
	return failed;
}

int main(int argc, char **argv)
{
	int (*try)(int) = argc < 3			     ? NULL
			  : strcmp(argv[1], "load") == 0   ? try_load
			  : strcmp(argv[1], "enable") == 0 ? try_enable
			  : strcmp(argv[1], "read") == 0   ? try_read
							   : NULL;
	int first, number;

	if (!try)
		return 2;
	read_image(argv[2]);
	if (argc > 3)
		parameters = argv[3];
	fail_fd = open("/proc/self/fail-nth", O_RDWR);
	first = number = try == try_load ? first_of_init() : 1;
	while (number < FAILURES_MAX && try(number))
		number++;
	// The last try met no failure.
	printf("CHECK every-allocation-of-%s %s %d failed\n", argv[1],
	       number > first && number < FAILURES_MAX ? "ok" : "fail", number - first);
	return 0;
}
