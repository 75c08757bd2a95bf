/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ext4slower.d - reads, writes and syncs of ext4 that take 10 ms or more
 *
 * The module ext4 must be loaded.
 */
#pragma D option quiet

fbt:ext4:ext4_file_read_iter:entry,
fbt:ext4:ext4_file_write_iter:entry
/watched/
{
	self->file = ((struct kiocb *)arg0)->ki_filp;
	self->began = timestamp;
}

fbt:ext4:ext4_file_read_iter:return,
fbt:ext4:ext4_file_write_iter:return
/self->began && timestamp - self->began >= 10000000/
{
	printf("%Y %d %s[%d]: %s %s took %d us\n", walltimestamp, uid, execname, pid, probefunc,
	    stringof(self->file->f_path.dentry->d_name.name), (timestamp - self->began) / 1000);
}

fbt:ext4:ext4_file_read_iter:return,
fbt:ext4:ext4_file_write_iter:return
/self->began/
{
	self->file = 0;
	self->began = 0;
}

/* A write may sync. */
fbt:ext4:ext4_sync_file:entry
/watched/
{
	self->synced = (struct file *)arg0;
	self->syncing = timestamp;
}

fbt:ext4:ext4_sync_file:return
/self->syncing && timestamp - self->syncing >= 10000000/
{
	printf("%Y %d %s[%d]: %s %s took %d us\n", walltimestamp, uid, execname, pid, probefunc,
	    stringof(self->synced->f_path.dentry->d_name.name), (timestamp - self->syncing) / 1000);
}

fbt:ext4:ext4_sync_file:return
/self->syncing/
{
	self->synced = 0;
	self->syncing = 0;
}
