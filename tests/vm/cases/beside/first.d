/* SPDX-License-Identifier: Apache-2.0 */
/* When the first programs ran. */
#pragma D option quiet
#pragma D option bufsize=64k

dtrace:::BEGIN
{
	printf("BEGIN %d\n", timestamp);
}

proc:::exec-success
{
	printf("EXEC %d %d %s\n", timestamp, pid, execname);
}
