/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execsnoop.d - commands that are executed, with their arguments
 */
#pragma D option quiet

proc:::exec-success
/watched/
{
	printf("%Y %d %s[%d]: %s\n", walltimestamp, uid, execname, pid,
	    curpsinfo->pr_psargs);
}
