/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.d - when each unit executed its first program, ms after tracing began
 *
 * Asks for: unit at proc:::exec-success.
 */
#pragma D option quiet
#pragma D option aggsortrev

dtrace:::BEGIN
{
	began = timestamp;
}

proc:::exec-success
{
	@first[unit] = min((timestamp - began) / 1000000);
}

dtrace:::END
{
	trunc(@first, 5);
	printa("  %@9d  %s\n", @first);
}
