# SPDX-License-Identifier: Apache-2.0
# After the boot: a module that fails, firmware that is there and that is not, a unit that comes, is ready and goes.
holds module-with-firmware insmod /share/in/test_firmware.ko
refuses module-that-fails 'No such device' insmod /share/in/padlock-aes.ko
trigger=/sys/devices/virtual/misc/test_firmware/trigger_request
mkdir -p /lib/firmware
echo content >/lib/firmware/there.bin
holds firmware-that-is-there sh -c "printf there.bin >$trigger"
refuses firmware-that-is-not-there 'error' sh -c "printf missing.bin >$trigger"
holds module-goes rmmod test_firmware
holds unit-that-is-ready systemd-run --quiet --wait --unit ready-and-gone -p Type=notify -p NotifyAccess=all \
	sh -c 'systemd-notify --status=before; systemd-notify "STATUS=READY=1 is not said here"; systemd-notify --ready; sleep 1'
# A mount of a root, and moves, that are not the first process's.
mkdir -p /root /run/moved
holds mount-a-root mount -t tmpfs the-root /root
holds unmount-it umount /root
dmesg >/share/out/dmesg
systemctl show -p Id,Type,ControlGroup,ActiveEnterTimestampMonotonic,InactiveExitTimestampMonotonic '*.service' >/share/out/units
daybreak record --claim -o /share/out/boot.dbrk
equal recorded-whole $? 0
