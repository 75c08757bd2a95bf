/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option bufsize=64k
syscall::getppid:entry
{
	@[arg0] = count();
}
