/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offcpu.d - how long programs wait, us, by program
 *
 * State 0 is a thread that could run and is preempted, 0x80 one that is dead.
 */
#pragma D option quiet

uint64_t left[uintptr_t];

sched:::off-cpu
/watched && pid != 0 && curthread->__state != 0 && (curthread->__state & 0x80) == 0/
{
	left[(uintptr_t)curthread] = timestamp;
}

sched:::off-cpu
/left[arg0]/
{
	@[args[1]->pr_fname] = quantize((timestamp - left[arg0]) / 1000);
	left[arg0] = 0;
}
