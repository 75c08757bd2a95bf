/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcpconnect.d - TCP connections that are asked for
 */
#pragma D option quiet

fbt:vmlinux:tcp_connect:entry
/watched/
{
	printf("%Y %d %s[%d]: connect to %s port %d\n", walltimestamp, uid, execname, pid,
	    args[0]->__sk_common.skc_family == AF_INET ? inet_ntoa(&args[0]->__sk_common.skc_daddr) :
	    inet_ntoa6(&args[0]->__sk_common.skc_v6_daddr), ntohs(args[0]->__sk_common.skc_dport));
}
