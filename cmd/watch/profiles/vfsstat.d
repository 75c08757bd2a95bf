/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfsstat.d - calls of the file layer, by function
 *
 * What the kernel does without one of these is not there: files that open() creates, on 6.1 fdatasync().
 */
#pragma D option quiet

fbt:vmlinux:vfs_read:entry,
fbt:vmlinux:vfs_write:entry,
fbt:vmlinux:vfs_fsync_range:entry,
fbt:vmlinux:vfs_open:entry,
fbt:vmlinux:vfs_create:entry,
fbt:vmlinux:vfs_unlink:entry
/watched/
{
	@[probefunc] = count();
}

dtrace:::END
{
	printa("%-20s %@10d\n", @);
}
