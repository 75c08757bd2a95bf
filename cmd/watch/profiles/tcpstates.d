/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcpstates.d - TCP connections that change their state
 *
 * A port of 0 is not chosen yet. Most changes come with a packet, while any program runs: the process is the one whose
 * call changed the socket's state last (connect(), listen(), shutdown(), close()), - if none has yet; the user is the
 * socket's. A filter by process sees what changes while it runs.
 */
#pragma D option quiet

string states[int], who[uint64_t];

dtrace:::BEGIN
{
	states[1] = "ESTABLISHED";
	states[2] = "SYN_SENT";
	states[3] = "SYN_RECV";
	states[4] = "FIN_WAIT1";
	states[5] = "FIN_WAIT2";
	states[6] = "TIME_WAIT";
	states[7] = "CLOSE";
	states[8] = "CLOSE_WAIT";
	states[9] = "LAST_ACK";
	states[10] = "LISTEN";
	states[11] = "CLOSING";
	states[12] = "NEW_SYN_RECV";
}

/* CLOSE to SYN_SENT or LISTEN; to FIN_WAIT1 and LAST_ACK; LISTEN to CLOSE. */
sdt:vmlinux::inet_sock_set_state
/args[0]->sk_protocol == 6 && ((args[1] == 7 && (args[2] == 2 || args[2] == 10)) || args[2] == 4 || args[2] == 9 ||
    (args[1] == 10 && args[2] == 7))/
{
	who[arg0] = strjoin(execname, strjoin("[", strjoin(lltostr(pid), "]")));
}

sdt:vmlinux::inet_sock_set_state
/watched && args[0]->sk_protocol == 6/
{
	printf("%Y %d %s: port %d, %s port %d: %s to %s\n", walltimestamp, args[0]->sk_uid.val, who[arg0] == "" ? "-" : who[arg0],
	    ntohs(((struct inet_sock *)args[0])->inet_sport),
	    args[0]->__sk_common.skc_family == AF_INET ? inet_ntoa(&args[0]->__sk_common.skc_daddr) :
	    inet_ntoa6(&args[0]->__sk_common.skc_v6_daddr), ntohs(args[0]->__sk_common.skc_dport),
	    states[args[1]], states[args[2]]);
}

sdt:vmlinux::inet_sock_set_state
/args[2] == 7/
{
	who[arg0] = 0;
}
