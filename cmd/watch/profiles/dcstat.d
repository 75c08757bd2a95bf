/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcstat.d - looks for a name in the directory cache that had to ask the file system
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
	printa("%-16s %@10d slow looks %@10d not there\n", @looked, @missed);
}
