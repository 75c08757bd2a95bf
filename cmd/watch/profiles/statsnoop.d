/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statsnoop.d - files whose attributes are asked for
 *
 * A path is copied at return: at entry its page may not be in memory yet. One that cannot be read ends its clause.
 */
#pragma D option quiet

syscall::stat:entry,
syscall::lstat:entry,
syscall::access:entry,
syscall::readlink:entry
/watched/
{
	self->path = arg0;
}

syscall::newfstatat:entry,
syscall::statx:entry,
syscall::faccessat:entry,
syscall::faccessat2:entry,
syscall::readlinkat:entry
/watched/
{
	self->path = arg1;
}

syscall::stat:return,
syscall::lstat:return,
syscall::access:return,
syscall::readlink:return,
syscall::newfstatat:return,
syscall::statx:return,
syscall::faccessat:return,
syscall::faccessat2:return,
syscall::readlinkat:return
/self->path/
{
	printf("%Y %d %s[%d]: %s %s, errno %d\n", walltimestamp, uid, execname, pid,
	    probefunc, copyinstr(self->path), errno);
}

syscall::stat:return,
syscall::lstat:return,
syscall::access:return,
syscall::readlink:return,
syscall::newfstatat:return,
syscall::statx:return,
syscall::faccessat:return,
syscall::faccessat2:return,
syscall::readlinkat:return
/self->path/
{
	self->path = 0;
}
