# SPDX-License-Identifier: Apache-2.0
# Both CPUs are busy for longer than the ring is to reach back, and one of them goes and comes back.
load() {
	while true; do workload 2 && sleep 0.02; done >/dev/null 2>&1 &
	first=$!
	while true; do workload 2 && sleep 0.02; done >/dev/null 2>&1 &
	second=$!
}
unload() {
	kill $first $second
	wait $first $second 2>/dev/null
}
hotplug() {
	if [ -w /sys/devices/system/cpu/cpu1/online ]; then
		holds "cpu-goes-$1" sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
		sleep 0.5
		holds "cpu-comes-$1" sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online'
	fi
}

holds load-grow insmod /share/in/grow.ko
load
sleep 1
hotplug early
sleep 3
holds snapshot daybreak record --keep -o /share/out/running.dbrk
sleep 1
holds record-grow daybreak record --claim -o /share/out/grow.dbrk
unload
holds unload-grow rmmod daybreak

holds load-limit insmod /share/in/limit.ko
load
sleep 1
hotplug late
holds record-limit daybreak record --claim -o /share/out/limit.dbrk
unload
holds unload-limit rmmod daybreak
equal no-complaints "$(kernel_log 'BUG:\|WARNING:\|Oops')" 0
