# SPDX-License-Identifier: Apache-2.0
# Runs in the guests of tests/perf/recorder.  perf.part=cost: what the daemon costs at a steady rate.
# perf.part=stall: what the traced program feels of snapshots, taken on the other CPU.
option() {
	sed -n "s/.*\<perf\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}
rate=$(option rate)
seconds=$(option seconds)

status() {
	daybreak status --status-file /tmp/status.json --json | tr -d '\n' | sed "s/^/STATUS $1 /"
	echo
}

cost() {
	daybreak record --follow /tmp/files --status-file /tmp/status.json --max-size 64m -q &
	recorder=$!
	while [ ! -e /tmp/status.json ]; do sleep 0.2; done
	sleep 3
	status before
	paced "$rate" "$seconds"
	sleep 3
	status after
	kill $recorder
	wait $recorder
}

stall() {
	taskset 2 paced "$rate" "$seconds" | sed 's/^/ALONE /'
	# 3: on a slow host the ring holds less than the second that is asked for.
	while daybreak snapshot --last 1s -q --status-file /none --replace -o /tmp/s.dbrk 2>/dev/null || [ $? = 3 ]; do
		echo "SNAPSHOT"
		: >/tmp/snapped
	done &
	loop=$!
	taskset -p 1 $loop >/dev/null
	# However slow: with at least one of them beside it.
	while
		rm -f /tmp/snapped
		taskset 2 paced "$rate" "$seconds" >/tmp/beside
		[ ! -e /tmp/snapped ]
	do :; done
	sed 's/^/BESIDE /' /tmp/beside
	kill $loop
	wait $loop 2>/dev/null
	echo "GUEST stands still"
	sleep 5
}

insmod /perf/recorder.ko
"$(option part)"
