/* SPDX-License-Identifier: Apache-2.0 */
/* An hour of all system calls in 64 KiB: what cannot be kept is reported. */
#pragma D option quiet
#pragma D option bufsize=16k
#pragma D option segmentsize=4k
#pragma D option ringtime=1h
#pragma D option ringmax=64k

syscall:::entry
{
	printf("%d %d\n", cpu, timestamp);
}
