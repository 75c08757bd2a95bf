// SPDX-License-Identifier: Apache-2.0
//
// attack COMMAND...: what a user without rights tries.  Each runs as user 1000.
//
//   cost                    prints the nanoseconds of an open() that fails and of a getppid(): the least of 50 means of 40
//   names random|alike N    opens N names that do not exist, of one length, and prints the mean time in nanoseconds;
//                           "alike": one value of the engine's hash, were its secret {0, 0x9e3779b97f4a7c15}
//   tasks N                 N processes of as many names, escapes for a terminal among them; each calls getppid()
//   strings N               opens N names of 4000 bytes
//   reads PATH...           prints those that it could open
//   links TARGET PATH...    makes symbolic links
//   fills PATH              writes until there is no room
//
// And as root: attack terminal COMMAND..., which runs it on a terminal of its own and copies what it writes there.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void open_nowhere(const char *name)
{
	int fd = open(name, O_RDONLY);

	if (fd >= 0)
		close(fd);
}

static uint64_t cost_of(int is_open)
{
	uint64_t least = UINT64_MAX;

	for (int batch = 0; batch < 50; batch++) {
		uint64_t began = now_ns(), mean;

		for (int i = 0; i < 40; i++) {
			if (is_open)
				open_nowhere("/nowhere/at/all");
			else
				syscall(SYS_getppid);
		}
		mean = (now_ns() - began) / 40;
		least = mean < least ? mean : least;
	}
	return least;
}

static int is_name(uint64_t word)
{
	for (int i = 0; i < 8; i++)
		if ((word >> 8 * i & 0xff) == 0 || (word >> 8 * i & 0xff) == '/')
			return 0;
	return 1;
}

/* A word of eight letters. */
static uint64_t letters(void)
{
	uint64_t bits = random_word(), word = 0;

	for (int i = 0; i < 8; i++, bits >>= 8)
		word |= (uint64_t)('a' + bits % 16) << 8 * i;
	return word;
}

/* dbk_hash_word() of engine/types/hash.h with a secret that everybody knows. */
static uint64_t mixed(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0x9e3779b97f4a7c15ull;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Three words: one of letters, one that undoes what it did to the hash, one that is always the same. Before them the
 * engine takes in the first aggregation's number with the bytes of the key, then the type and the bytes of the string. */
static uint64_t open_names(int alike, long count)
{
	uint64_t spent = 0, began;

	for (long made = 0; made < count;) {
		uint64_t words[4] = { letters(), letters(), 0x4141414141414141ull, 0 };
		uint64_t start = mixed(mixed(0, (uint64_t)1 << 32 | 32), 8 | 24u << 16);

		if (alike)
			words[1] = mixed(start, words[0]) ^ 0x5a17c39d4b61e287ull;
		if (!is_name(words[1]))
			continue;
		began = now_ns();
		open_nowhere((const char *)words);
		spent += now_ns() - began;
		made++;
	}
	return spent / count;
}

static void make_tasks(long count)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();
		char name[32];

		if (child == 0) {
			snprintf(name, sizeof(name), "\033]0;own%05ld\a", i);
			prctl(PR_SET_NAME, name);
			syscall(SYS_getppid);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void open_strings(long count)
{
	static char name[4001];

	for (long i = 0; i < count; i++) {
		memset(name, 'x', 4000);
		name[snprintf(name, 12, "%09ld", i)] = 'x';
		open_nowhere(name);
	}
}

static void fill(const char *path)
{
	static char block[65536];
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

static int on_terminal(char **command)
{
	char bytes[4096];
	ssize_t length;
	int terminal, status = 1;
	pid_t child = forkpty(&terminal, NULL, NULL, NULL);

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0) {
		perror("forkpty");
		return 1;
	}
	while ((length = read(terminal, bytes, sizeof(bytes))) > 0)
		if (write(1, bytes, length) != length)
			return 1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (argc > 2 && strcmp(argv[1], "terminal") == 0)
		return on_terminal(argv + 2);
	if (setgid(1000) != 0 || setuid(1000) != 0) {
		perror("attack: user 1000");
		return 1;
	}
	if (strcmp(argv[1], "cost") == 0)
		printf("%lu %lu\n", cost_of(1), cost_of(0));
	else if (strcmp(argv[1], "names") == 0 && argc == 4)
		printf("%lu\n", open_names(strcmp(argv[2], "alike") == 0, atol(argv[3])));
	else if (strcmp(argv[1], "tasks") == 0 && argc == 3)
		make_tasks(atol(argv[2]));
	else if (strcmp(argv[1], "strings") == 0 && argc == 3)
		open_strings(atol(argv[2]));
	else if (strcmp(argv[1], "fills") == 0 && argc == 3)
		fill(argv[2]);
	else if (strcmp(argv[1], "reads") == 0)
		for (char **path = argv + 2; *path; path++) {
			int fd = open(*path, O_RDONLY);

			if (fd >= 0 || errno != EACCES)
				printf("%s\n", *path);
		}
	else if (strcmp(argv[1], "links") == 0 && argc > 3)
		for (char **path = argv + 3; *path; path++) {
			if (symlink(argv[2], *path) != 0)
				perror(*path);
		}
	else
		return 2;
	return 0;
}
