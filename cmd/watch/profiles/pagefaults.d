/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagefaults.d - page faults of programs, the kernel's on their memory too
 */
#pragma D option quiet

vminfo:::as_fault
/watched/
{
	@[execname] = count();
}

dtrace:::END
{
	printa("%-16s %@10d\n", @);
}
