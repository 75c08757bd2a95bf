# SPDX-License-Identifier: Apache-2.0
# The new kernel is a copy of the one that runs, with another number of the same length.
release=$(uname -r)
new=$(echo "$release" | sed 's/-[0-9]*-/-99-/')
cp /share/in/daybreak /usr/bin/
mkdir -p /usr/libexec/daybreak /usr/share/daybreak "/usr/lib/modules/$release/extra" /etc/kernel/postinst.d /etc/kernel/postrm.d
cp /share/in/early-init /usr/libexec/daybreak/
cp /share/in/boot.d /usr/share/daybreak/
cp /share/in/daybreak.ko "/usr/lib/modules/$release/extra/"
cp /share/in/daybreak-boot.service /usr/lib/systemd/system/
echo "kernels: $release, $new"

sums() {
	find /boot $(findmnt -n -o TARGET /boot/efi) /etc /var/lib/daybreak -xdev -type f ! -name random-seed -print0 2>/dev/null | sort -z | xargs -0 sha256sum >"$1"
}
# hook FOLDER RELEASE: as the packages of kernels run it
hook() {
	run-parts --exit-on-error --regex '^zzz-daybreak$' --arg="$2" --arg="/boot/vmlinuz-$2" "/etc/kernel/$1" 2>&1
}
status_has() {
	daybreak status >/tmp/status 2>&1
	if grep -q -e "$2" /tmp/status; then pass "$1"; else fail "$1" "$(tr '\n' ';' </tmp/status)"; fi
}

sums /before
holds install daybreak install --once
equal hook-is-last "$(run-parts --list /etc/kernel/postinst.d | tail -n 1)" /etc/kernel/postinst.d/zzz-daybreak
status_has armed "^next boot  traced, kernel $release"
holds first-time hook postinst.d "$release"
sums /installed
equal nothing-to-do "$(hook postinst.d "$release")$?" 0
sums /again
holds changes-nothing cmp /installed /again

cp "/boot/vmlinuz-$release" "/boot/vmlinuz-$new"
cp "/boot/initrd.img-$release" "/boot/initrd.img-$new"
mkdir -p "/usr/lib/modules/$new/extra"
holds added kernel-install add "$new" "/boot/vmlinuz-$new" "/boot/initrd.img-$new"
holds without-module hook postinst.d "$new"
status_has old-one-stays "^next boot  traced, kernel $release; without that, the machine boots kernel $new"
LC_ALL=C sed "s/vermagic=$release /vermagic=$new /" /share/in/daybreak.ko >"/usr/lib/modules/$new/extra/daybreak.ko"
equal new-one-is-said "$(hook postinst.d "$new" | grep -c "the next boot is traced, kernel $new;")" 1
status_has new-one "^next boot  traced, kernel $new$"
daybreak selftest >/tmp/selftest 2>&1
equal selftest "$? $(grep -c -e '^files  *ok: ' -e '^next boot  *ok: ' /tmp/selftest)" "0 2"
cat /tmp/selftest

holds removed kernel-install remove "$new"
rm -r "/boot/vmlinuz-$new" "/boot/initrd.img-$new" "/usr/lib/modules/$new"
holds hook-after-removal hook postrm.d "$new"
status_has old-one-again "^next boot  traced, kernel $release$"
equal nothing-left "$(find /boot /var/lib/daybreak /etc/kernel -name "*$new*" | wc -l)" 0
holds uninstall daybreak uninstall
sums /after
holds byte-identical cmp /before /after
