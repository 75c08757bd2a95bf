/* SPDX-License-Identifier: Apache-2.0 */
syscall::getppid:entry
{
	@[arg0] = count();
}
