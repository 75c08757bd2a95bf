/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plockstat.d - plockstat(1)'s report: locks of a process (-c or -p), by whom
 *
 * Which were waited for or held, how often, and for how long, ns on average.  A lock was waited for when its call
 * went to sleep in the kernel (futex).  Every call traps twice, so a program that locks much is slower, and what it
 * holds is held longer.
 */
#pragma D option quiet
#pragma D option aggsortrev

dtrace:::BEGIN { began = timestamp; }

pid$target:libc.so.6:pthread_mutex_lock:entry,
pid$target:libc.so.6:pthread_mutex_timedlock:entry,
pid$target:libc.so.6:pthread_mutex_clocklock:entry,
pid$target:libc.so.6:pthread_mutex_trylock:entry
/watched/
{
	self->kind = 1;
	self->lock = arg0;
	self->caller = ucaller;
	self->slept = 0;
	self->began = timestamp;
}

pid$target:libc.so.6:pthread_rwlock_rdlock:entry,
pid$target:libc.so.6:pthread_rwlock_timedrdlock:entry,
pid$target:libc.so.6:pthread_rwlock_clockrdlock:entry,
pid$target:libc.so.6:pthread_rwlock_tryrdlock:entry
/watched/
{
	self->kind = 2;
	self->lock = arg0;
	self->caller = ucaller;
	self->slept = 0;
	self->began = timestamp;
}

pid$target:libc.so.6:pthread_rwlock_wrlock:entry,
pid$target:libc.so.6:pthread_rwlock_timedwrlock:entry,
pid$target:libc.so.6:pthread_rwlock_clockwrlock:entry,
pid$target:libc.so.6:pthread_rwlock_trywrlock:entry
/watched/
{
	self->kind = 3;
	self->lock = arg0;
	self->caller = ucaller;
	self->slept = 0;
	self->began = timestamp;
}

syscall::futex:entry
/self->kind/
{
	self->slept = 1;
}

pid$target:libc.so.6:pthread_mutex_lock:return,
pid$target:libc.so.6:pthread_mutex_timedlock:return,
pid$target:libc.so.6:pthread_mutex_clocklock:return,
pid$target:libc.so.6:pthread_mutex_trylock:return,
pid$target:libc.so.6:pthread_rwlock_rdlock:return,
pid$target:libc.so.6:pthread_rwlock_timedrdlock:return,
pid$target:libc.so.6:pthread_rwlock_clockrdlock:return,
pid$target:libc.so.6:pthread_rwlock_tryrdlock:return,
pid$target:libc.so.6:pthread_rwlock_wrlock:return,
pid$target:libc.so.6:pthread_rwlock_timedwrlock:return,
pid$target:libc.so.6:pthread_rwlock_clockwrlock:return,
pid$target:libc.so.6:pthread_rwlock_trywrlock:return
/self->kind && self->slept && (int)arg1 == 0/
{
	if (self->kind == 1) {
		mutex_blocks = 1;
		@mutex_blocks = count();
		@mutex_block[uaddr(self->lock), usym(self->caller)] = count();
		@mutex_block_ns[uaddr(self->lock), usym(self->caller)] = avg(timestamp - self->began);
	} else if (self->kind == 2) {
		reader_blocks = 1;
		@reader_blocks = count();
		@reader_block[uaddr(self->lock), usym(self->caller)] = count();
		@reader_block_ns[uaddr(self->lock), usym(self->caller)] = avg(timestamp - self->began);
	} else {
		writer_blocks = 1;
		@writer_blocks = count();
		@writer_block[uaddr(self->lock), usym(self->caller)] = count();
		@writer_block_ns[uaddr(self->lock), usym(self->caller)] = avg(timestamp - self->began);
	}
}

