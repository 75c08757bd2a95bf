/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statsnoop.d - files whose attributes are asked for
 *
 * A path is copied at return: at entry its page may not be in memory yet. One that cannot be read ends its clause. Without
 * a path it is a descriptor's file that is asked for, as by fstat().
 */
#pragma D option quiet

syscall::stat:entry,
syscall::lstat:entry,
syscall::access:entry,
syscall::readlink:entry
/watched/
{
	self->path = arg0;
	self->asks = 1;
}

syscall::newfstatat:entry,
syscall::statx:entry,
syscall::faccessat:entry,
syscall::faccessat2:entry,
syscall::readlinkat:entry
/watched/
{
	self->descriptor = arg0;
	self->path = arg1;
	self->asks = 1;
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
/self->asks/
{
	this->path = self->path == 0 ? "" : copyinstr(self->path);
	printf("%Y %d %s[%d]: %s %s, errno %d\n", walltimestamp, uid, execname, pid, probefunc,
	    this->path != "" ? this->path : strjoin("descriptor ", lltostr((int)self->descriptor)), errno);
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
/self->asks/
{
	self->asks = self->path = self->descriptor = 0;
}
