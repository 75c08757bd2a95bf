/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swapin.d - pages that are read back from swap, by program
 */
#pragma D option quiet

vminfo:::pgswapin
/watched/
{
	@[execname] = sum(arg0);
}

dtrace:::END
{
	printa("%-16s %@10d\n", @);
}
