// SPDX-License-Identifier: Apache-2.0
//
// workload [ROUNDS]: a fixed number of system calls of some kinds, always the same ones.
//
// One round is 100 getppid(), 20 times opening, reading from, writing to and closing a device, and
// 5 openat() that fail.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void device_round(const char *path, size_t bytes)
{
	static char buffer[4096];
	int fd = open(path, O_RDWR);

	if (fd < 0)
		_exit(3);
	if (syscall(SYS_read, fd, buffer, bytes) < 0 || syscall(SYS_write, fd, buffer, bytes) < 0)
		_exit(4);
	close(fd);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
		for (int i = 0; i < 20; i++)
			device_round("/dev/zero", 1u << (i % 12));
		for (int i = 0; i < 5; i++)
			if (open("/nowhere/at/all", O_RDONLY) >= 0)
				_exit(5);
	}
	return 0;
}
