/* SPDX-License-Identifier: Apache-2.0 */
/* Not those that KASAN and lockdep call at every step of the others, which would stall a guest. */
#pragma D option bufsize=64k

fbt:vmlinux:[a-h]*:entry
{
	@ = count();
}
