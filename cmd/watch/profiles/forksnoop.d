/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forksnoop.d - processes that are created, by whom
 */
#pragma D option quiet

proc:::create
/watched/
{
	printf("%Y %d %s[%d]: created %d\n", walltimestamp, uid, execname, pid,
	    args[0]->pr_pid);
}
