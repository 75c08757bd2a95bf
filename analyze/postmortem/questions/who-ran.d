/* SPDX-License-Identifier: Apache-2.0 */
/*
 * who-ran.d - who was last seen on each CPU, us before the end
 *
 * $1 is the time of the end, CLOCK_MONOTONIC.  Asks for pid and execname, of any probe.
 */
#pragma D option quiet

:::
/probeprov != "dtrace"/
{
	@us[cpu, pid, execname] = min(($1 - timestamp) / 1000);
}
