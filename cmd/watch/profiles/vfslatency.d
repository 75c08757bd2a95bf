/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfslatency.d - how long reads and writes of files, pipes, terminals take, us
 */
#pragma D option quiet

fbt:vmlinux:vfs_read:entry,
fbt:vmlinux:vfs_write:entry
/watched/
{
	self->began = timestamp;
}

fbt:vmlinux:vfs_read:return,
fbt:vmlinux:vfs_write:return
/self->began/
{
	@[probefunc] = quantize((timestamp - self->began) / 1000);
	self->began = 0;
}
