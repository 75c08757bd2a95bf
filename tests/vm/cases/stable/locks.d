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

/* The tracepoints' own counts of the same. */
lockstat:::rw-spin /between && pid == $target/ { @rw_spun = count(); @rw_longest = max(args[1]); }
sdt:::contention_begin /between && pid == $target && (args[1] == 3 || args[1] == 5)/ { @rw_began = count(); }
lockstat:::adaptive-spin, lockstat:::adaptive-block /between && pid == $target/ { @mutex[probename] = count(); @waits = count(); }
lockstat:::adaptive-spin /between && pid == $target/ { @mutex_longest = max(args[1]); }
sysinfo:::mutex_adenters /between && pid == $target/ { @entered = count(); }
sdt:::contention_begin /between && pid == $target && (args[1] & 32)/ { waits[tid, arg0] = 1; }
sdt:::contention_end /waits[tid, arg0]/ { @ended[arg1 == 0 ? "taken" : "given-up"] = count(); waits[tid, arg0] = 0; }

lockstat:::rw-downgrade /between && pid == $target/ { @downgraded[arg0 == (uint64_t)&curthread->mm->mmap_lock] = count(); }
syscall::munmap:return /between && pid == $target && arg0 == 0/ { @unmapped = count(); }

fbt::native_queued_spin_lock_slowpath:entry /between && pid == $target/ { @contended = count(); }

dtaudit:::commit /between && pid == $target/ { printf("AUDIT %d %s\n", args[0]->ar_type, args[0]->ar_text); }

END
{
	printa("LOCK %s %x %@d\n", @mutexes);
	printa("RW %s %a %s %@d\n", @rwlocks);
	printa("SPIN %s %@d\n", @spinlocks);
	printa("RW-SPUN %@d %@d %@d\n", @rw_spun, @rw_began, @rw_longest);
	printa("MUTEX-SPUN %@d\n", @mutex_longest);
	printa("MUTEXES %s %@d\n", @mutex);
	printa("ENTERED %@d\n", @entered);
	printa("WAITS %@d\n", @waits);
	printa("ENDED %s %@d\n", @ended);
	printa("DOWNGRADED %d %@d\n", @downgraded);
	printa("UNMAPPED %@d\n", @unmapped);
	printa("SPUN %@d %@d %@d\n", @spun, @contended, @longest);
}
