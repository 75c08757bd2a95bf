/* SPDX-License-Identifier: Apache-2.0 */
/* Four bytes of a record of 16: the rest must be zero. */
syscall::getppid:entry
{
	trace(pid);
}
