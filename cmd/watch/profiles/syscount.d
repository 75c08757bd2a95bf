/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscount.d - system calls, by program and call
 */
#pragma D option quiet

syscall:::entry
/watched/
{
	@[execname, probefunc] = count();
}

dtrace:::END
{
	printa("%-16s %-24s %@10d\n", @);
}
