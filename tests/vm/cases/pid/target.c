/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: what can happen to a process while its functions are traced
 *
 *   target threads N COUNT   N threads call work() COUNT times each, and malloc() as often
 *   target forks N           work(), and N children that call it too; the last one by vfork()
 *   target waits             work() for each line it reads, whose text it is; then says "done"
 *   target leaves            the same in a thread, when the main one has ended
 *   target opens LIBRARY     calls plugged() of a library that it opens
 *   target moves LIBRARY     the same, moves its code elsewhere and calls it there, closes it, and all that again
 *   target sealed            work() where no other system call than exit() is allowed (seccomp)
 *   target traced STEPS      a child that its parent traces calls work(), stepping if STEPS is not 0
 *   target runs              work() until its input ends; succeeds when its text is then what it was
 *   target makes             work() from code that it has made, and named as a runtime does, in both ways; then reads a letter
 *   target sorts             work(7) from a function that libc's qsort() calls
 *   target locks             waits for and holds locks of each kind, and prints how often: KIND COUNT CALLER
 *   target deep N            a function that calls itself N times, and returns as often
 *   target leases FILE       holds the lease of a file: who opens it waits for its end
 *   target text              the bytes of its text, as they are in memory, as a number
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long count;
void *volatile kept;

__attribute__((noinline)) long work(long a, const char *text, long c, long d, long e, long f, long seventh)
{
	asm volatile("" ::: "memory");
	return a + (long)strlen(text) + c + d + e + f + seventh;
}

static void *thread(void *unused)
{
	(void)unused;
	for (long i = 0; i < count; i++) {
		void *memory = malloc(16 + (size_t)i % 100);

		kept = memory;
		work(i, "thread", 3, 4, 5, 6, 7);
		free(memory);
	}
	return NULL;
}

static void threads(int number)
{
	pthread_t all[64];

	for (int i = 0; i < number; i++)
		pthread_create(&all[i], NULL, thread, NULL);
	for (int i = 0; i < number; i++)
		pthread_join(all[i], NULL);
}

static void forks(int number)
{
	work(1, "parent", 3, 4, 5, 6, 7);
	for (int i = 0; i < number; i++) {
		pid_t child = i == number - 1 ? vfork() : fork();

		if (child == 0) {
			work(2, "child", 3, 4, 5, 6, 7);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	work(3, "parent", 3, 4, 5, 6, 7);
}

static unsigned long text_sum(void)
{
	extern const unsigned char __executable_start, etext;
	unsigned long sum = 0;

	for (const volatile unsigned char *at = &__executable_start; at < &etext; at++)
		sum = sum * 31 + *at;
	return sum;
}

static void waits(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin))
		printf("%ld %lx\n", work(1, line, 3, 4, 5, 6, 7), text_sum());
	puts("done");
}

__attribute__((noinline)) static int opens(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*plugged)(int) = library ? (int (*)(int))dlsym(library, "plugged") : NULL;

	return plugged ? plugged(7) != 8 : 3;
}

__attribute__((noinline)) static int moves(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(path, RTLD_NOW);
		int (*plugged)(int) = library ? (int (*)(int))dlsym(library, "plugged") : NULL;
		uintptr_t page = (uintptr_t)plugged & ~4095ul;
		void *moved;

		if (!plugged || plugged(i) != i + 1)
			return 3;
		/* The loader does not look at the old place any more: it is mapped anew before the library is closed. */
		moved = mremap((void *)page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(0x700000000000 + i * 8192));
		if (moved == MAP_FAILED ||
		    ((int (*)(int))((uintptr_t)moved + ((uintptr_t)plugged & 4095)))(i) != i + 1)
			return 4;
		if (mremap(moved, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)page) == MAP_FAILED || plugged(i) != i + 1)
			return 5;
		dlclose(library);
	}
	return 0;
}

__attribute__((noinline)) static long deep(long calls)
{
	return calls == 0 ? 0 : 1 + deep(calls - 1) + work(0, "", 0, 0, 0, 0, 0);
}

static int compare(const void *one, const void *other)
{
	return work(7, "sorted", 0, 0, 0, 0, 0) == 0 ? 0 : *(const char *)one - *(const char *)other;
}

