/* SPDX-License-Identifier: Apache-2.0 */
/* An offset of this kernel's is compiled in. */
syscall::getppid:entry
{
	trace(curthread->real_parent->tgid);
}
