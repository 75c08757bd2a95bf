/* SPDX-License-Identifier: Apache-2.0 */
/* Small: many of it fit into a small guest. */
#pragma D option bufsize=64k

dtrace:::BEGIN
{
	trace("begin");
}
