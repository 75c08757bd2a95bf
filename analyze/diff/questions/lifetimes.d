/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifetimes.d - how long the processes of each command lived, ms together
 *
 * Asks for: pid and curpsinfo->pr_psargs at proc:::exec-success, pid and unit at proc:::exit.
 */
#pragma D option quiet
#pragma D option aggsortrev

string command[pid_t];

proc:::exec-success
{
	executed[pid] = timestamp;
	command[pid] = curpsinfo->pr_psargs;
}

proc:::exit
/executed[pid]/
{
	@lived[command[pid], unit] = sum((timestamp - executed[pid]) / 1000000);
	executed[pid] = 0;
	command[pid] = NULL;
}

dtrace:::END
{
	trunc(@lived, 5);
	printa("  %@9d  %s  %s\n", @lived);
}
