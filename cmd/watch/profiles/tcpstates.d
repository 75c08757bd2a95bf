/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcpstates.d - TCP connections that change their state
 *
 * A port of 0 is not chosen yet. Most changes come with a packet, while another program runs: a filter by process sees
 * its own calls only.
 */
#pragma D option quiet

string states[int];

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

sdt:vmlinux::inet_sock_set_state
/watched && args[0]->sk_protocol == 6/
{
	printf("%Y %d %s[%d]: port %d, %s port %d: %s to %s\n", walltimestamp, uid, execname, pid,
	    ntohs(((struct inet_sock *)args[0])->inet_sport),
	    args[0]->__sk_common.skc_family == AF_INET ? inet_ntoa(&args[0]->__sk_common.skc_daddr) :
	    inet_ntoa6(&args[0]->__sk_common.skc_v6_daddr), ntohs(args[0]->__sk_common.skc_dport),
	    states[args[1]], states[args[2]]);
}
