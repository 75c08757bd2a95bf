# SPDX-License-Identifier: Apache-2.0
mkdir -p /run /tmp/disk
failures() {
	sed -n 's/.*"failures": *\([0-9]*\).*/\1/p' /tmp/status
}
more_failures() {
	[ "$(failures)" -ge "$1" ]
}
calls() {
	[ "$(daybreak report /tmp/disk/rec 2>/dev/null | grep -c CALL)" -ge "$1" ]
}

cat /share/in/ext2 >/dev/vda
holds dm-device dm_table /dev/vda linear '/dev/vda 0'
holds mounted mount -t ext2 /dev/dm-0 /tmp/disk
holds load insmod /share/in/follow.ko

daybreak record --follow /tmp/disk/rec --status-file /tmp/status --sync 200ms --file-size 16k --max-size 4m 2>>/tmp/log &
recorder=$!
until_it grep -q '"state": *"recording"' /tmp/status
workload 100
holds synced until_it calls 10000
sleep 1
ls /tmp/disk/rec >/tmp/good
at_least files "$(wc -l </tmp/good)" 3

# Every write of the disk fails now; the machine is nearly idle.
holds disk-fails dm_table /dev/vda flakey '/dev/vda 0 0 86400 1 error_writes'
workload 5
holds failing until_it grep -q '"state": *"disk error"' /tmp/status
holds retried until_it more_failures 8
workload 5
holds retried-again until_it more_failures 10
missing=0
for name in $(cat /tmp/good); do
	[ -e "/tmp/disk/rec/$name" ] || missing=$((missing + 1))
done
equal good-files-are-kept $missing 0
equal status-stays "$(grep -c '"state": *"disk error"' /tmp/status)" 1
equal reported-once "$(grep -c 'writing is tried again' /tmp/log)" 1
equal does-not-work "$(grep -c 'writing works again' /tmp/log)" 0

holds disk-heals dm_table /dev/vda linear '/dev/vda 0'
holds works-again until_it grep -q '"state": *"recording"' /tmp/status
workload 20
kill -TERM $recorder
wait $recorder
equal ends-in-order $? 0
equal works "$(grep -c 'writing works again' /tmp/log)" 1
cat /tmp/log

# What the disk itself has: not what was cached.
holds unmounted umount /tmp/disk
echo 3 >/proc/sys/vm/drop_caches
holds mounted-again mount -t ext2 -o ro /dev/dm-0 /tmp/disk
equal every-call-once "$(daybreak report /tmp/disk/rec | grep -c CALL)" 13000
holds no-losses daybreak report /tmp/disk/rec
ls -l /tmp/disk/rec
umount /tmp/disk
holds unload rmmod daybreak
