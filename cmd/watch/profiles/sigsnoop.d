/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigsnoop.d - signals that are sent, and to whom
 */
#pragma D option quiet

proc:::signal-send
/watched/
{
	printf("%Y %d %s[%d]: signal %d to %s[%d]\n", walltimestamp, uid, execname, pid,
	    args[2], args[1]->pr_fname, args[1]->pr_pid);
}
