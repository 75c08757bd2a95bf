/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsmrefused.d - what the security modules refuse, by hook
 *
 * security_capable is asked before much that is then done without the capability.
 */
#pragma D option quiet

mac_framework:::mac-check-err
/watched/
{
	printf("%Y %d %s[%d]: %s, errno %d\n", walltimestamp, uid, execname, pid, probefunc, -args[0]);
}
