/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option bufsize=64k

fbt:vmlinux:[a-b]*:entry, fbt:vmlinux:[a-b]*:return
{
	@ = count();
}
