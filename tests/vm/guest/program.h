// SPDX-License-Identifier: Apache-2.0
//
// What the guest's programs share that ask /dev/daybreak: a program's file, the device, CHECK lines (checks.sh).
// Each ends the process with a message, status 2, when it cannot be had.
#pragma once

#include "formats/abi/ioctl.h"
#include "formats/abi/meta.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct program {
	void *bytes;
	size_t length;
};

static void check(const char *name, int holds, long seen)
{
	printf("CHECK %s %s %ld\n", name, holds ? "ok" : "fail", seen);
	fflush(stdout);
}

static struct program read_program(const char *path)
{
	struct program program = { 0 };
	struct stat status;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &status) < 0) {
		perror(path);
		exit(2);
	}
	program.length = status.st_size;
	program.bytes = malloc(program.length);
	if (!program.bytes || read(fd, program.bytes, program.length) != (ssize_t)program.length)
		exit(2);
	close(fd);
	return program;
}

static int open_device(void)
{
	int fd = open(DBK_DEVICE_PATH, O_RDONLY);

	if (fd < 0) {
		perror(DBK_DEVICE_PATH);
		exit(2);
	}
	return fd;
}

static inline void *map(int device, const struct dbk_ioc_region *region, size_t bytes, int protection, int flags)
{
	return mmap(NULL, bytes, protection, flags, device, region->offset);
}

static inline uint64_t records_of(const void *cpus)
{
	const struct dbk_meta_header *header = cpus;
	const struct dbk_meta_cpu *cpu = (const void *)((const char *)cpus + DBK_META_DATA_OFFSET);
	uint64_t records = 0;

	for (uint32_t at = DBK_META_DATA_OFFSET; at + sizeof(*cpu) <= header->committed_bytes; at += sizeof(*cpu))
		records += cpu++->records;
	return records;
}

static inline const void *find_metadata(int device, uint32_t ring_id, enum dbk_meta_kind kind)
{
	struct dbk_ioc_region region = { 0 };

	for (; ioctl(device, DBK_IOC_REGION, &region) == 0; region.index++) {
		const struct dbk_meta_header *header = map(device, &region, region.bytes, PROT_READ, MAP_SHARED);

		if (header != MAP_FAILED && region.kind == DBK_REGION_META && header->kind == kind &&
		    header->ring_id == ring_id)
			return header;
	}
	return NULL;
}
