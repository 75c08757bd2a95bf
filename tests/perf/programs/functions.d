/* SPDX-License-Identifier: Apache-2.0 */
/* A family of functions by its names, which few boots call: what finding and hooking them takes. */
#pragma D option bufsize=1m

fbt:vmlinux:tcp_*:
{
	trace(arg0);
}
