// SPDX-License-Identifier: Apache-2.0
//
// happenings KIND: does one kind of thing, a known number of times, for profiles of `daybreak watch`.
//
// Fails (status 1) when one of its calls does not do what it should; what a tracer must then find is
// in the table below, and in the case that runs it.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT 4242
#define BYTES 5000

static void need(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(1);
	}
}

static void *idle(void *nothing)
{
	return nothing;
}

/* Three threads. */
static void threads(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_t thread;

		need(!pthread_create(&thread, NULL, idle, NULL), "pthread_create");
		pthread_join(thread, NULL);
	}
}

/* Attaches to a child, which ends: ptrace(PTRACE_ATTACH, child) and a signal 9. */
static void attach(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	need(ptrace(PTRACE_ATTACH, child, 0, 0) == 0, "ptrace");
	need(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child, "kill");
}

/* Group 12, then user 34, who may not change the root. */
static void identity(void)
{
	need(setgid(12) == 0 && setuid(34) == 0, "setuid");
	need(chroot("/") < 0 && errno == EPERM, "chroot");
}

/* Command 5 (BPF_PROG_LOAD) with nothing in it, which is refused. */
static void bpf(void)
{
	char none[128] = { 0 };

	need(syscall(SYS_bpf, BPF_PROG_LOAD, none, sizeof(none)) < 0, "bpf");
}

/* A connection to itself, over which 5000 bytes go; the one who connects closes first. */
static void connection(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	static char bytes[BYTES];
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), server, on = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	need(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(listener, 1) == 0, "listen");
	need(connect(client, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	server = accept(listener, NULL, NULL);
	need(server >= 0 && write(client, bytes, BYTES) == BYTES, "write");
	need(recv(server, bytes, BYTES, MSG_WAITALL) == BYTES, "recv");
	close(client);
	need(read(server, bytes, 1) == 0, "read");
	close(server);
	usleep(100000); /* the last packets */
}

/* A socket of SCTP that listens, and is closed. */
static void sctp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);

	need(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(listener, 1) == 0, "listen");
	close(listener);
}

/* A file: made, its mode set, its data on the disk, renamed, removed. */
static void file(void)
{
	int fd = open("/tmp/one", O_CREAT | O_WRONLY, 0600);

	need(fd >= 0 && write(fd, "x", 1) == 1 && fsync(fd) == 0 && fdatasync(fd) == 0, "/tmp/one");
	need(chmod("/tmp/one", 0640) == 0 && rename("/tmp/one", "/tmp/two") == 0 && unlink("/tmp/two") == 0, "/tmp/two");
	need(open("/tmp/nothing", O_RDONLY) < 0 && errno == ENOENT, "/tmp/nothing");
}

/* What has newer calls beside it: 3000 bytes by pwritev(), 1000 by preadv(), 2000 of them by sendfile(); attributes of a
 * descriptor's file; signal 0 to itself by a descriptor. */
static void newer(void)
{
	static char bytes[3000];
	struct iovec parts[2] = { { bytes, 1000 }, { bytes + 1000, 2000 } };
	int fd = open("/tmp/one", O_CREAT | O_RDWR, 0600), to = open("/tmp/two", O_CREAT | O_WRONLY, 0600);
	int self = syscall(SYS_pidfd_open, getpid(), 0);
	off_t from = 1000;
	struct stat status;

	need(fd >= 0 && pwritev(fd, parts, 2, 0) == 3000 && preadv(fd, parts, 1, 0) == 1000, "/tmp/one");
	need(to >= 0 && sendfile(to, fd, &from, 2000) == 2000 && fstat(to, &status) == 0, "/tmp/two");
	need(self >= 0 && syscall(SYS_pidfd_send_signal, self, 0, NULL, 0) == 0, "pidfd_send_signal");
	unlink("/tmp/one");
	unlink("/tmp/two");
}

/* A file system in memory on /tmp/here. */
static void mounts(void)
{
	mkdir("/tmp/here", 0700);
	need(mount("memory", "/tmp/here", "tmpfs", 0, NULL) == 0 && umount2("/tmp/here", 0) == 0, "/tmp/here");
}

/* 1000 pages are touched, once each. */
static void pages(void)
{
	char *memory = mmap(NULL, 1000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(memory != MAP_FAILED && madvise(memory, 1000 * 4096, MADV_NOHUGEPAGE) == 0, "mmap");
	for (int i = 0; i < 1000; i++)
		memory[i * 4096] = 1;
}

/* Has a CPU for a second. */
static void busy(void)
{
	struct timespec time;

	for (clock_gettime(CLOCK_MONOTONIC, &time), time.tv_sec++;;) {
		struct timespec now;

		for (int i = 0; i < 10000; i++)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec))
			return;
	}
}

/* Eight threads that all make files in one folder. */
static void *crowd_one(void *number)
{
	for (int i = 0; i < 200; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/tmp/crowd-%ld", (long)number);
		close(open(path, O_CREAT | O_WRONLY, 0600));
		unlink(path);
	}
	return NULL;
}

static void crowd(void)
{
	pthread_t all[8];

	for (long i = 0; i < 8; i++)
		need(!pthread_create(&all[i], NULL, crowd_one, (void *)i), "pthread_create");
	for (int i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "threads", threads }, { "attach", attach }, { "identity", identity }, { "bpf", bpf },
	{ "connection", connection }, { "sctp", sctp }, { "file", file }, { "newer", newer }, { "mounts", mounts }, { "pages", pages },
	{ "busy", busy }, { "crowd", crowd },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].run();
			return 0;
		}
	fprintf(stderr, "happenings KIND\n");
	return 2;
}
