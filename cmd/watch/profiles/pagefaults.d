/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagefaults.d - page faults of programs
 */
#pragma D option quiet

sdt:vmlinux::page_fault_user
/watched/
{
	@[execname] = count();
}

dtrace:::END
{
	printa("%-16s %@10d\n", @);
}
