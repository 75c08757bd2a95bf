/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockcontention.d - how long programs wait for locks of the kernel, us, by program and by where
 */
#pragma D option quiet

sdt:vmlinux::contention_begin
/watched/
{
	self->began = timestamp;
}

sdt:vmlinux::contention_end
/self->began/
{
	@[execname, stack()] = sum((timestamp - self->began) / 1000);
	self->began = 0;
}