__attribute__((noinline)) static int sorts(void)
{
	char text[] = "ba";

	qsort(text, 2, 1, compare);
	return text[0] != 'a';
}

static void *waits_in_thread(void *unused)
{
	waits();
	return unused;
}

/* What a runtime writes of one function that it made, for perf; it is found by its mapping. */
static int dump(uint64_t address, uint64_t bytes, const char *name)
{
	uint32_t name_bytes = strlen(name) + 1, pid = getpid();
	uint32_t header[10] = { 0x4a695444, 1, sizeof(header), 62, 0, pid };
	uint32_t begin[6] = { 0, sizeof(begin) + 4 * sizeof(uint64_t) + name_bytes + bytes, 0, 0, pid, pid };
	uint64_t function[4] = { address, address, bytes, 1 };
	char path[32];
	int file;

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", pid);
	file = open(path, O_CREAT | O_RDWR, 0666);
	return write(file, header, sizeof(header)) < 0 || write(file, begin, sizeof(begin)) < 0 ||
	       write(file, function, sizeof(function)) < 0 || write(file, name, name_bytes) < 0 ||
	       write(file, (void *)address, bytes) < 0 ||
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED;
}

static int makes(void)
{
	/* mov $work,%rax; sub $8,%rsp; call *%rax; add $8,%rsp; ret */
	unsigned char code[] = "\x48\xb8........\x48\x83\xec\x08\xff\xd0\x48\x83\xc4\x08\xc3";
	long (*function)(long, const char *, long, long, long, long, long) = work;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *other = page + 64;
	char path[32];
	FILE *map;
	int wrong;

	memcpy(code + 2, &function, sizeof(function));
	memcpy(page, code, sizeof(code));
	memcpy(other, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map || dump((uintptr_t)other, sizeof(code), "made at leisure"))
		return 3;
	fprintf(map, "%lx %zx made in a hurry\n", (unsigned long)page, sizeof(code));
	fclose(map);
	memcpy(&function, &page, sizeof(page));
	wrong = function(9, "made", 0, 0, 0, 0, 0) == 0;
	memcpy(&function, &other, sizeof(other));
	wrong |= function(9, "made", 0, 0, 0, 0, 0) == 0;
	getchar();
	return wrong;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

enum { MUTEX, READER, WRITER };

/* What a function did itself. */
struct lock_counts {
	const char *function;
	long blocks[3], holds[3];
};

static struct lock_counts of_locks = { .function = "locks" }, of_waits = { .function = "waits_for_locks" };

/* In the function that it stands in: who calls is part of the report.  It waits if another holds the lock. */
#define TAKE(counts, kind, try, lock, unlock, on)                                                                      \
	do {                                                                                                           \
		if (try(on) == 0) {                                                                                    \
			(counts).holds[kind]++;                                                                        \
			unlock(on);                                                                                    \
		} else {                                                                                               \
			(counts).blocks[kind]++;                                                                       \
		}                                                                                                      \
		lock(on);                                                                                              \
		(counts).holds[kind]++;                                                                                \
	} while (0)

static struct timespec in_10_ms(void)
{
	struct timespec when;

	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_nsec += 10000000;
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	return when;
}

/* Main holds all at first: the mutex, then the rwlock as writer, then as reader. */
__attribute__((noinline)) static void *waits_for_locks(void *unused)
{
	struct timespec soon = in_10_ms();

	/* A lock that was not got was waited for in vain, and is not held. */
	if (pthread_mutex_timedlock(&mutex, &soon) == 0)
		exit(3);
	TAKE(of_waits, MUTEX, pthread_mutex_trylock, pthread_mutex_lock, pthread_mutex_unlock, &mutex);
	soon = in_10_ms();
	pthread_cond_timedwait(&condition, &mutex, &soon); /* held before and after, not meanwhile */
	of_waits.holds[MUTEX]++;
	pthread_mutex_unlock(&mutex);
	TAKE(of_waits, READER, pthread_rwlock_tryrdlock, pthread_rwlock_rdlock, pthread_rwlock_unlock, &rwlock);
	usleep(400000); /* main waits to write */
	pthread_rwlock_unlock(&rwlock);
	usleep(200000); /* then it reads */
	TAKE(of_waits, WRITER, pthread_rwlock_trywrlock, pthread_rwlock_wrlock, pthread_rwlock_unlock, &rwlock);
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

static void print_counts(const struct lock_counts *counts)
{
	static const char *const kinds[] = { "Mutex", "R/W reader", "R/W writer" };

	for (int i = 0; i < 3; i++) {
		if (counts->blocks[i])
			printf("%s block %ld %s\n", kinds[i], counts->blocks[i], counts->function);
		if (counts->holds[i])
			printf("%s hold %ld %s\n", kinds[i], counts->holds[i], counts->function);
	}
}

__attribute__((noinline)) static void locks(void)
{
	pthread_t other;

	TAKE(of_locks, MUTEX, pthread_mutex_trylock, pthread_mutex_lock, pthread_mutex_unlock, &mutex);
	TAKE(of_locks, WRITER, pthread_rwlock_trywrlock, pthread_rwlock_wrlock, pthread_rwlock_unlock, &rwlock);
	pthread_create(&other, NULL, waits_for_locks, NULL);
	usleep(400000);
	pthread_mutex_unlock(&mutex);
	usleep(400000);
	pthread_rwlock_unlock(&rwlock);
	usleep(200000); /* the other reads */
	TAKE(of_locks, WRITER, pthread_rwlock_trywrlock, pthread_rwlock_wrlock, pthread_rwlock_unlock, &rwlock);
	pthread_rwlock_unlock(&rwlock);
	TAKE(of_locks, READER, pthread_rwlock_tryrdlock, pthread_rwlock_rdlock, pthread_rwlock_unlock, &rwlock);
	usleep(600000); /* the other waits to write */
	pthread_rwlock_unlock(&rwlock);
	pthread_join(other, NULL);
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&mutex);
		of_locks.holds[MUTEX]++;
		pthread_mutex_unlock(&mutex);
	}
	print_counts(&of_locks);
	print_counts(&of_waits);
}

