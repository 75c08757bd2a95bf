// SPDX-License-Identifier: Apache-2.0
//
// sack: sends two segments of ten bytes over a TCP connection, of which the first is lost for a second: the second is
// acknowledged by itself (SACK).
#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void need(const char *what, int holds)
{
	if (holds)
		return;
	perror(what);
	_exit(3);
}

/* What begins with 'a' after TCP's header is lost. */
static void lose(int receiver)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 12),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 2),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'a', 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, -1),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	need("filter", setsockopt(receiver, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0);
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(4244), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), sender = socket(AF_INET, SOCK_STREAM, 0), receiver, yes = 1;
	char text[20];

	need("listen", bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(listener, 1) == 0);
	need("connect", connect(sender, (struct sockaddr *)&address, sizeof(address)) == 0);
	receiver = accept(listener, NULL, NULL);
	need("accept", receiver >= 0 && setsockopt(sender, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) == 0);
	lose(receiver);
	need("write", write(sender, "aaaaaaaaaa", 10) == 10 && write(sender, "bbbbbbbbbb", 10) == 10);
	sleep(1);
	need("all of it", setsockopt(receiver, SOL_SOCKET, SO_DETACH_FILTER, &yes, sizeof(yes)) == 0 &&
				  recv(receiver, text, sizeof(text), MSG_WAITALL) == sizeof(text));
	return 0;
}
