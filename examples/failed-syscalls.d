/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failed-syscalls.d - which system calls failed, for whom, and why (errno)
 *
 * A boot is full of them; what a person looks for is the one that is new.
 */
syscall:::return
/errno != 0/
{
	@[execname, probefunc, errno] = count();
}
