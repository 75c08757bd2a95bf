// SPDX-License-Identifier: Apache-2.0
//
// known sched|net|mib|files|operations|locks: does what probes of the stable providers report, and says what it was and what the kernel counted
// meanwhile.  getppid() is called before the first and after the last of it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/userfaultfd.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netpacket/packet.h>
#include <pthread.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static void fatal(const char *what)
{
	perror(what);
	_exit(3);
}

static void pause_ms(long ms)
{
	struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

// The number after `name` in a file of lines "name number"; with `header`, of /proc/net/snmp's pairs of lines.
static long number_in(const char *path, const char *header, const char *name)
{
	static char names[4096], line[4096];
	FILE *file = fopen(path, "r");
	long found = -1;

	if (!file)
		fatal(path);
	while (found < 0 && fgets(line, sizeof(line), file)) {
		char *name_at, *number_at, *names_rest, *numbers_rest;

		if (!header) {
			size_t bytes = strlen(name);

			if (strncmp(line, name, bytes) == 0 && strchr(" \t:", line[bytes]))
				found = atol(line + bytes + strspn(line + bytes, " \t:"));
			continue;
		}
		strcpy(names, line);
		if (!fgets(line, sizeof(line), file))
			break;
		if (strncmp(names, header, strlen(header)) != 0 || names[strlen(header)] != ':')
			continue;
		name_at = strtok_r(names, " \n", &names_rest);
		number_at = strtok_r(line, " \n", &numbers_rest);
		while (name_at && number_at && strcmp(name_at, name) != 0) {
			name_at = strtok_r(NULL, " \n", &names_rest);
			number_at = strtok_r(NULL, " \n", &numbers_rest);
		}
		if (name_at && number_at)
			found = atol(number_at);
	}
	fclose(file);
	return found;
}

static void run_and_wait(void)
{
	static const char status[] = "/proc/self/status";
	struct sched_param fifo = { .sched_priority = 7 }, more = { .sched_priority = 8 }, other = { 0 };
	struct tms times_used;
	cpu_set_t cpus;
	long slept, pushed;
	clock_t began;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		fatal("sched_setaffinity");
	slept = number_in(status, NULL, "voluntary_ctxt_switches");
	pushed = number_in(status, NULL, "nonvoluntary_ctxt_switches");
	syscall(SYS_getppid);
	for (int i = 0; i < 10; i++)
		pause_ms(5);
	for (int i = 0; i < 7; i++)
		sched_yield();
	if (setpriority(PRIO_PROCESS, 0, 5) < 0 || sched_setscheduler(0, SCHED_FIFO, &fifo) < 0 ||
	    sched_setparam(0, &more) < 0 || sched_setscheduler(0, SCHED_OTHER, &other) < 0)
		fatal("priority");
	times(&times_used);
	began = times_used.tms_utime + times_used.tms_stime;
	while (times_used.tms_utime + times_used.tms_stime < began + 10)
		times(&times_used);
	syscall(SYS_getppid);
	printf("SWITCHES %ld\n", number_in(status, NULL, "voluntary_ctxt_switches") - slept +
					 number_in(status, NULL, "nonvoluntary_ctxt_switches") - pushed);
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t loopback(int family, int port, union address *address)
{
	memset(address, 0, sizeof(*address));
	if (family == AF_INET) {
		address->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port),
						    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		return sizeof(address->v4);
	}
	address->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port),
					     .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	return sizeof(address->v6);
}

static int protocol; // of the sockets that are made next; 0: by their type

static int bound(int family, int type, int port)
{
	union address address;
	int yes = 1, fd = socket(family, type, protocol);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
	    bind(fd, &address.any, loopback(family, port, &address)) < 0)
		fatal("bind");
	return fd;
}

static int connected(int family, int type, int port, int to)
{
	union address address;
	int fd = bound(family, type, port);
	socklen_t bytes = loopback(family, to, &address);

	if (connect(fd, &address.any, bytes) == 0)
		return fd;
	if (errno != ECONNREFUSED)
		fatal("connect");
	close(fd);
	return -1;
}

static void pass_bytes(int from, int to, size_t bytes)
{
	static char buffer[4096];

	if (write(from, buffer, bytes) != (ssize_t)bytes || read(to, buffer, bytes) != (ssize_t)bytes)
		fatal("write and read");
}

