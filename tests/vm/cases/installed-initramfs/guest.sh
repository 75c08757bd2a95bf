# SPDX-License-Identifier: Apache-2.0
. /share/in/disk.sh
image=/boot/initrd.img-$release

# sums FILE: of all that an installation could touch, but for the initramfs, which differs each time it is made
sums() {
	sums_of "$1" /boot /etc /usr/lib/systemd /usr/lib/dracut /var/lib/daybreak -xdev -type f ! -path "$image"
}

# in_image COUNT: files of Daybreak's in the initramfs
in_image() {
	contents=/share/out/image-$stage.txt
	if [ -x /usr/bin/lsinitrd ]; then lsinitrd "$image" >$contents; else lsinitramfs "$image" >$contents; fi
	equal "$stage-in-image" "$(grep -c -i -E 'daybreak/|00daybreak|zz-daybreak|00-first|99-last' $contents)" "$1"
}

# traced MODULES: the command line is as it was, whatever is traced
traced() {
	equal "$stage-traced" "$(grep -c daybreak /proc/cmdline) $(grep -c '^daybreak ' /proc/modules)" "0 $1"
}

case $stage in
1)
	traced 0
	place_daybreak ConditionPathExists=/run/daybreak-early
	sums /before
	holds 1-install daybreak install --once --initramfs
	in_image 4
	daybreak install --once --initramfs >/share/out/again.txt 2>&1
	equal 1-again "$? $(grep -c 'nothing was changed' /share/out/again.txt)" "0 1"
	status_line armed "^next boot  traced"
	next_boot
	;;
2)
	traced 1
	status_line collected "^last boot  this one.*: traced, in /var/log/daybreak"
	cp /var/log/daybreak/* /share/out/
	equal 2-note "$(ls /etc/daybreak-tried 2>/dev/null)" ""
	in_image 0
	holds 2-install daybreak install --initramfs
	touch /die
	next_boot
	;;
3)
	traced 0
	status_line died "^last boot  .*a boot before it was to be traced and did not come up"
	status_line not-armed "^next boot  not traced: the traced boot .* did not come up; to arm again: daybreak install --initramfs"
	in_image 0
	rm /die
	holds 3-install daybreak install --initramfs
	# What loads is not the module of this kernel any more.
	mkdir /other
	(cd /other && cpio -id --quiet </var/lib/daybreak/daybreak-$release.cpio && head -c 1000 daybreak/daybreak.ko >cut && mv cut daybreak/daybreak.ko &&
		find daybreak | cpio -o -H newc --quiet >/var/lib/daybreak/daybreak-$release.cpio)
	if [ -x /usr/bin/dracut ]; then dracut -q --force $image $release; else update-initramfs -u -k $release; fi
	next_boot
	;;
4)
	traced 0
	status_line not-loaded "^last boot  this one.*early-init ran, and daybreak.ko is not loaded"
	in_image 0
	refuses 4-changed "was changed since it was installed" daybreak uninstall
	holds 4-uninstall daybreak uninstall --force
	sums /after
	holds 4-byte-identical cmp /before /after
	;;
esac
