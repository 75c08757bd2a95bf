/* SPDX-License-Identifier: Apache-2.0 */
/* The plainest enabling there is: one value of one system call, into the ring. */
syscall::getppid:entry
{
	trace(arg0);
}