// A connection that its client ends by a reset.
static void reset(int family)
{
	int listener = bound(family, SOCK_STREAM, 7003), client, server;
	struct linger none = { .l_onoff = 1 };

	if (listen(listener, 1) < 0)
		fatal("listen");
	client = connected(family, SOCK_STREAM, 7103, 7003);
	server = accept(listener, NULL, NULL);
	setsockopt(client, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(client);
	pause_ms(50);
	close(server);
	close(listener);
}

// An association, which its client ends.
static void associate(int family)
{
	int listener, client, server;

	protocol = IPPROTO_SCTP;
	listener = bound(family, SOCK_STREAM, 7005);
	if (listen(listener, 1) < 0)
		fatal("listen");
	client = connected(family, SOCK_STREAM, 7105, 7005);
	protocol = 0;
	server = accept(listener, NULL, NULL);
	if (client < 0 || server < 0)
		fatal("an association");
	pass_bytes(client, server, 10);
	pass_bytes(server, client, 1000);
	close(client);
	pause_ms(100);
	close(server);
	close(listener);
}

// A datagram to a closed port, and an echo: both are answered by ICMP.
static void ask_icmp(void)
{
	struct icmphdr echo = { .type = ICMP_ECHO, .checksum = (uint16_t)~ICMP_ECHO };
	int datagrams = bound(AF_INET, SOCK_DGRAM, 7302), raw = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	union address address;
	socklen_t bytes = loopback(AF_INET, 7999, &address);

	if (sendto(datagrams, "", 1, 0, &address.any, bytes) != 1 ||
	    sendto(raw, &echo, sizeof(echo), 0, &address.any, bytes) != sizeof(echo))
		fatal("sendto");
	close(datagrams);
	close(raw);
}

static void converse(int family)
{
	int listener = bound(family, SOCK_STREAM, 7001), client, server, yes = 1;

	if (listen(listener, 1) < 0)
		fatal("listen");
	client = connected(family, SOCK_STREAM, 7101, 7001);
	// Then each segment leaves in the socket how it came.
	if (family == AF_INET6 && setsockopt(client, IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes, sizeof(yes)) < 0)
		fatal("IPV6_RECVPKTINFO");
	server = accept(listener, NULL, NULL);
	if (client < 0 || server < 0)
		fatal("accept");
	for (int i = 0; i < 3; i++)
		pass_bytes(client, server, 10);
	pass_bytes(server, client, 1000);
	close(client);
	pause_ms(100);
	close(server);
	close(listener);
	if (connected(family, SOCK_STREAM, 7102, 7999) >= 0)
		fatal("a closed port");
	reset(family);
	associate(family);
	server = bound(family, SOCK_DGRAM, 7201);
	client = connected(family, SOCK_DGRAM, 7301, 7201);
	for (int i = 0; i < 4; i++)
		pass_bytes(client, server, 5);
	close(client);
	close(server);
}

static const struct counter {
	const char *path, *header, *name, *shown;
} counters[] = {
	{ "/proc/net/snmp", "Tcp", "OutSegs", "TCP-OUT" },
	{ "/proc/net/snmp", "Tcp", "InSegs", "TCP-IN" },
	{ "/proc/net/snmp", "Udp", "OutDatagrams", "UDP4-OUT" },
	{ "/proc/net/snmp", "Udp", "InDatagrams", "UDP4-IN" },
	{ "/proc/net/snmp6", NULL, "Udp6OutDatagrams", "UDP6-OUT" },
	{ "/proc/net/snmp6", NULL, "Udp6InDatagrams", "UDP6-IN" },
	{ "/proc/net/netstat", "IpExt", "OutOctets", "BYTES4-OUT" },
	{ "/proc/net/netstat", "IpExt", "InOctets", "BYTES4-IN" },
	{ "/proc/net/snmp6", NULL, "Ip6OutOctets", "BYTES6-OUT" },
	{ "/proc/net/sctp/snmp", NULL, "SctpOutSCTPPacks", "SCTP-OUT" },
	{ "/proc/net/sctp/snmp", NULL, "SctpInSCTPPacks", "SCTP-IN" },
	{ "/proc/net/snmp", "Tcp", "ActiveOpens", "tcpActiveOpens" },
	{ "/proc/net/snmp", "Tcp", "PassiveOpens", "tcpPassiveOpens" },
	{ "/proc/net/snmp", "Tcp", "AttemptFails", "tcpAttemptFails" },
	{ "/proc/net/snmp", "Tcp", "EstabResets", "tcpEstabResets" },
	{ "/proc/net/snmp", "Tcp", "InSegs", "tcpInSegs" },
	{ "/proc/net/snmp", "Tcp", "OutSegs", "tcpOutSegs" },
	{ "/proc/net/snmp", "Tcp", "RetransSegs", "tcpRetransSegs" },
	{ "/proc/net/snmp", "Tcp", "OutRsts", "tcpOutRsts" },
	{ "/proc/net/snmp", "Udp", "InDatagrams", "udpInDatagrams" },
	{ "/proc/net/snmp6", NULL, "Udp6InDatagrams", "udpInDatagrams" },
	{ "/proc/net/snmp", "Udp", "OutDatagrams", "udpOutDatagrams" },
	{ "/proc/net/snmp6", NULL, "Udp6OutDatagrams", "udpOutDatagrams" },
	{ "/proc/net/snmp", "Ip", "InReceives", "ipInReceives" },
	{ "/proc/net/snmp", "Ip", "InDelivers", "ipInDelivers" },
	{ "/proc/net/snmp", "Ip", "OutRequests", "ipOutRequests" },
	{ "/proc/net/snmp", "Ip", "ForwDatagrams", "ipForwDatagrams" },
	{ "/proc/net/snmp", "Ip", "ReasmReqds", "ipReasmReqds" },
	{ "/proc/net/snmp", "Icmp", "InMsgs", "icmpInMsgs" },
	{ "/proc/net/snmp", "Icmp", "InDestUnreachs", "icmpInDestUnreachs" },
	{ "/proc/net/snmp", "Icmp", "InEchos", "icmpInEchos" },
	{ "/proc/net/snmp", "Icmp", "OutMsgs", "icmpOutMsgs" },
	{ "/proc/net/snmp", "Icmp", "OutDestUnreachs", "icmpOutDestUnreachs" },
	{ "/proc/net/snmp", "Icmp", "OutEchoReps", "icmpOutEchoReps" },
	{ "/proc/net/snmp6", NULL, "Ip6InOctets", "BYTES6-IN" },
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static void converse_twice(void)
{
	converse(AF_INET);
	converse(AF_INET6);
	ask_icmp();
}

// What a socket is sent is lost, or is not.
static void lose(int fd, int is_lost)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { 1, &nothing };

	if (setsockopt(fd, SOL_SOCKET, is_lost ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &program, sizeof(program)) < 0)
		fatal("a filter");
}

// The answer to a connection's first packet is lost, and then what it is sent first: all are sent again.
static void send_again(int family)
{
	static char text[10];
	int listener = bound(family, SOCK_STREAM, 7004), client = bound(family, SOCK_STREAM, 7104), server;
	union address address;
	socklen_t bytes = loopback(family, 7004, &address);

	if (listen(listener, 1) < 0)
		fatal("listen");
	lose(client, 1);
	fcntl(client, F_SETFL, O_NONBLOCK);
	if (connect(client, &address.any, bytes) == 0 || errno != EINPROGRESS)
		fatal("connect");
	pause_ms(200);
	lose(client, 0);
	server = accept(listener, NULL, NULL);
	lose(server, 1);
	if (write(client, text, 10) != 10)
		fatal("write");
	pause_ms(100);
	lose(server, 0);
	if (read(server, text, 10) != 10)
		fatal("read");
	close(client);
	close(server);
	close(listener);
}

// Datagrams that are looked at first, one of them empty, and one that is larger than three packets.
static void look_first(int family)
{
	static char text[4000];
	int server = bound(family, SOCK_DGRAM, 7204), client = connected(family, SOCK_DGRAM, 7304, 7204);

	for (size_t bytes = 0; bytes <= 5; bytes += 5)
		if (send(client, text, bytes, 0) != (ssize_t)bytes ||
		    recv(server, text, sizeof(text), MSG_PEEK) != (ssize_t)bytes ||
		    recv(server, text, sizeof(text), 0) != (ssize_t)bytes)
			fatal("look first");
	pass_bytes(client, server, sizeof(text));
	close(client);
	close(server);
}

// A packet for another machine, which goes by once: the way there is the loopback (guest.sh), and its time is up then.
static void pass_by(void)
{
	struct {
		struct ether_header ethernet;
		struct iphdr ip;
	} __attribute__((packed)) packet = { { .ether_type = htons(ETHERTYPE_IP) },
					     { .version = 4, .ihl = 5, .tot_len = htons(sizeof(struct iphdr)), .ttl = 2,
					       .protocol = IPPROTO_NONE, .saddr = htonl(0x0a090901), .daddr = htonl(0x0a090909) } };
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex("lo"), .sll_halen = ETH_ALEN };
	uint16_t words[sizeof(struct iphdr) / 2];
	uint32_t sum = 0;
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	memcpy(words, &packet.ip, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		sum += words[i];
	packet.ip.check = ~(sum + (sum >> 16));
	if (sendto(fd, &packet, sizeof(packet), 0, (struct sockaddr *)&lo, sizeof(lo)) != sizeof(packet))
		fatal("a packet");
	close(fd);
}

static void be_strange(void)
{
	send_again(AF_INET);
	send_again(AF_INET6);
	look_first(AF_INET);
	look_first(AF_INET6);
	pass_by();
}

static void count_while(void (*something)(void), int (*is_asked_for)(int first))
{
	long before[COUNTERS], sum = 0;

	for (size_t i = 0; i < COUNTERS; i++)
		before[i] = number_in(counters[i].path, counters[i].header, counters[i].name);
	something();
	pause_ms(300);
	for (size_t i = 0; i < COUNTERS; i++) {
		sum += number_in(counters[i].path, counters[i].header, counters[i].name) - before[i];
		if (i + 1 < COUNTERS && strcmp(counters[i].shown, counters[i + 1].shown) == 0)
			continue;
		if (is_asked_for(counters[i].shown[0]))
			printf("%s %ld\n", counters[i].shown, sum);
		sum = 0;
	}
}

static void expect(int holds, const char *what)
{
	if (!holds)
		fatal(what);
}

// Names and what is done to them, in the order of stable/guest.sh.
static void use_names(void)
{
	char text[16];
	struct stat status;

	expect(mkdir("known-dir", 0700) == 0, "mkdir");
	expect(mknod("known-dir/a", S_IFREG | 0600, 0) == 0, "mknod");
	expect(link("known-dir/a", "known-dir/b") == 0, "link");
	expect(symlink("nowhere", "known-dir/c") == 0, "symlink");
	expect(rename("known-dir/b", "known-dir/d") == 0, "rename");
	expect(readlink("known-dir/c", text, sizeof(text)) == 7, "readlink");
	expect(stat("known-dir/a", &status) == 0 && stat("known-dir/none", &status) < 0, "stat");
	expect(unlink("known-dir/a") == 0 && unlink("known-dir/c") == 0 && unlink("known-dir/d") == 0, "unlink");
	expect(rmdir("known-dir") == 0, "rmdir");
}

static void move_bytes(int zero, int null)
{
	static char buffer[100];

	for (int i = 0; i < 12; i++)
		expect(read(zero, buffer, 100) == 100, "read");
	for (int i = 0; i < 9; i++)
		expect(write(null, buffer, 50) == 50, "write");
	for (int i = 0; i < 20; i++)
		expect(close(open("/dev/null", O_RDONLY)) == 0, "open");
}

static void *no_thread(void *argument)
{
	return argument;
}

static void use_others(void)
{
	int queue = msgget(IPC_PRIVATE, 0600), semaphore = semget(IPC_PRIVATE, 1, 0600);
	struct { long type; char text[8]; } message = { 1, "known" };
	struct sembuf up = { .sem_op = 1 };
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		expect(msgsnd(queue, &message, 8, 0) == 0 && msgrcv(queue, &message, 8, 0, 0) == 8, "msg");
	for (int i = 0; i < 3; i++)
		expect(semop(semaphore, &up, 1) == 0, "semop");
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphore, 0, IPC_RMID);
	for (int i = 0; i < 2; i++)
		expect(pthread_create(&thread, NULL, no_thread, NULL) == 0 && pthread_join(thread, NULL) == 0, "thread");
}

