# SPDX-License-Identifier: Apache-2.0
mkdir -p /run

# until_said FILE TEXT: the recorder has said so
until_said() {
	until_it grep -q -e "$2" "$1"
}

# follow FOLDER OPTIONS...: a recorder in the background; $recorder is its process
follow() {
	folder=$1
	shift
	rm -f /tmp/status
	daybreak record --follow "$folder" --status-file /tmp/status --sync 200ms "$@" 2>>/tmp/log &
	recorder=$!
	until_said /tmp/status '"state": *"recording"'
}

refuses no-module "the daybreak module is not loaded" daybreak record --follow /tmp/none
equal no-module-no-folder "$(ls -d /tmp/none 2>/dev/null)" ""
holds load insmod /share/in/follow.ko
refuses no-such-ring "the rings that --ring names are not there" daybreak record --follow /tmp/none --ring 77

# Killed twice while the workload runs, and stopped in order: not a call is missing.
follow /tmp/rec --file-size 64k
workload 10
kill -KILL $recorder
wait $recorder
workload 10
follow /tmp/rec --file-size 64k
refuses two-in-one-folder "another daybreak records" daybreak record --follow /tmp/rec
workload 10
kill -KILL $recorder
wait $recorder
follow /tmp/rec --file-size 64k
workload 10
daybreak snapshot --pin --status-file /tmp/status
until_it grep -q '"name": *"signal"' /tmp/status
kill -HUP $recorder
workload 10

# A snapshot has the symbols of the recorder's folder; elsewhere it has its own, and moved away it says what it lacks.
symbols() {
	daybreak info --json "$1" | sed 's/.*"symbols": *\([0-9]*\).*/\1/; t; d'
}
daybreak snapshot -q -o /tmp/alone.dbrk
daybreak snapshot -o /tmp/rec/beside.dbrk 2>/tmp/said
at_least symbols-of-the-folder "$(grep -c "symbols are in /tmp/rec/.*-symbols.dbrk" /tmp/said)" 1
ls -l /tmp/alone.dbrk /tmp/rec >/share/out/sizes
at_least snapshot-is-small $(($(stat -c %s /tmp/alone.dbrk) - $(stat -c %s /tmp/rec/beside.dbrk))) 300000
equal has-all-symbols "$(symbols /tmp/rec/beside.dbrk)" "$(symbols /tmp/alone.dbrk)"
holds packs-whole daybreak pack /tmp/rec/beside.dbrk -o /tmp/whole.dbrk
equal whole-has-all-symbols "$(symbols /tmp/whole.dbrk)" "$(symbols /tmp/alone.dbrk)"
mv /tmp/rec/beside.dbrk /tmp/moved.dbrk
equal moved-has-none "$(symbols /tmp/moved.dbrk)" 0
equal moved-says-why "$(daybreak info /tmp/moved.dbrk | grep -c -e '-symbols.dbrk.*it is not there')" 1
kill -TERM $recorder
wait $recorder
equal ends-in-order $? 0
at_least files "$(find /tmp/rec -name '*-0*.dbrk' | wc -l)" 2
at_least signal-keeps-files "$(find /tmp/rec -name '*+signal*.dbrk' | wc -l)" 1
equal every-call-once "$(daybreak report /tmp/rec | grep -c CALL)" 5000
equal status-says-the-state "$(grep -c '"state": *"recording"' /tmp/status)" 1
cp -r /tmp/rec /share/out/rec

# A disk of 128 KiB, too small for rows: the oldest files go, the newest calls are there.
mkdir /tmp/small
mount -t tmpfs -o size=128k none /tmp/small
follow /tmp/small --rows --file-size 32k --max-size 64m
workload 300
kill -TERM $recorder
wait $recorder
equal small-disk-ends-in-order $? 0
at_least small-disk-has-the-newest "$(daybreak report /tmp/small 2>/dev/null | grep -c CALL)" 1000
at_least small-disk-is-reported "$(grep -c 'the oldest files make room' /tmp/log)" 1
umount /tmp/small

# Read-only at first: what the ring still has is written once it can be.
mkdir /tmp/fixed
mount -t tmpfs -o ro,size=8m none /tmp/fixed
refuses read-only-folder "cannot make /tmp/fixed/sub: Read-only file system" daybreak record --follow /tmp/fixed/sub
rm -f /tmp/status
daybreak record --follow /tmp/fixed --status-file /tmp/status --sync 200ms 2>>/tmp/log &
recorder=$!
until_said /tmp/status '"state": *"disk error"'
workload 10
at_least read-only-is-reported "$(grep -c 'recording in the kernel goes on' /tmp/log)" 1
mount -o remount,rw /tmp/fixed
until_said /tmp/status '"state": *"recording"'
workload 10
kill -TERM $recorder
wait $recorder
equal read-only-ends-in-order $? 0
at_least read-only-misses-nothing "$(daybreak report /tmp/fixed | grep -c CALL)" 2000
umount /tmp/fixed

# A program of its own outlives the recorder, and is found again.  Figures that cannot be written have one line in the log.
follow /tmp/own -s /share/in/own.d --metrics /nowhere/figures
workload 10
kill -KILL $recorder
wait $recorder
workload 10
follow /tmp/own -s /share/in/own.d
workload 10
kill -TERM $recorder
wait $recorder
equal unwritten-figures-have-one-line "$(grep -c 'cannot create /nowhere/figures.*; recording goes on' /tmp/log)" 1
equal own-program "$(daybreak report /tmp/own | grep -c OWN)" 3000
cat /tmp/log
holds unload rmmod daybreak
