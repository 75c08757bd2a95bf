// SPDX-License-Identifier: Apache-2.0
//
// What the guest's programs share that ask /dev/daybreak: a program's file, the device, CHECK lines (checks.sh).
// Each ends the process with a message, status 2, when it cannot be had.
#pragma once

#include "formats/abi/ioctl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
