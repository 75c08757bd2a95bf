/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.d - when each command was first executed, ms after the recording began
 *
 * Asks for: curpsinfo->pr_psargs at proc:::exec-success.
 */
#pragma D option quiet

dtrace:::BEGIN
{
	began = timestamp;
}

proc:::exec-success
{
	@first[curpsinfo->pr_psargs] = min((timestamp - began) / 1000000);
}

dtrace:::END
{
	trunc(@first, -20);
	printa("  %@9d  %s\n", @first);
}
