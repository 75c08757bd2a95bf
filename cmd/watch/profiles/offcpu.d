/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offcpu.d - how long programs wait, us, by program
 */
#pragma D option quiet

uint64_t left[uintptr_t];

sched:::off-cpu
/watched/
{
	left[(uintptr_t)curthread] = timestamp;
}

sched:::off-cpu
/left[arg0]/
{
	@[args[1]->pr_fname] = quantize((timestamp - left[arg0]) / 1000);
	left[arg0] = 0;
}
