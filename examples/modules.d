/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.d - which kernel module was loaded when, and by whom
 *
 * sdt probes are the kernel's tracepoints; args[] has the types of their arguments, from BTF.
 */
#pragma D option quiet

sdt:vmlinux::module_load
{
	printf("%12d us  %-24s by %s\n", timestamp / 1000, stringof(args[0]->name), execname);
}