// A child that dies by a fault: of which signal it died is what wait() says.
static void fault(int divide)
{
	volatile int seven = 7, zero = 0;
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(divide ? seven / zero : *(volatile int *)(long)zero);
	expect(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "a fault");
	printf("FAULT %d\n", WTERMSIG(status));
}

// Touches pages for the first time, then writes to those that a child has too.
static void touch(char *pages)
{
	int ends[2], status;
	pid_t child;

	for (int i = 0; i < 64; i++)
		pages[i * 4096] = 1;
	expect(pipe(ends) == 0, "pipe");
	child = fork();
	if (child == 0)
		_exit(read(ends[0], &status, 1) != 1);
	for (int i = 0; i < 10; i++)
		pages[i * 4096] = 2;
	expect(write(ends[1], "", 1) == 1 && waitpid(child, &status, 0) == child && status == 0, "a child");
}

// A child that asks for what its user may not do.
static void be_refused(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(setuid(65534) != 0 || sethostname("known", 5) == 0 || errno != EPERM);
	expect(waitpid(child, &status, 0) == child && status == 0, "a refusal");
}

static void use_files(void)
{
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	char *pages = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;

	madvise(pages, 64 * 4096, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_SELF, &after);
	getrusage(RUSAGE_SELF, &before);
	syscall(SYS_getppid);
	move_bytes(zero, null);
	use_names();
	use_others();
	touch(pages);
	be_refused();
	fault(0);
	fault(1);
	fflush(stdout);
	syscall(SYS_getppid);
	getrusage(RUSAGE_SELF, &after);
	printf("FAULTS %ld\n", after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
}

// Each call that a file system is asked by, ten times.
static void use_operations(void)
{
	char bytes[64], name[32];
	struct iovec vector = { bytes, 8 };
	struct stat status;
	int fd, folder, fds[10];

	expect(mkdir("known-operations", 0700) == 0 && chdir("known-operations") == 0, "mkdir");
	fd = open("file", O_RDWR | O_CREAT, 0600);
	folder = open(".", O_RDONLY | O_DIRECTORY);
	expect(write(fd, bytes, 64) == 64 && symlink("file", "link") == 0 && folder >= 0, "file");
	syscall(SYS_getppid);
	for (int i = 0; i < 10; i++) {
		struct flock lock = { .l_type = i % 2 ? F_UNLCK : F_WRLCK, .l_whence = SEEK_SET };

		snprintf(name, sizeof(name), "new%d", i);
		fds[i] = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		snprintf(name, sizeof(name), "node%d", i);
		expect(fds[i] >= 0 && mknod(name, S_IFREG | 0600, 0) == 0, "new");
		expect(close(fds[i]) == 0 && ioctl(fd, TCGETS, bytes) < 0 && fcntl(fd, F_SETLK, &lock) == 0, "fcntl");
		expect(stat("file", &status) == 0 && fstat(fd, &status) == 0 && chmod("file", 0600 + i) == 0, "stat");
		expect(fsync(fd) == 0 && fdatasync(fd) == 0 && posix_fallocate(fd, 0, 4096) == 0, "fsync");
		expect(pread(fd, bytes, 8, 0) == 8 && preadv(fd, &vector, 1, 0) == 8, "pread");
		expect(pwrite(fd, bytes, 8, 0) == 8 && pwritev(fd, &vector, 1, 0) == 8, "pwrite");
		expect(readlink("link", bytes, 64) == 4 && getxattr("file", "user.none", bytes, 64) < 0, "readlink");
		expect(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED, "mmap");
		expect(prctl(PR_GET_DUMPABLE) >= 0, "prctl");
		syscall(SYS_getdents64, folder, bytes, sizeof(bytes));
	}
	syscall(SYS_getppid);
}

struct call {
	pthread_t thread;
	int fd;
	char *buffer;
	volatile int started;
	long result;
	int error;
	uint64_t ns; // what it took
};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void *call_write(void *data)
{
	struct call *call = data;
	uint64_t began = now_ns();

	call->started = 1;
	call->result = write(call->fd, call->buffer, 100);
	call->ns = now_ns() - began;
	return NULL;
}

static void *call_read(void *data)
{
	static char text[8192];
	struct call *call = data;

	call->started = 1;
	call->result = read(call->fd, text, sizeof(text));
	call->error = errno;
	return NULL;
}

static void begin(struct call *call, void *(*function)(void *))
{
	expect(pthread_create(&call->thread, NULL, function, call) == 0, "thread");
	while (!call->started)
		pause_ms(1);
}

// A page that nothing reads before it is given.
static char *page_to_come(int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (uintptr_t)page, 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	*uffd = syscall(SYS_userfaultfd, 0);
	expect(*uffd >= 0 && ioctl(*uffd, UFFDIO_API, &api) == 0 && ioctl(*uffd, UFFDIO_REGISTER, &range) == 0,
	       "userfaultfd");
	return page;
}

// One writes, and holds the file's position (a mutex) and its inode (an rw_semaphore) until its page is given; one
// waits for each of them.
static void hold_files(int position, int other)
{
	static char text[100];
	int uffd;
	struct call holder = { .fd = position, .buffer = page_to_come(&uffd) };
	struct call waiters[] = { { .fd = position, .buffer = text }, { .fd = other, .buffer = text } };
	struct uffdio_zeropage page = { .range = { (uintptr_t)holder.buffer, 4096 } };
	struct pollfd wanted = { .fd = uffd, .events = POLLIN };

	begin(&holder, call_write);
	expect(poll(&wanted, 1, 10000) == 1, "a page that is wanted");
	begin(&waiters[0], call_write);
	begin(&waiters[1], call_write);
	pause_ms(150);
	expect(ioctl(uffd, UFFDIO_ZEROPAGE, &page) == 0, "a page");
	pthread_join(holder.thread, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(waiters[i].thread, NULL);
		expect(waiters[i].result == 100, "write");
		printf("%s %llu\n", i == 0 ? "MUTEX" : "RWSEM", (unsigned long long)waiters[i].ns);
	}
}

static void on_signal(int number)
{
	(void)number;
}

// One waits for the kernel's next message, and holds the reader's mutex; another waits for that until a signal comes.
static void give_up(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	int log = open("/dev/kmsg", O_RDONLY);
	struct call holder = { .fd = log }, waiter = { .fd = log };

	sigaction(SIGUSR1, &action, NULL);
	expect(log >= 0 && lseek(log, 0, SEEK_END) == 0, "/dev/kmsg");
	begin(&holder, call_read);
	pause_ms(50);
	begin(&waiter, call_read);
	pause_ms(50);
	pthread_kill(waiter.thread, SIGUSR1);
	pthread_join(waiter.thread, NULL);
	pthread_kill(holder.thread, SIGUSR1);
	pthread_join(holder.thread, NULL);
	expect(waiter.result < 0 && waiter.error == EINTR, "a read that is interrupted");
}

// The audit subsystem is switched on, and off again, of which it makes a record.
static void audit(uint32_t enabled)
{
	struct {
		struct nlmsghdr header;
		struct audit_status status;
	} message = { { .nlmsg_len = sizeof(message), .nlmsg_type = AUDIT_SET, .nlmsg_flags = NLM_F_REQUEST },
		      { .mask = AUDIT_STATUS_ENABLED, .enabled = enabled } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);

	expect(fd >= 0 && sendto(fd, &message, sizeof(message), 0, (struct sockaddr *)&kernel, sizeof(kernel)) ==
				 sizeof(message), "audit");
	close(fd);
}

// Two threads call `something` for 200 ms.
static void *contend(void *something)
{
	uint64_t until = now_ns() + 200000000;

	while (now_ns() < until)
		((void (*)(void))something)();
	return NULL;
}

static void contend_for(void (*something)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, contend, something);
	contend(something);
	pthread_join(thread, NULL);
}

