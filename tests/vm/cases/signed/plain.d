/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option bufsize=64k
#pragma D option bufpolicy=ring

dtrace:::BEGIN
{
	trace("begin");
}
