/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpfsnoop.d - calls of bpf(), with their command
 */
#pragma D option quiet

syscall::bpf:entry
/watched/
{
	printf("%Y %d %s[%d]: bpf command %d\n", walltimestamp, uid, execname, pid,
	    (int)arg0);
}
