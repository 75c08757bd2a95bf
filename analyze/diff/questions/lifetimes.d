/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifetimes.d - how long the processes of each program lived, ms together
 *
 * Asks for: pid at proc:::exec-success, pid and execname at proc:::exit.
 */
#pragma D option quiet
#pragma D option aggsortrev

proc:::exec-success
{
	executed[pid] = timestamp;
}

proc:::exit
/executed[pid]/
{
	@lived[execname] = sum((timestamp - executed[pid]) / 1000000);
	executed[pid] = 0;
}

dtrace:::END
{
	trunc(@lived, 8);
	printa("  %@9d  %s\n", @lived);
}
