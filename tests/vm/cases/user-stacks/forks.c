/* SPDX-License-Identifier: Apache-2.0 */
/* forks: a page of code is mapped COUNT times, then come CHILDREN processes, one after the other, that ask by
 * getpgid(NUMBER, ADDRESS) what lies at each hundredth of them; then all are unmapped at once, and are asked for again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define PLACE 0x700000000000ul

static void ask(unsigned long mappings)
{
	unsigned long i;

	for (i = 0; i < mappings; i += 100)
		syscall(SYS_getpgid, i + 1, PLACE + i * PAGE);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

int main(int count, char **arguments)
{
	unsigned long mappings = count == 3 ? strtoul(arguments[1], NULL, 0) : 0, i;
	long children = count == 3 ? strtol(arguments[2], NULL, 0) : 0;
	int file = open("/lib/libplugin.so", O_RDONLY), status;
	void *plugin = dlopen("/lib/libplugin.so", RTLD_NOW);
	char *function = plugin ? dlsym(plugin, "plugin_first") : NULL;
	Dl_info known;

	if (mappings == 0 || file < 0 || !function || !dladdr(function, &known))
		fail("set-up");
	/* Its code lies in the file as far from the begin as in memory. */
	for (i = 0; i < mappings; i++)
		if (mmap((void *)(PLACE + i * PAGE), PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, function - (char *)known.dli_fbase) == MAP_FAILED)
			fail("mmap");
	while (children-- > 0) {
		pid_t child = fork();

		if (child == 0) {
			ask(mappings);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			fail("child");
	}
	if (munmap((void *)PLACE, mappings * PAGE))
		fail("munmap");
	usleep(5000); /* times of records are not as exact as those of mappings */
	ask(mappings);
	return 0;
}
