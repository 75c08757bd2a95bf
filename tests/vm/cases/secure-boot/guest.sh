# SPDX-License-Identifier: Apache-2.0
# Each boot is a stage: signed by the owner, unsigned, signed by a stranger, locked down (grub.cfg), and a signed image of
# `daybreak install`.
stage=$(sed 's/.*stage=\([0-9]\).*/\1/' /proc/cmdline)
next_boot() {
	sync
	reboot -f
}
# log TEXT: how many lines of the kernel log have it
log() {
	dmesg | grep -c -F "$1"
}
# loaded N: whether early-init loaded the module
loaded() {
	equal "$stage-loaded" "$(grep -c '^daybreak ' /proc/modules)" "$1"
}
mount -t securityfs securityfs /sys/kernel/security
equal "$stage-secure-boot" "$(log 'Secure boot enabled')" 1

case $stage in
1)
	loaded 1
	equal 1-locked-down "$(cat /sys/kernel/security/lockdown)" "none [integrity] confidentiality"
	equal 1-not-tainted-by-it "$(log 'module verification failed')" 0
	at_least 1-kernel-names-the-key "$(grep -c "$(cat /share/in/key-id)" /proc/keys)" 1
	holds 1-claim daybreak record --claim -o /share/out/boot.dbrk
	holds 1-unload rmmod daybreak
	refuses 1-unsigned-by-hand "" insmod /share/in/unsigned.ko
	at_least 1-kernel-says-why "$(log 'Loading of unsigned module is rejected')" 1
	next_boot
	;;
2)
	loaded 0
	equal 2-kernel-says-why "$(log 'Loading of unsigned module is rejected')" 1
	next_boot
	;;
3)
	loaded 0
	equal 3-kernel-says-why "$(log 'Loading of module with unavailable key is rejected')" 1
	next_boot
	;;
4)
	loaded 1
	equal 4-locked-down "$(cat /sys/kernel/security/lockdown)" "none integrity [confidentiality]"
	equal 4-refused "$(log 'the kernel is locked down (confidentiality)')" 1
	next_boot
	;;
5)
	loaded 1
	equal 5-traced "$(grep -c 'rdinit=/daybreak/early-init' /proc/cmdline)" 1
	equal 5-takes-signed-programs-only "$(cat /sys/module/daybreak/parameters/require_signed)" Y
	holds 5-claim daybreak record --claim -o /share/out/image.dbrk
	;;
esac
