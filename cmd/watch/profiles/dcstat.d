/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcstat.d - names that the directory cache looks up locked, and new ones
 */
#pragma D option quiet

fbt:vmlinux:d_lookup:entry
/watched/
{
	@looked[execname] = count();
}

fbt:vmlinux:d_alloc:entry
/watched/
{
	@missed[execname] = count();
}

dtrace:::END
{
	printa("%-16s %@10d looked up %@10d new\n", @looked, @missed);
}
