// SPDX-License-Identifier: Apache-2.0
//
// memory PROGRAM.dof: what an enabling takes, in bytes.
//
//     REGIONS  its blocks of records and metadata
//     TAKEN    how much less memory is free while it is there, the most of some rounds: the first one
//              pays for what the module keeps, and in any of them other memory may become free.
//              Blocks of 2 MiB may be kept by a CPU's list of pages, and are then left out.
#include "formats/abi/ioctl.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sys/ioctl.h>

static char dof[1 << 20];

#define ROUNDS 5

/* Adds up the numbers after `name` in a file of /proc. */
static long sum_of(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	char line[256], word[64];
	long number, sum = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %ld", word, &number) == 2 && !strcmp(word, name))
			sum += number;
	if (file)
		fclose(file);
	return sum;
}

static long free_bytes(void)
{
	FILE *file = fopen("/proc/sys/vm/stat_refresh", "w");

	if (file) {
		fputs("1", file);
		fclose(file);
	}
	/* What a CPU keeps on its list of pages is free as well: it is what was just freed there. */
	return sum_of("/proc/meminfo", "MemFree:") * 1024 +
	       sum_of("/proc/zoneinfo", "count:") * sysconf(_SC_PAGESIZE);
}

static uint32_t enable(int device, size_t bytes)
{
	struct dbk_ioc_enable enable;

	memset(&enable, 0, sizeof(enable));
	enable.dof = (uintptr_t)dof;
	enable.dof_bytes = bytes;
	if (ioctl(device, DBK_IOC_ENABLE, &enable) < 0) {
		fprintf(stderr, "cannot enable: %s\n", enable.reason);
		exit(1);
	}
	return enable.ring_id;
}

static unsigned long long region_bytes(int device, uint32_t ring_id)
{
	struct dbk_ioc_region region;
	unsigned long long bytes = 0;

	memset(&region, 0, sizeof(region));
	for (; ioctl(device, DBK_IOC_REGION, &region) == 0; region.index++)
		if (region.ring_id == ring_id)
			bytes += region.bytes;
	return bytes;
}

int main(int argc, char **argv)
{
	unsigned long long regions = 0;
	struct dbk_ioc_ring ring;
	long before, taken = 0;
	int file, device, round;
	ssize_t bytes;

	file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	bytes = file < 0 ? -1 : read(file, dof, sizeof(dof));
	device = open(DBK_DEVICE_PATH, O_RDONLY);
	if (bytes <= 0 || device < 0) {
		perror("memory");
		return 2;
	}
	memset(&ring, 0, sizeof(ring));
	for (round = 0; round < ROUNDS; round++) {
		before = free_bytes();
		ring.ring_id = enable(device, bytes);
		before -= free_bytes();
		if (round > 0 && before > taken)
			taken = before;
		regions = region_bytes(device, ring.ring_id);
		if (ioctl(device, DBK_IOC_DESTROY, &ring) < 0) {
			perror("memory");
			return 1;
		}
	}
	printf("TAKEN %ld\nREGIONS %llu\n", taken, regions);
	return 0;
}
