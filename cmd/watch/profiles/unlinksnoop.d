/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unlinksnoop.d - files that are removed or renamed
 *
 * A path is copied at return: at entry its page may not be in memory yet. One that cannot be read ends its clause.
 */
#pragma D option quiet

syscall::unlink:entry,
syscall::rmdir:entry,
syscall::rename:entry
/watched/
{
	self->path = arg0;
}

syscall::unlinkat:entry,
syscall::renameat:entry,
syscall::renameat2:entry
/watched/
{
	self->path = arg1;
}

syscall::unlink:return,
syscall::rmdir:return,
syscall::rename:return,
syscall::unlinkat:return,
syscall::renameat:return,
syscall::renameat2:return
/self->path/
{
	printf("%Y %d %s[%d]: %s %s, errno %d\n", walltimestamp, uid, execname, pid,
	    probefunc, copyinstr(self->path), errno);
}

syscall::unlink:return,
syscall::rmdir:return,
syscall::rename:return,
syscall::unlinkat:return,
syscall::renameat:return,
syscall::renameat2:return
/self->path/
{
	self->path = 0;
}
