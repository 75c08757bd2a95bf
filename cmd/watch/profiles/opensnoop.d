/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opensnoop.d - files that are opened, with the descriptor or the error
 *
 * A path is copied at return: at entry its page may not be in memory yet. One that cannot be read ends its clause.
 */
#pragma D option quiet

syscall::open:entry,
syscall::creat:entry
/watched/
{
	self->path = arg0;
}

syscall::openat:entry,
syscall::openat2:entry
/watched/
{
	self->path = arg1;
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return,
syscall::openat2:return
/self->path/
{
	printf("%Y %d %s[%d]: %s = %d, errno %d\n", walltimestamp, uid, execname, pid,
	    copyinstr(self->path), (int)arg1, errno);
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return,
syscall::openat2:return
/self->path/
{
	self->path = 0;
}
