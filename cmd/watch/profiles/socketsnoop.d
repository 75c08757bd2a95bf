/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socketsnoop.d - sockets that are made, by address family and type
 */
#pragma D option quiet

syscall::socket:entry
/watched/
{
	printf("%Y %d %s[%d]: socket family %d type %d\n", walltimestamp, uid, execname, pid,
	    (int)arg0, (int)arg1 & 0xf);
}
