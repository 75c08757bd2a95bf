/* SPDX-License-Identifier: Apache-2.0 */
/* What costs most, on as many functions as may be. */
#pragma D option bufsize=64k

fbt:vmlinux:vfs_*:entry, fbt:vmlinux:vfs_*:return, fbt:vmlinux:do_*:entry, fbt:vmlinux:schedule*:return
{
	@[stack(5), ustack(3)] = count();
}
