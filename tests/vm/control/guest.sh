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

# memory FIELD: KiB of /proc/meminfo; Used: what is neither free nor in files; Rethook: where 6.12 keeps the way back of
# functions whose end is traced, until the last task that sleeps in one has returned, long after the module is gone
memory() {
	awk -v field="$1:" '$0 ~ / rethook_alloc/ { rethook += $2 / 1024 } NF < 4 { kib[$1] = $2 }
		END { kib["Used:"] = kib["MemTotal:"] - kib["MemFree:"] - kib["Cached:"] - kib["Buffers:"]
		kib["VmallocUsed:"] -= rethook; kib["Rethook:"] = rethook; printf "%d", kib[field] }' /proc/meminfo /proc/vmallocinfo
}

# What the kernel takes besides, and by how much it varies by itself: workers and their stacks come and go.
fields="SUnreclaim VmallocUsed Rethook Percpu Used"
slack_of_SUnreclaim=1536 slack_of_VmallocUsed=2048 slack_of_Rethook=4096 slack_of_Percpu=128 slack_of_Used=16384

# settle: what is freed later is free
settle() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/compact_memory
	sleep 1
}

# note_memory: for who looks for a leak, what there is after a round and who has it
note_memory() {
	settle 2>/dev/null
	cat /proc/meminfo >/share/out/meminfo-$rounds
	awk '{ bytes[$3] += $2 } END { for (one in bytes) print bytes[one], one }' /proc/vmallocinfo | sort -rn >/share/out/vmalloc-$rounds
	cat /proc/slabinfo >/share/out/slab-$rounds 2>/dev/null
	for field in $fields; do echo "$field $(memory $field)"; done | tr '\n' ' '
}

# Whether no field is more than it was after the first round, but for its slack.
memory_is_back() {
	settle 2>/dev/null
	for field in $fields; do
		eval "[ $(memory $field) -le \$((first_$field + slack_of_$field)) ]" || return 1
	done
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

# Arms each provider in turn, from round to round; some are killed on the way.
arming() {
	while [ -e go ]; do
		read -r program rest <turn
		echo $rest $program >turn
		control arm 1 $program.dof >>armed.$program &
		armed=$!
		below 3
		if [ $number = 0 ]; then
			below 8
			sleep $number
			kill -9 $armed
		fi
		wait $armed
	done
}

# most_armed PROGRAM: how many probes it had at most
most_armed() {
	sort -n armed.$1 2>/dev/null | tail -n 1 | grep . || echo 0
}

# PROGRAM:N: each was armed once with so many probes at least
all_armed() {
	for one in $programs; do
		[ "$(most_armed ${one%:*})" -ge ${one#*:} ] || return 1
	done
}

looking() {
	while [ -e go ]; do
		daybreak snapshot --last 1s -q --status-file /none --replace -o /tmp/look.dbrk
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
	daybreak record --claim --replace -o claimed.dbrk || [ $? = 3 ] || fail claim "round $rounds"
	rm -f claimed.dbrk
	rmmod daybreak || fail unload "round $rounds"
}

rounds=0
programs="functions:30000 stacks:100 tracepoints:500 calls:300 waiting:10"
echo functions stacks tracepoints calls waiting >turn
end=$(($(uptime_s) + minutes * 60))
functions_before=$(wc -l </sys/kernel/tracing/enabled_functions)
round >round.log 2>&1
grep CHECK round.log
for tries in 1 2 3 4 5 6 7 8 9 10; do settle; done 2>/dev/null
for field in $fields; do eval first_$field=$(memory $field); done
echo "round 0: $(note_memory)"
# One at least: what the first round left is there after the second, too, or it is a leak.
while [ $rounds = 0 ] || [ $(uptime_s) -lt $end ] || { [ $rounds -lt 50 ] && ! all_armed; }; do
	rounds=$((rounds + 1))
	below 1000
	round >round.log 2>&1
	grep CHECK round.log
	echo "round $rounds: $(note_memory)"
done
pass rounds $rounds
for one in $programs; do at_least armed-${one%:*} "$(most_armed ${one%:*})" ${one#*:}; done
equal no-function-left "$(wc -l </sys/kernel/tracing/enabled_functions)" "$functions_before"
for tries in $(seq 60); do memory_is_back && break; done
for field in $fields; do
	eval "less_than memory-is-back-$field $(memory $field) \$((first_$field + slack_of_$field + 1))"
done
