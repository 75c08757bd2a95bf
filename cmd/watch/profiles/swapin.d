/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swapin.d - pages that are read back from swap, by program
 *
 * Linux 6.1 has the first function, 6.12 the second.
 */
#pragma D option quiet
#pragma D option zdefs

fbt:vmlinux:swap_readpage:entry,
fbt:vmlinux:swap_read_folio:entry
/watched/
{
	@[execname] = count();
}

dtrace:::END
{
	printa("%-16s %@10d\n", @);
}