static void use_files_table(void) // a spin lock
{
	close(dup(0));
}

static void use_groups(void) // a rwlock_t, of all processes
{
	setsid(); // refused: it leads its group
}

static int known_file;

static void use_position(void) // a mutex
{
	static char text[65536];

	lseek(known_file, 0, SEEK_SET);
	read(known_file, text, sizeof(text));
}

// What is unmapped is freed with the memory's semaphore downgraded.
static void unmap(void)
{
	char *pages = mmap(NULL, 10 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 9; i++)
		expect(munmap(pages + i * 4096, 4096) == 0, "munmap");
}

static void use_locks(void)
{
	static char byte;
	int position = open("known-file", O_RDWR | O_CREAT, 0600), other = open("known-file", O_RDWR);

	expect(position >= 0 && other >= 0 && dup(position) >= 0, "known-file");
	syscall(SYS_getppid);
	for (int i = 0; i < 1234; i++)
		expect(read(position, &byte, 1) == 0, "read");
	for (int i = 0; i < 5; i++)
		expect(setpgid(0, 0) == 0, "setpgid");
	hold_files(position, other);
	give_up();
	audit(1);
	audit(0);
	unmap();
	contend_for(use_files_table);
	contend_for(use_groups);
	known_file = other;
	expect(ftruncate(other, 65536) == 0, "ftruncate");
	contend_for(use_position);
	fflush(stdout);
	syscall(SYS_getppid);
	unlink("known-file");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "sched") == 0)
		run_and_wait();
	else if (argc == 2 && strcmp(argv[1], "net") == 0)
		count_while(converse_twice, isgraph);
	else if (argc == 2 && strcmp(argv[1], "mib") == 0)
		count_while(be_strange, islower);
	else if (argc == 2 && strcmp(argv[1], "files") == 0)
		use_files();
	else if (argc == 2 && strcmp(argv[1], "operations") == 0)
		use_operations();
	else if (argc == 2 && strcmp(argv[1], "locks") == 0)
		use_locks();
	else
		return 2;
	return 0;
}
