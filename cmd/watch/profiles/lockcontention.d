/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockcontention.d - waiting for locks of the kernel, us, by program and place
 *
 * A wait may begin several times before it ends, and others within it: the first of a lock counts.
 */
#pragma D option quiet

sdt:vmlinux::contention_begin
/watched && !self->began/
{
	self->lock = arg0;
	self->began = timestamp;
}

sdt:vmlinux::contention_end
/self->began && self->lock == arg0/
{
	@[execname, stack()] = sum((timestamp - self->began) / 1000);
	self->began = self->lock = 0;
}
