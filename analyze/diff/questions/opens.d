/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opens.d - how long openat() took, us
 *
 * Asks for: tid and execname at syscall::openat:entry, tid at syscall::openat:return.
 */
#pragma D option quiet
#pragma D option aggsortrev

syscall::openat:entry
{
	self->began = timestamp;
	self->name = execname;
}

syscall::openat:return
/self->began/
{
	@us[self->name] = sum((timestamp - self->began) / 1000);
	self->began = 0;
}

dtrace:::END
{
	trunc(@us, 5);
	printa("  %@9d  %s\n", @us);
}
