// SPDX-License-Identifier: Apache-2.0
//
// jumbo: sends SENT_BYTES over a TCP connection by IPv6 in segments as large as they may be (BIG TCP), in a network of its
// own, and says how many were received.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void fatal(const char *what)
{
	perror(what);
	_exit(3);
}

#define JUMBO_BYTES (190000)
#define SENT_BYTES  (1 << 20)

// A loopback interface of our own, up, that takes segments of more than 64 KiB.
static void wide_loopback(void)
{
	struct {
		struct nlmsghdr message;
		struct ifinfomsg link;
		struct { struct nlattr attribute; uint32_t bytes; } size[2];
	} request = {
		.message = { sizeof(request), RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, 0, 0 },
		.link = { .ifi_flags = IFF_UP, .ifi_change = IFF_UP },
		.size = { { { 8, IFLA_GSO_MAX_SIZE }, JUMBO_BYTES }, { { 8, IFLA_GRO_MAX_SIZE }, JUMBO_BYTES } },
	};
	struct { struct nlmsghdr message; struct nlmsgerr error; char rest[1024]; } answer;
	int kernel;

	if (unshare(CLONE_NEWNET) != 0)
		fatal("unshare");
	request.link.ifi_index = if_nametoindex("lo");
	kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (send(kernel, &request, sizeof(request), 0) < 0 || recv(kernel, &answer, sizeof(answer), 0) < 0)
		fatal("netlink");
	errno = -answer.error.error;
	if (answer.message.nlmsg_type != NLMSG_ERROR || errno)
		fatal("lo");
}

int main(void)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(4243), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	static char block[SENT_BYTES];
	int bytes = 4 << 20, listener, sender, receiver;
	ssize_t got;
	long received = 0;

	wide_loopback();
	listener = socket(AF_INET6, SOCK_STREAM, 0);
	sender = socket(AF_INET6, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(sender, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	if (bind(listener, (void *)&address, sizeof(address)) != 0 || listen(listener, 1) != 0 ||
	    connect(sender, (void *)&address, sizeof(address)) != 0)
		fatal("connect");
	receiver = accept(listener, NULL, NULL);
	if (fork() == 0)
		_exit(write(sender, block, SENT_BYTES) != SENT_BYTES);
	close(sender);
	while ((got = read(receiver, block, SENT_BYTES)) > 0)
		received += got;
	printf("RECEIVED %ld\n", received);
	wait(NULL);
	return 0;
}