static int sealed(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return 3;
	syscall(SYS_exit, work(5, "sealed", 0, 0, 0, 0, 0) != 11);
	return 4;
}

static int traced(int steps)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(work(6, "traced", 0, 0, 0, 0, 0) != 12);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

static int runs(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	unsigned long sum = text_sum();

	while (poll(&input, 1, 0) == 0)
		for (int i = 0; i < 1000; i++)
			work(i, "runs", 3, 4, 5, 6, 7);
	return text_sum() != sum;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && strcmp(argv[1], "threads") == 0) {
		count = atol(argv[3]);
		threads(atoi(argv[2]));
	} else if (argc == 3 && strcmp(argv[1], "forks") == 0) {
		forks(atoi(argv[2]));
	} else if (argc == 3 && strcmp(argv[1], "opens") == 0) {
		return opens(argv[2]);
	} else if (argc == 3 && strcmp(argv[1], "moves") == 0) {
		return moves(argv[2]);
	} else if (argc == 2 && strcmp(argv[1], "sorts") == 0) {
		return sorts();
	} else if (argc == 3 && strcmp(argv[1], "deep") == 0) {
		return deep(atol(argv[2])) != atol(argv[2]);
	} else if (argc == 2 && strcmp(argv[1], "locks") == 0) {
		locks();
	} else if (argc == 2 && strcmp(argv[1], "makes") == 0) {
		return makes();
	} else if (argc == 3 && strcmp(argv[1], "leases") == 0) {
		signal(SIGIO, SIG_IGN);
		if (fcntl(open(argv[2], O_RDONLY), F_SETLEASE, F_WRLCK) != 0)
			return 1;
		pause();
	} else if (argc == 2 && strcmp(argv[1], "sealed") == 0) {
		return sealed();
	} else if (argc == 3 && strcmp(argv[1], "traced") == 0) {
		return traced(atoi(argv[2]));
	} else if (argc == 2 && strcmp(argv[1], "runs") == 0) {
		return runs();
	} else if (argc == 2 && strcmp(argv[1], "waits") == 0) {
		waits();
	} else if (argc == 2 && strcmp(argv[1], "leaves") == 0) {
		pthread_t other;

		pthread_create(&other, NULL, waits_in_thread, NULL);
		syscall(SYS_exit, 0); /* pthread_exit() loads a library */
	} else {
		return 2;
	}
	return 0;
}
