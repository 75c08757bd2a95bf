/* SPDX-License-Identifier: Apache-2.0 */
/* A name into the tail of the record. */
syscall::getppid:entry
{
	trace(execname);
}
