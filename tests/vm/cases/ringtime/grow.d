/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call of two seconds, from a ring that starts with a fraction of that. */
#pragma D option quiet
#pragma D option bufsize=16k
#pragma D option segmentsize=4k
#pragma D option ringtime=2s

syscall:::entry
{
	printf("%d %d\n", cpu, timestamp);
}
