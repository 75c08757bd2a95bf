/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softirqs.d - how long soft interrupts take, ns, by number
 *
 * It counts for the whole machine. 1 is the timer, 2 and 3 the network, 4 disks, 6 tasklets, 7 the scheduler, 9 RCU.
 */
#pragma D option quiet

uint64_t began[int];

sdt:vmlinux::softirq_entry
{
	began[cpu] = timestamp;
}

sdt:vmlinux::softirq_exit
/began[cpu]/
{
	@[args[0]] = quantize(timestamp - began[cpu]);
	began[cpu] = 0;
}
