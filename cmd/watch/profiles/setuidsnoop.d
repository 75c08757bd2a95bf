/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setuidsnoop.d - who changes its user or group
 *
 * The second argument is one only of setreuid(), setresuid() and those of groups.
 */
#pragma D option quiet

syscall::setuid:entry,
syscall::setreuid:entry,
syscall::setresuid:entry,
syscall::setgid:entry,
syscall::setregid:entry,
syscall::setresgid:entry,
syscall::setfsuid:entry,
syscall::setfsgid:entry
/watched/
{
	printf("%Y %d %s[%d]: %s(%d, %d)\n", walltimestamp, uid, execname, pid,
	    probefunc, (int)arg0, (int)arg1);
}
