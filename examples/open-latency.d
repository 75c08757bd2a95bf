/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open-latency.d - how long openat() takes, by program, and its slowest calls
 *
 * Counted in the kernel (aggregate=engine): it never wraps, however long it runs.
 */
#pragma D option aggregate=engine

syscall::openat:entry
{
	self->start = timestamp;
}

syscall::openat:return
/self->start/
{
	this->ns = timestamp - self->start;
	@["nanoseconds", execname] = quantize(this->ns);
	@slowest["slowest, ns", execname] = max(this->ns);
	self->start = 0;
}
