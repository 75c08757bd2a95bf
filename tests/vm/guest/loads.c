// SPDX-License-Identifier: Apache-2.0
//
// loads TASKS TIMES FILE NAME PARAMETERS: that many processes, one after the other, load a module so many times, and take it
// out again when it came; none of them ends before all have.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Says "load N of process P ended: ERROR" after each.
static void load(int process, int times, char **argv)
{
	for (int i = 1; i <= times; i++) {
		int file = open(argv[0], O_RDONLY | O_CLOEXEC);
		long failed = syscall(SYS_finit_module, file, argv[2], 0);

		printf("load %d of process %d ended: %s\n", i, process, failed ? strerror(errno) : "loaded");
		fflush(stdout);
		close(file);
		if (!failed)
			syscall(SYS_delete_module, argv[1], O_NONBLOCK);
	}
}

int main(int argc, char **argv)
{
	int all[2], done[2];
	char byte;

	if (argc != 6 || pipe(all) != 0 || pipe(done) != 0) {
		fprintf(stderr, "usage: loads TASKS TIMES FILE NAME PARAMETERS\n");
		return 2;
	}
	for (int process = 1; process <= atoi(argv[1]); process++) {
		if (fork() == 0) {
			close(all[1]);
			load(process, atoi(argv[2]), argv + 3);
			_exit(write(done[1], "", 1) != 1 || read(all[0], &byte, 1) != 0);
		}
		if (read(done[0], &byte, 1) != 1)
			return 1;
	}
	close(all[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
