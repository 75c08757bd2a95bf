/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option destructive
#pragma D option bufsize=64k

syscall::getppid:entry
{
	raise(9);
}
