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

syscall:::return
/self->began/
{
	@[probefunc] = quantize((timestamp - self->began) / 1000);
	self->began = 0;
}
