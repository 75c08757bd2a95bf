/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workqueues.d - which functions the kernel's workers carry out
 *
 * It counts for the whole machine: a worker is of no program.
 */
#pragma D option quiet

sdt:vmlinux::workqueue_execute_start
{
	@[func((uintptr_t)args[0]->func)] = count();
}
