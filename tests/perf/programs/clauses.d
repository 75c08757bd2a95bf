/* SPDX-License-Identifier: Apache-2.0 */
/* Two records of one firing: the second says that it is of the same one. */
syscall::getppid:entry
{
	trace(arg0);
}

syscall::getppid:entry
{
	trace(arg0);
}
