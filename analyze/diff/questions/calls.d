/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.d - how many system calls each program made
 *
 * Asks for: execname at syscall:::entry.
 */
#pragma D option quiet
#pragma D option aggsortrev

syscall:::entry
{
	@calls[execname] = count();
}

dtrace:::END
{
	trunc(@calls, 5);
	printa("  %@9d  %s\n", @calls);
}
