/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.d - when each command was first executed, ms after tracing began
 *
 * Asks for: curpsinfo->pr_psargs at proc:::exec-success.
 */
#pragma D option quiet
#pragma D option aggsortrev

dtrace:::BEGIN
{
	began = timestamp;
}

proc:::exec-success
{
	executed++;
	@first[curpsinfo->pr_psargs] = min((timestamp - began) / 1000000);
}

dtrace:::END
{
	printf("  %9d  executed; the last commands that came new\n", executed);
	trunc(@first, 5);
	printa("  %@9d  %s\n", @first);
}
