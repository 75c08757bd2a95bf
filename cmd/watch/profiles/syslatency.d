/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syslatency.d - how long system calls take, us, by call
 */
#pragma D option quiet

syscall:::entry
/watched/
{
	self->began = timestamp;
}

/* They do not return. */
syscall::exit:entry,
syscall::exit_group:entry,
syscall::rt_sigreturn:entry
{
	self->began = 0;
}

syscall:::return
/self->began/
{
	@[probefunc] = quantize((timestamp - self->began) / 1000);
	self->began = 0;
}
