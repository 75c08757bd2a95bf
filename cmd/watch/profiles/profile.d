/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.d - which programs have the CPUs, in samples at 97 a second
 */
#pragma D option quiet

profile-97
/watched && pid != 0/
{
	@[execname, pid] = count();
}

dtrace:::END
{
	printa("%-16s %8d %@10d\n", @);
}
