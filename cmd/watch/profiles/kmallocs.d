/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmallocs.d - kernel memory by kmalloc(): bytes, by program and caller
 */
#pragma D option quiet

sdt:vmlinux::kmalloc
/watched/
{
	@[execname, func(arg0)] = sum(args[3]);
}
