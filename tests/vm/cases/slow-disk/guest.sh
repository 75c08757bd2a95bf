# SPDX-License-Identifier: Apache-2.0
# The disk takes 1.5 MB a second; the workload makes more, in rows.
mkdir -p /mnt /run
holds mount mount -t ext4 /dev/vda /mnt
holds load insmod /share/in/slow.ko
daybreak record --follow /mnt/rec --rows --status-file /tmp/status --sync 200ms 2>/tmp/log &
recorder=$!
tries=0
while [ ! -e /tmp/status ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done

# Until the recorder says that it could not copy all; before that, that the disk is slow.
tries=0
slow=0
while ! grep -q '"notCopied": *[1-9]' /tmp/status && [ $tries -lt 300 ]; do
	grep -q '"state": *"disk slow"' /tmp/status && slow=1
	workload 100 &
	workload 100
	wait $!
	tries=$((tries + 1))
done
equal says-slow $slow 1
at_least counts-what-went-round "$(sed -n 's/.*"notCopied": *\([0-9]*\).*/\1/p' /tmp/status | head -n 1)" 1
workload 100
# The kernel went on: the newest calls are in the ring, all of them.
daybreak snapshot --last 1s -q --status-file /none -o /share/out/newest.dbrk
at_least kernel-goes-on "$(daybreak report /share/out/newest.dbrk | grep -c CALL)" 1000
# What was copied reaches the disk when it is given the time.
tries=0
while ! grep -q '"queuedBytes": *0[,}]' /tmp/status && [ $tries -lt 600 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -TERM $recorder
wait $recorder
status=$?
equal ends-and-says-so $status 3
cp /tmp/status /tmp/log /share/out/
cp -r /mnt/rec /share/out/rec
holds unload rmmod daybreak
