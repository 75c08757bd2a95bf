/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last-probes.d - what each CPU recorded last, us before the end
 *
 * $1 is the time of the end, CLOCK_MONOTONIC.  Asks for nothing.
 */
#pragma D option quiet

:::
/probeprov != "dtrace"/
{
	@us[cpu, probeprov, probefunc, probename] = min(($1 - timestamp) / 1000);
}
