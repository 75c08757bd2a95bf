/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setuidsnoop.d - who asks for another user or group
 */
#pragma D option quiet

syscall::setuid:entry,
syscall::setgid:entry,
syscall::setfsuid:entry,
syscall::setfsgid:entry
/watched/
{
	printf("%Y %d %s[%d]: %s(%d)\n", walltimestamp, uid, execname, pid,
	    probefunc, (int)arg0);
}

syscall::setreuid:entry,
syscall::setregid:entry
/watched/
{
	printf("%Y %d %s[%d]: %s(%d, %d)\n", walltimestamp, uid, execname, pid,
	    probefunc, (int)arg0, (int)arg1);
}

syscall::setresuid:entry,
syscall::setresgid:entry
/watched/
{
	printf("%Y %d %s[%d]: %s(%d, %d, %d)\n", walltimestamp, uid, execname, pid,
	    probefunc, (int)arg0, (int)arg1, (int)arg2);
}
