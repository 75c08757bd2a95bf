/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chmodsnoop.d - files whose mode or owner is changed; -1: it stays
 *
 * A path is copied at return: at entry its page may not be in memory yet. One that cannot be read ends its clause.
 */
#pragma D option quiet

syscall::chmod:entry,
syscall::chown:entry,
syscall::lchown:entry
/watched/
{
	self->path = arg0;
	self->first = arg1;
	self->second = arg2;
}

syscall::fchmodat:entry,
syscall::fchownat:entry
/watched/
{
	self->path = arg1;
	self->first = arg2;
	self->second = arg3;
}

syscall::chmod:return,
syscall::fchmodat:return
/self->path/
{
	printf("%Y %d %s[%d]: %s %s to 0%o, errno %d\n", walltimestamp, uid, execname, pid,
	    probefunc, copyinstr(self->path), self->first, errno);
}

syscall::chown:return,
syscall::lchown:return,
syscall::fchownat:return
/self->path/
{
	printf("%Y %d %s[%d]: %s %s to %d:%d, errno %d\n", walltimestamp, uid, execname, pid,
	    probefunc, copyinstr(self->path), (int)self->first, (int)self->second, errno);
}

syscall::chmod:return,
syscall::fchmodat:return,
syscall::chown:return,
syscall::lchown:return,
syscall::fchownat:return
/self->path/
{
	self->path = self->first = self->second = 0;
}

syscall::fchmod:entry
/watched/
{
	printf("%Y %d %s[%d]: fchmod %s to 0%o\n", walltimestamp, uid, execname, pid,
	    fds[arg0].fi_pathname, arg1);
}

syscall::fchown:entry
/watched/
{
	printf("%Y %d %s[%d]: fchown %s to %d:%d\n", walltimestamp, uid, execname, pid,
	    fds[arg0].fi_pathname, (int)arg1, (int)arg2);
}
