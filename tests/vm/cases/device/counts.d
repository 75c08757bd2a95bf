/* SPDX-License-Identifier: Apache-2.0 */
syscall::getppid:entry
{
	@ = count();
}
