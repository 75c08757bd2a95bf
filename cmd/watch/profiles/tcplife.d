/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcplife.d - how long TCP connections live, and what went over them
 *
 * Bytes are those of the streams, each once. Who, and a filter, are of the thread that connected or accepted: a
 * connection that no program accepts is not shown.
 */
#pragma D option quiet

uint64_t opened[uintptr_t];
string who[uintptr_t];
int whose[uintptr_t];

sdt:vmlinux::inet_sock_set_state
/args[0]->sk_protocol == 6 && (args[2] == 3 || (args[2] == 2 && watched))/
{
	opened[(uintptr_t)args[0]] = timestamp;
}

sdt:vmlinux::inet_sock_set_state
/watched && args[0]->sk_protocol == 6 && args[2] == 2/
{
	who[(uintptr_t)args[0]] = execname;
	whose[(uintptr_t)args[0]] = pid;
}

fbt:vmlinux:inet_csk_accept:return
/watched && arg1 && opened[arg1]/
{
	who[arg1] = execname;
	whose[arg1] = pid;
}

sdt:vmlinux::inet_sock_set_state
/args[2] == 7 && whose[(uintptr_t)args[0]]/
{
	/* Of what was received the end is counted as a byte, once it came (SOCK_DONE). */
	this->tcp = (struct tcp_sock *)args[0];
	printf("%Y %s[%d]: port %d, %s port %d: %d bytes in, %d bytes out, %d ms\n", walltimestamp,
	    who[(uintptr_t)args[0]], whose[(uintptr_t)args[0]],
	    ntohs(((struct inet_sock *)args[0])->inet_sport),
	    args[0]->__sk_common.skc_family == AF_INET ? inet_ntoa(&args[0]->__sk_common.skc_daddr) :
	    inet_ntoa6(&args[0]->__sk_common.skc_v6_daddr), ntohs(args[0]->__sk_common.skc_dport),
	    this->tcp->bytes_received - (args[0]->__sk_common.skc_flags >> 1 & 1),
	    this->tcp->bytes_sent - this->tcp->bytes_retrans,
	    (timestamp - opened[(uintptr_t)args[0]]) / 1000000);
}

sdt:vmlinux::inet_sock_set_state
/args[2] == 7/
{
	opened[(uintptr_t)args[0]] = 0;
	who[(uintptr_t)args[0]] = 0;
	whose[(uintptr_t)args[0]] = 0;
}
