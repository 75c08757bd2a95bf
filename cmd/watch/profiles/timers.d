/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.d - which functions timers call
 *
 * It counts for the whole machine: a timer is of no program.
 */
#pragma D option quiet

sdt:vmlinux::timer_expire_entry
{
	@[func((uintptr_t)args[0]->function)] = count();
}

sdt:vmlinux::hrtimer_expire_entry
{
	@[func((uintptr_t)args[0]->function)] = count();
}
