/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleepstacks.d - from where in the kernel programs go to sleep
 */
#pragma D option quiet

sched:::sleep
/watched/
{
	@[execname, stack()] = count();
}
