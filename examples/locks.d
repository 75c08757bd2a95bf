/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.d - locks of the kernel that were not free: who waited how long, and where
 *
 * The tracepoints contention_begin and contention_end (Linux 5.19 and later) stand where a spinlock,
 * mutex, semaphore or rwsem is waited for, and nowhere else: a lock that is free costs nothing.
 */
#pragma D option quiet

sdt:vmlinux::contention_begin
{
	self->since = timestamp;
}

sdt:vmlinux::contention_end
/self->since/
{
	@us[execname] = quantize((timestamp - self->since) / 1000);
	@where[stack(6)] = sum(timestamp - self->since);
	self->since = 0;
}

dtrace:::END
{
	printa("%s waited, us%@d\n", @us);
	trunc(@where, 3);
	printa("%k%@d ns\n\n", @where);
}
