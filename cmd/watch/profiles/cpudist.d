/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpudist.d - how long programs keep a CPU, us, by program
 */
#pragma D option quiet

uint64_t came[int];

sdt:vmlinux::sched_switch
/came[cpu] && watched && pid != 0/
{
	@[execname] = quantize((timestamp - came[cpu]) / 1000);
}

sdt:vmlinux::sched_switch
{
	came[cpu] = timestamp;
}
