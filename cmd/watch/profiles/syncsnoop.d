/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syncsnoop.d - calls that wait until data is on the disk, and how long
 */
#pragma D option quiet

syscall::sync:entry,
syscall::syncfs:entry,
syscall::fsync:entry,
syscall::fdatasync:entry,
syscall::sync_file_range:entry,
syscall::msync:entry
/watched/
{
	self->began = timestamp;
}

syscall::sync:return,
syscall::syncfs:return,
syscall::fsync:return,
syscall::fdatasync:return,
syscall::sync_file_range:return,
syscall::msync:return
/self->began/
{
	printf("%Y %d %s[%d]: %s took %d us\n", walltimestamp, uid, execname, pid,
	    probefunc, (timestamp - self->began) / 1000);
	self->began = 0;
}
