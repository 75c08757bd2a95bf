# SPDX-License-Identifier: Apache-2.0
# Control operations at random, all at once, for minutes= of the kernel's command line, from seed=.
minutes=$(sed 's/.*minutes=\([0-9]*\).*/\1/' /proc/cmdline)
seed=$(sed 's/.*seed=\([0-9]*\).*/\1/' /proc/cmdline)
cp /share/in/*.ko /share/in/*.dof /tmp
cd /tmp
echo 60 >/proc/sys/kernel/hung_task_timeout_secs

# below N: a number, into $number
below() {
	seed=$(((seed * 1103515245 + 12345) & 2147483647))
	number=$((seed / 65536 % $1))
}

uptime_s() {
	cut -d. -f1 /proc/uptime
}

free_kib() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sed -n 's/^MemFree: *\([0-9]*\).*/\1/p' /proc/meminfo
}

modules() {
	while [ -e go ]; do
		for name in jbd2 brd loop; do insmod $name.ko; done
		for name in loop brd jbd2; do rmmod $name; done
	done
}

hotplug() {
	while [ -e go ]; do
		for online in /sys/devices/system/cpu/cpu[1-9]/online; do
			echo 0 >$online
			sleep 0.1
			echo 1 >$online
		done
	done
}

# Arms each provider in turn; some are killed on the way.
arming() {
	while [ -e go ]; do
		for program in functions stacks tracepoints calls waiting; do
			[ -e go ] || break
			control arm 1 $program.dof >/dev/null &
			armed=$!
			below 3
			if [ $number = 0 ]; then
				below 8
				sleep $number
				kill -9 $armed
			fi
			wait $armed
		done
	done
}

looking() {
	while [ -e go ]; do
		daybreak snapshot --last 1s -q --status-file /none -o /tmp/look.dbrk
		daybreak list >/dev/null
		rm -f /tmp/look.dbrk
	done
}

# One load of the module, with all of it.
round() {
	touch go
	insmod embedded.ko || fail load "round $rounds"
	while [ -e go ]; do workload 20; done &
	control churn $seed 0 calls.dof stacks.dof waiting.dof &
	churn=$!
	modules &
	hotplug &
	arming &
	looking &
	until=$(($(uptime_s) + 60))
	while [ $(uptime_s) -lt $until ]; do sleep 1; done
	rm go
	kill -9 $churn
	wait
	for online in /sys/devices/system/cpu/cpu[1-9]/online; do echo 1 >$online; done
	daybreak record --claim -o claimed.dbrk || [ $? = 3 ] || fail claim "round $rounds"
	rm -f claimed.dbrk
	rmmod daybreak || fail unload "round $rounds"
}

rounds=0
end=$(($(uptime_s) + minutes * 60))
round >round.log 2>&1
grep CHECK round.log
first=$(free_kib)
hooked=$(wc -l </sys/kernel/tracing/enabled_functions)
# One at least: what the first round left is there after the second, too, or it is a leak.
while [ $rounds = 0 ] || [ $(uptime_s) -lt $end ]; do
	rounds=$((rounds + 1))
	below 1000
	round >round.log 2>&1
	grep CHECK round.log
done
pass rounds $rounds
equal no-function-left "$hooked" 0
last=$(free_kib)
# 8 MiB: what the kernel itself keeps for the next time varies by some.
at_least memory-is-back "$last" $((first - 8192))
