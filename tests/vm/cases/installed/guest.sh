# SPDX-License-Identifier: Apache-2.0
. /share/in/disk.sh
loader=grub
archives=/boot
if [ -d /boot/efi/loader ]; then
	loader=systemd-boot
	archives=/boot/efi
fi
archive=$archives/daybreak-$release.cpio
[ ! -e $archives/EFI/Linux/debian-$release.efi ] || archive=$archives/EFI/Linux/daybreak-$release.efi

# sums FILE: of all that an installation could touch
sums() {
	sums_of "$1" /boot $(findmnt -n -o TARGET /boot/efi) /etc /usr/lib/systemd /var/lib/daybreak -xdev -type f ! -name random-seed
}

# cannot_arm: a full file system takes no archive, and nothing is changed; nor where the firmware's variables are read-only
cannot_arm() {
	dd if=/dev/zero of=$archives/full bs=64k 2>/dev/null
	refuses 3-full "no room for $archive: .* MiB are needed there, and 0.0 MiB are free" daybreak install --once
	rm $archives/full
	sums /after
	holds 3-full-byte-identical cmp /before /after
	mount -o remount,ro /sys/firmware/efi/efivars
	refuses 3-read-only "is mounted read-only" daybreak install --once
	mount -o remount,rw /sys/firmware/efi/efivars
}

traced() {
	equal "$stage-traced" "$(grep -c rdinit=/daybreak/early-init /proc/cmdline) $(grep -c '^daybreak ' /proc/modules)" "$1"
}

case $stage in
1)
	traced "0 0"
	place_daybreak ConditionKernelCommandLine=rdinit=/daybreak/early-init
	# An option of the firmware's own besides the disk's default path: what is tried after one that fails.
	[ $loader = grub ] || holds 1-firmware-option bootctl install
	sums /before
	holds 1-install daybreak install --once
	sums /installed
	daybreak install --once >/share/out/again.txt 2>&1
	equal 1-again "$? $(grep -c 'nothing was changed' /share/out/again.txt)" "0 1"
	sums /again
	holds 1-changes-nothing cmp /installed /again
	[ $loader != grub ] || holds 1-grub-reads-it grub-script-check /boot/grub/custom.cfg
	status_line armed "^next boot  traced"
	next_boot
	;;
2)
	traced "1 1"
	status_line collected "^last boot  this one.*: traced, in /var/log/daybreak"
	cp /var/log/daybreak/* /share/out/
	equal 2-kernel-start "$(grep -c 'trace_event=initcall trace_clock=x86-tsc' /proc/cmdline) $(cat /sys/kernel/tracing/set_event)" "1 "
	next_boot
	;;
3)
	traced "0 0"
	status_line only-once "^last boot  this one.*not traced: it was not armed"
	holds 3-uninstall daybreak uninstall
	sums /after
	holds 3-byte-identical cmp /before /after
	[ $loader = grub ] || cannot_arm
	holds 3-install daybreak install --once
	holds 3-delete rm $archive
	next_boot
	;;
4)
	traced "0 0"
	status_line without-archive "^last boot  .*not traced: what install placed is not all there"
	holds 4-install daybreak install
	status_line armed "^next boot  traced"
	touch /die
	next_boot
	;;
5)
	traced "0 0"
	status_line died "^last boot  .*a boot before it was to be traced and did not come up"
	status_line not-armed "^next boot  not traced: the traced boot .* did not come up; to arm again: daybreak install /var/lib/daybreak/boot.d"
	holds 5-uninstall daybreak uninstall
	sums /after
	holds 5-byte-identical cmp /before /after
	;;
esac
