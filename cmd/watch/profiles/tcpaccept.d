/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcpaccept.d - TCP connections that are accepted
 */
#pragma D option quiet

fbt:vmlinux:inet_csk_accept:return
/watched && arg1/
{
	printf("%Y %d %s[%d]: accepted %s port %d on port %d\n", walltimestamp, uid, execname, pid,
	    args[1]->__sk_common.skc_family == AF_INET ? inet_ntoa(&args[1]->__sk_common.skc_daddr) :
	    inet_ntoa6(&args[1]->__sk_common.skc_v6_daddr), ntohs(args[1]->__sk_common.skc_dport),
	    args[1]->__sk_common.skc_num);
}
