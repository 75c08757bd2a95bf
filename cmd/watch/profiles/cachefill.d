/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cachefill.d - pages of files that come into memory, by program
 */
#pragma D option quiet

sdt:vmlinux::mm_filemap_add_to_page_cache
/watched/
{
	@[execname] = count();
}

dtrace:::END
{
	printa("%-16s %@10d\n", @);
}
