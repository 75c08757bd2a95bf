# SPDX-License-Identifier: Apache-2.0
# Runs in the guest of tests/perf/report-speed: the same load once under Daybreak, then under each other tracer that is there.
option() {
	sed -n "s/.*\<perf\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}
load="load $(option load | tr , ' ')"
events="-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -e sched:sched_switch"

# To /tmp first: what is written while the load runs must not wait for the host.
hand_over() {
	cp "/tmp/$1" "/share/out/$1" && rm "/tmp/$1"
}

insmod /perf/peers.ko
$load
daybreak record --claim -q -o /tmp/load.dbrk
rmmod daybreak
hand_over load.dbrk
if command -v perf >/dev/null; then
	perf record -q -B -N --no-bpf-event -m 16M $events -o /tmp/perf.data $load
	hand_over perf.data
fi
if command -v trace-cmd >/dev/null; then
	trace-cmd record -q -F -c -b 65536 $events -o /tmp/trace.dat $load
	hand_over trace.dat
fi
