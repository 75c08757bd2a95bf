/* SPDX-License-Identifier: Apache-2.0 */
syscall::reboot:entry
{
	trace(arg0);
}
