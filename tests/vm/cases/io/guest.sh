# SPDX-License-Identifier: Apache-2.0
# Nothing else uses the disks: their counters before and after are what the recording says.
truncate -s 64M /tmp/file
holds loop-device losetup /dev/loop0 /tmp/file
disks="vda nvme0n1 sda loop0 ram0"
for disk in $disks; do
	tries=0
	while [ ! -b /dev/$disk ] && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
	cp /sys/block/$disk/stat /share/out/$disk.before
done
holds load insmod /share/in/io.ko
for disk in $disks; do
	holds use-$disk disk /dev/$disk
done
for disk in vda nvme0n1 sda; do
	holds use-partition-of-$disk disk /dev/$disk partition
done
holds loop-of-memory losetup /dev/loop2 /dev/ram1
holds use-loop-without-a-cache disk /dev/loop2 loop
# The blocks of a file system's own are read one by one.
cp /share/in/ext2 /tmp/ext2
holds loop-of-ext2 losetup /dev/loop1 /tmp/ext2
mkdir -p /mnt
holds mount mount -t ext4 /dev/loop1 /mnt
holds use-file-system dd if=/bin/busybox of=/mnt/busybox bs=64k conv=fsync
holds unmount umount /mnt
cp /tmp/ext2 /bin/busybox /proc/devices /share/out
for device in /sys/class/block/*; do
	echo "${device##*/} $(cat $device/dev)"
done >/share/out/numbers
holds record daybreak record --claim -o /share/out/io.dbrk
for disk in $disks; do
	cp /sys/block/$disk/stat /share/out/$disk.after
done
holds unload rmmod daybreak
losetup -d /dev/loop0
losetup -d /dev/loop1
losetup -d /dev/loop2
