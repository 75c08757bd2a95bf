/* SPDX-License-Identifier: Apache-2.0 */
/* Between two getppid() of the target. */
#pragma D option quiet

int between;

syscall::getppid:entry /pid == $target/ { between = !between; }

lockstat:::adaptive-acquire, lockstat:::adaptive-release /between && pid == $target/ { @mutexes[probename, arg0] = count(); }
lockstat:::adaptive-acquire-error /between && pid == $target/ { printf("ERROR %d\n", args[1]); }
lockstat:::adaptive-block /between && pid == $target/ { printf("MUTEX %d\n", args[1]); }
lockstat:::rw-block /between && pid == $target/ { printf("RWSEM-%s %d\n", args[2] == RW_READER ? "READER" : "WRITER", args[1]); }

syscall::setpgid:entry /pid == $target/ { self->setpgid = 1; }
syscall::setpgid:return /pid == $target/ { self->setpgid = 0; }

lockstat:::rw-acquire, lockstat:::rw-release
/self->setpgid/
{
	@rwlocks[probename, sym(arg0), args[1] == RW_READER ? "reader" : "writer"] = count();
}

lockstat:::spin-acquire, lockstat:::spin-release /between && pid == $target/ { @spinlocks[probename] = count(); }
lockstat:::spin-spin /between && pid == $target/ { @spun = count(); @longest = max(args[1]); }

fbt::native_queued_spin_lock_slowpath:entry /between && pid == $target/ { @contended = count(); }

dtaudit:::commit /between && pid == $target/ { printf("AUDIT %d %s\n", args[0]->ar_type, args[0]->ar_text); }

END
{
	printa("LOCK %s %x %@d\n", @mutexes);
	printa("RW %s %a %s %@d\n", @rwlocks);
	printa("SPIN %s %@d\n", @spinlocks);
	printa("SPUN %@d %@d %@d\n", @spun, @contended, @longest);
}
