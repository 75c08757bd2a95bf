// SPDX-License-Identifier: Apache-2.0
//
// The scripts that load Daybreak from the distribution's own initramfs.
//
// initramfs-tools executes them, dracut sources them: so each is one subshell.  None can end a
// boot, or the making of an initramfs.
#pragma once

namespace daybreak::install {

/// The first script of the initramfs.  What is_for_recovery() names, and a crash kernel, are not
/// traced; a traced boot that panics comes back.
constexpr const char* kFirstScript = R"(#!/bin/sh
# Placed by `daybreak install`, taken away by `daybreak uninstall`: loads daybreak.ko before the rest of the initramfs.
# Not in a boot for repairs, in a crash kernel, or with `daybreak=off` on the kernel's command line.
[ "$1" = prereqs ] || (
	set -f
	if [ ! -x /daybreak/early-init ] || [ -e /proc/vmcore ]; then exit 0; fi
	read -r arguments </proc/cmdline
	for word in $arguments; do
		case $word in
		single | s | S | 1 | recovery | rescue | emergency) exit 0 ;;
		systemd.unit=rescue* | systemd.unit=emergency* | init=* | daybreak=off) exit 0 ;;
		esac
	done
	: >/run/daybreak-early
	read -r panic </proc/sys/kernel/panic
	[ "$panic" != 0 ] || echo 30 >/proc/sys/kernel/panic
	/daybreak/early-init
)
:
)";

/// The last one.  It is known from then on when a traced boot does not come up, and the next one is
/// a usual one.
constexpr const char* kLastScript = R"(#!/bin/sh
# Placed by `daybreak install`, taken away by `daybreak uninstall`: notes on the root that a traced boot is tried, until
# daybreak-boot.service knows what became of it.  Where the last one did not come up, or this cannot be noted, the boot
# is a usual one from here on.
[ "$1" = prereqs ] || (
	root=${rootmnt:-${NEWROOT:-/sysroot}}
	tried=$root/etc/daybreak-tried
	if [ ! -e /run/daybreak-early ] || [ ! -e /sys/module/daybreak ]; then exit 0; fi
	if [ -e "$tried" ]; then
		rm /run/daybreak-early
	elif (uname -r >"$tried") 2>/dev/null; then
		sync
		exit 0
	else
		mount -o remount,rw none "$root"
		uname -r >"$tried"
		sync
		mount -o remount,ro none "$root"
		[ ! -s "$tried" ] || exit 0
		echo "it was unloaded: $tried could not be written" >/run/daybreak-early
	fi
	rmmod daybreak
)
:
)";

/// A hook of initramfs-tools.  It runs after the scripts were copied and before their order is
/// written down.
constexpr const char* kInitramfsToolsHook = R"(#!/bin/sh
# Placed by `daybreak install`, taken away by `daybreak uninstall`: what loads Daybreak, for the initramfs of the kernel
# that is armed.  Never fails.
# shellcheck disable=SC2154 # version and DESTDIR are mkinitramfs's
state=/var/lib/daybreak
[ "$1" != prereqs ] || exit 0
{ read -r armed _ <$state/initramfs; } 2>/dev/null
if [ "$armed" != "$version" ] || ! (cd "$DESTDIR" && cpio -idu --quiet) <"$state/daybreak-$version.cpio"; then
	rm -f "$DESTDIR/scripts/init-top/00daybreak" "$DESTDIR/scripts/init-bottom/zz-daybreak"
fi
exit 0
)";

/// A module of dracut.
constexpr const char* kDracutModule = R"(#!/bin/bash
# Placed by `daybreak install`, taken away by `daybreak uninstall`: what loads Daybreak, for the initramfs of the kernel
# that is armed.
# shellcheck disable=SC2154 # kernel, initdir and moddir are dracut's
state=/var/lib/daybreak
check() {
	local armed
	{ read -r armed _ <$state/initramfs; } 2>/dev/null
	[ "$armed" = "$kernel" ]
}
depends() {
	return 0
}
install() {
	(cd "$initdir" && cpio -idu --quiet) <"$state/daybreak-$kernel.cpio"
	inst_multiple mount rm rmmod sync uname
	inst_hook cmdline 00 "$moddir/first.sh"
	inst_hook pre-pivot 99 "$moddir/last.sh"
}
)";

} // namespace daybreak::install
