/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcpretrans.d - TCP segments that are sent again
 *
 * It is of the whole machine: a timer sends again, not the program.
 */
#pragma D option quiet

sdt:vmlinux::tcp_retransmit_skb
{
	printf("%Y port %d, %s port %d\n", walltimestamp, args[0]->__sk_common.skc_num,
	    args[0]->__sk_common.skc_family == AF_INET ? inet_ntoa(&args[0]->__sk_common.skc_daddr) :
	    inet_ntoa6(&args[0]->__sk_common.skc_v6_daddr), ntohs(args[0]->__sk_common.skc_dport));
}
