/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.d - which kernel module was asked for or loaded when, and by whom
 *
 * sdt probes are the kernel's tracepoints; args[] has the types of their arguments, from BTF.  The
 * guest of ./quickstart has no modules, so that there the kernel only asks.
 */
#pragma D option quiet

dtrace:::BEGIN
{
	start = timestamp;
}

sdt:vmlinux::module_request
{
	printf("%8d ms  asks for  %-32s by %s\n", (timestamp - start) / 1000000, stringof(args[0]), execname);
}

sdt:vmlinux::module_load
{
	printf("%8d ms  loads     %-32s by %s\n", (timestamp - start) / 1000000, stringof(args[0]->name), execname);
}
