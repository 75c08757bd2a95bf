/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.d - who had the CPUs, samples of a 97th of a second
 *
 * Asks for: pid, execname and unit at profile:::profile-97.
 */
#pragma D option quiet
#pragma D option aggsortrev

profile:::profile-97
/pid != 0/
{
	@samples[execname, unit] = count();
}

dtrace:::END
{
	trunc(@samples, 5);
	printa("  %@9d  %-16s %s\n", @samples);
}
