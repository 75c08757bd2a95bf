/* SPDX-License-Identifier: Apache-2.0 */
/* Counting by program name: a string key for every event. */
syscall::getppid:entry
{
	@[execname] = count();
}
