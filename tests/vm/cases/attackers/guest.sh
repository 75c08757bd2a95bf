# SPDX-License-Identifier: Apache-2.0
# A nanosecond is an instruction here. What a firing costs is what an open() or a getppid() costs more than before.
cd /tmp
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
chmod 1777 /tmp
echo untouched >/untouched
chmod 600 /untouched

# costs: of an open() and of a getppid(), into $open_ns and $call_ns
costs() {
	attack cost >costs
	read -r open_ns call_ns <costs
}

# at_most_twice NAME NS BEFORE
at_most_twice() {
	if [ "$2" -gt 0 ] && [ "$2" -le $((2 * $3)) ]; then pass "$1" "$2 after $3"; else fail "$1" "$2 after $3"; fi
}

costs
untraced_open=$open_ns
untraced_call=$call_ns
holds load insmod /share/in/attackers.ko
equal may-not-open "$(attack reads /dev/daybreak)" ""
daybreak dtrace -s /share/in/flood.d -o /tmp/flooded 2>/tmp/said &
tracer=$!
until_it grep -q go /tmp/flooded
costs
open_firing=$((open_ns - untraced_open))
call_firing=$((call_ns - untraced_call))

# Names that collide cost what others cost, and what everybody calls costs what it did, whatever the tables hold.
random_ns=$(attack names random 2000)
at_most_twice names-alike $(($(attack names alike 2000) - untraced_open)) $((random_ns - untraced_open))
attack tasks 3000
attack strings 500
attack names random 20000 >/dev/null
random_ns=$(attack names random 2000)
at_most_twice names-alike-in-a-flood $(($(attack names alike 2000) - untraced_open)) $((random_ns - untraced_open))
costs
at_most_twice open-in-a-flood $((open_ns - untraced_open)) $open_firing
at_most_twice call-in-a-flood $((call_ns - untraced_call)) $call_firing
kill -INT $tracer
wait $tracer
at_least aggregations-were-full "$(grep -c 'aggregation drop' /tmp/said)" 1
at_least variables-were-full "$(grep -c 'dynamic variable drop' /tmp/said)" 1

# Links where root is about to write.
attack links /untouched status status.new metrics metrics.new claimed.dbrk snapshot.dbrk
daybreak record --follow /tmp/rec --status-file /tmp/status --metrics /tmp/metrics 2>/tmp/log &
recorder=$!
until_it grep -q '"state": *"recording"' /tmp/status
attack tasks 5
holds snapshot daybreak snapshot --last 60s -q --status-file /tmp/status -o /tmp/snapshot.dbrk
kill -TERM $recorder
wait $recorder
equal follow-ends-in-order $? 0
mkdir -m 1777 /tmp/full
mount -t tmpfs -o size=64k,mode=1777 none /tmp/full
attack fills /tmp/full/all
refuses claim-into-no-room "KiB are free on its disk" daybreak record --keep -o /tmp/full/claimed.dbrk
holds claim daybreak record --claim -o /tmp/claimed.dbrk
equal linked-file-untouched "$(cat /untouched)" untouched
equal may-not-read "$(attack reads rec/*.dbrk rec/.[a-z]* claimed.dbrk snapshot.dbrk /untouched)" ""
equal is-no-link "$(find status metrics claimed.dbrk snapshot.dbrk -type l)" ""

# A name that drives terminals is escaped on one.
attack terminal daybreak report claimed.dbrk >/tmp/printed
at_least names-are-printed "$(grep -c 'own00' /tmp/printed)" 1
equal names-are-escaped "$(tr -dc '\033\007' </tmp/printed | wc -c)" 0
equal log-is-plain "$(dmesg | grep daybreak | tr -dc '\033\007' | wc -c)" 0
holds unload rmmod daybreak
