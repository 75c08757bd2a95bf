/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadsnoop.d - threads that a process makes itself
 */
#pragma D option quiet

proc:::lwp-create
/watched/
{
	printf("%Y %d %s[%d]: created thread %d\n", walltimestamp, uid, execname, pid,
	    args[0]->pr_lwpid);
}
