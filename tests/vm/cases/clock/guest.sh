# SPDX-License-Identifier: Apache-2.0
current_clocksource=/sys/devices/system/clocksource/clocksource0/current_clocksource
# Until about 2 s after the start, when its frequency has been refined, the kernel calls it tsc-early.
until [ "$(cat $current_clocksource)" != tsc-early ]; do sleep 0.1; done
clocksource=$(cat $current_clocksource)
echo "$clocksource" >/share/out/clocksource
holds load insmod /share/in/embedded.ko
workload 1
# Processes are frozen for 5 s and thawed again: all of it but the sleep itself.
echo freezer >/sys/power/pm_test
holds sleeps sh -c 'echo freeze >/sys/power/state'
workload 1
if [ "$clocksource" = tsc ]; then
	await_trigger 100000 >/tmp/awaited &
	waiter=$!
	until [ -s /tmp/awaited ]; do sleep 0.1; done
fi
holds unstable insmod /share/in/crash.ko how=tsc
if [ "$clocksource" = tsc ]; then
	wait $waiter
	at_least unstable-is-logged "$(kernel_log 'daybreak: the TSC is unstable')" 1
fi
daybreak record --claim -o /share/out/clock.dbrk
holds unload rmmod daybreak
