/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xfsslower.d - reads, writes and syncs of xfs that take 10 ms or more
 *
 * The module xfs must be loaded.
 */
#pragma D option quiet

fbt:xfs:xfs_file_read_iter:entry,
fbt:xfs:xfs_file_write_iter:entry
/watched/
{
	self->file = ((struct kiocb *)arg0)->ki_filp;
	self->began = timestamp;
}

fbt:xfs:xfs_file_read_iter:return,
fbt:xfs:xfs_file_write_iter:return
/self->began && timestamp - self->began >= 10000000/
{
	printf("%Y %d %s[%d]: %s %s took %d us\n", walltimestamp, uid, execname, pid, probefunc,
	    stringof(self->file->f_path.dentry->d_name.name), (timestamp - self->began) / 1000);
}

fbt:xfs:xfs_file_read_iter:return,
fbt:xfs:xfs_file_write_iter:return
/self->began/
{
	self->file = 0;
	self->began = 0;
}

/* A write may sync. */
fbt:xfs:xfs_file_fsync:entry
/watched/
{
	self->synced = (struct file *)arg0;
	self->syncing = timestamp;
}

fbt:xfs:xfs_file_fsync:return
/self->syncing && timestamp - self->syncing >= 10000000/
{
	printf("%Y %d %s[%d]: %s %s took %d us\n", walltimestamp, uid, execname, pid, probefunc,
	    stringof(self->synced->f_path.dentry->d_name.name), (timestamp - self->syncing) / 1000);
}

fbt:xfs:xfs_file_fsync:return
/self->syncing/
{
	self->synced = 0;
	self->syncing = 0;
}
