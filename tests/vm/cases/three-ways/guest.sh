# SPDX-License-Identifier: Apache-2.0
# The window is the middle one of three runs; before it, after it and beside it others make calls too.
# --last reaches back to the boot, however slow the machine is.
uptime_of() {
	cut -d ' ' -f 1 /proc/uptime
}

holds load insmod /share/in/three.ko
mkdir /run/recorder
daybreak record --follow /run/recorder --sync 300ms 2>/run/recorder.log &
recorder=$!
workload 3
# It reads the kernel's symbols before it writes anything.
until_it eval '[ -e "$(echo /run/recorder/*-000001.dbrk)" ]'
sleep 0.3
since=$(uptime_of)
sleep 0.1
workload 15 &
workload 15
wait $!
sleep 0.1
until=$(uptime_of)
sleep 0.3
workload 3
echo "$since $until" >/share/out/window

# Two snapshots at once, while calls go on; then all stands still, and the dump is taken.
while true; do workload 1; sleep 0.2; done &
load=$!
daybreak snapshot --last 900s -q -o /share/out/live-2.dbrk &
other=$!
holds snapshot daybreak snapshot --last 900s -o /share/out/live.dbrk
wait $other
equal snapshot-beside $? 0
kill $load
wait $load 2>/dev/null
sleep 1
# The recorder writes the maps of processes once a second.
images() {
	daybreak info "$1" | sed -n 's/^maps *\([0-9]*\) images.*/\1/p'
}
until_it eval '[ "$(images /run/recorder)" -ge "$(images /share/out/live.dbrk)" ]'
echo "GUEST stands still"
while [ ! -e /share/in/dumped ]; do sleep 0.1; done

mkdir /share/out/files
cp /run/recorder/*.dbrk /share/out/files
# The window of --trigger is short: what is left of it is reported, and by the exit status.
holds snapshot-short daybreak snapshot --last 500ms --trigger slow:call -q -o /share/out/short.dbrk

# The ring wraps: now the window is only in the recorder's files.
for round in 1 2 3 4 5 6 7 8 9 10; do
	workload 30 &
	workload 30
	wait $!
	sleep 0.2
done
sleep 0.5
daybreak snapshot --last 900s -q --status-file /nonexistent -o /share/out/gone.dbrk
equal window-gone-is-reported $? 3
holds snapshot-of-files daybreak snapshot --last 900s --dir /run/recorder -o /share/out/both.dbrk
kill $recorder
wait $recorder
equal recorder-ends $? 0
cp /run/recorder.log "$(command -v workload)" /share/out/
holds unload rmmod daybreak