pid$target:libc.so.6:pthread_mutex_lock:return,
pid$target:libc.so.6:pthread_mutex_timedlock:return,
pid$target:libc.so.6:pthread_mutex_clocklock:return,
pid$target:libc.so.6:pthread_mutex_trylock:return,
pid$target:libc.so.6:pthread_rwlock_rdlock:return,
pid$target:libc.so.6:pthread_rwlock_timedrdlock:return,
pid$target:libc.so.6:pthread_rwlock_clockrdlock:return,
pid$target:libc.so.6:pthread_rwlock_tryrdlock:return,
pid$target:libc.so.6:pthread_rwlock_wrlock:return,
pid$target:libc.so.6:pthread_rwlock_timedwrlock:return,
pid$target:libc.so.6:pthread_rwlock_clockwrlock:return,
pid$target:libc.so.6:pthread_rwlock_trywrlock:return
/self->kind/
{
	held[tid, self->lock] = (int)arg1 == 0 ? timestamp : 0;
	kind[tid, self->lock] = (int)arg1 == 0 ? self->kind : 0;
	holder[tid, self->lock] = (int)arg1 == 0 ? self->caller : 0;
	self->kind = 0;
	self->lock = 0;
	self->caller = 0;
	self->slept = 0;
	self->began = 0;
}

pid$target:libc.so.6:pthread_mutex_unlock:entry,
pid$target:libc.so.6:pthread_rwlock_unlock:entry
/held[tid, arg0]/
{
	if (kind[tid, arg0] == 1) {
		mutex_holds = 1;
		@mutex_holds = count();
		@mutex_hold[uaddr(arg0), usym(holder[tid, arg0])] = count();
		@mutex_hold_ns[uaddr(arg0), usym(holder[tid, arg0])] = avg(timestamp - held[tid, arg0]);
	} else if (kind[tid, arg0] == 2) {
		reader_holds = 1;
		@reader_holds = count();
		@reader_hold[uaddr(arg0), usym(holder[tid, arg0])] = count();
		@reader_hold_ns[uaddr(arg0), usym(holder[tid, arg0])] = avg(timestamp - held[tid, arg0]);
	} else {
		writer_holds = 1;
		@writer_holds = count();
		@writer_hold[uaddr(arg0), usym(holder[tid, arg0])] = count();
		@writer_hold_ns[uaddr(arg0), usym(holder[tid, arg0])] = avg(timestamp - held[tid, arg0]);
	}
	held[tid, arg0] = 0;
	kind[tid, arg0] = 0;
	holder[tid, arg0] = 0;
}

/* Who waits for a condition does not hold its mutex meanwhile. */
pid$target:libc.so.6:pthread_cond_wait:entry,
pid$target:libc.so.6:pthread_cond_timedwait:entry,
pid$target:libc.so.6:pthread_cond_clockwait:entry
/held[tid, arg1]/
{
	mutex_holds = 1;
	@mutex_holds = count();
	@mutex_hold[uaddr(arg1), usym(holder[tid, arg1])] = count();
	@mutex_hold_ns[uaddr(arg1), usym(holder[tid, arg1])] = avg(timestamp - held[tid, arg1]);
	held[tid, arg1] = 0;
	self->condition_lock = arg1;
}

pid$target:libc.so.6:pthread_cond_wait:return,
pid$target:libc.so.6:pthread_cond_timedwait:return,
pid$target:libc.so.6:pthread_cond_clockwait:return
/self->condition_lock/
{
	held[tid, self->condition_lock] = timestamp;
	self->condition_lock = 0;
}

dtrace:::END
/mutex_blocks/
{
	printa("\nMutex block: %@d events in ", @mutex_blocks);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32A %A\n", @mutex_block, @mutex_block_ns);
}

dtrace:::END
/reader_blocks/
{
	printa("\nR/W reader block: %@d events in ", @reader_blocks);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32A %A\n", @reader_block, @reader_block_ns);
}

dtrace:::END
/writer_blocks/
{
	printa("\nR/W writer block: %@d events in ", @writer_blocks);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32A %A\n", @writer_block, @writer_block_ns);
}

dtrace:::END
/mutex_holds/
{
	printa("\nMutex hold: %@d events in ", @mutex_holds);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32A %A\n", @mutex_hold, @mutex_hold_ns);
}

dtrace:::END
/reader_holds/
{
	printa("\nR/W reader hold: %@d events in ", @reader_holds);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32A %A\n", @reader_hold, @reader_hold_ns);
}

dtrace:::END
/writer_holds/
{
	printa("\nR/W writer hold: %@d events in ", @writer_holds);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32A %A\n", @writer_hold, @writer_hold_ns);
}
