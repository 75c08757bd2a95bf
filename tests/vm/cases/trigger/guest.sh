# SPDX-License-Identifier: Apache-2.0
# Each trigger is provoked while a process waits for it, and found in a recording.
cd /tmp

# awaits NAME COMMAND...: a waiter is woken by one trigger while the command runs
awaits() {
	await_name=$1
	shift
	rm -f awaited
	await_trigger 600000 >awaited &
	waiter=$!
	until_it test -s awaited
	"$@" >/dev/null 2>&1
	wait $waiter
	equal "$await_name" "$(tail -n 1 awaited)" "trigger 1"
}

# The embedded one: a hundred times, entered once.
holds load insmod /share/in/embedded.ko
awaits embedded-wakes workload 1
await_trigger 300 >quiet
equal nothing-wakes-twice "$(tail -n 1 quiet)" none

# A live one.
awaits live-wakes daybreak dtrace -qn 'BEGIN { snapshot("live"); exit(0); }'
equal live-line "$(daybreak dtrace -n 'BEGIN { snapshot("shown"); snapshot("shown"); exit(0); }' 2>/dev/null |
	awk 'NR == 2 { print $3, $4, $5, $6, $7 }')" ":BEGIN shown shown (too soon)"

# A process that was chosen to be killed: the one that holds most.
dd if=/dev/zero of=/dev/null bs=128M count=100000 2>/dev/null &
hog=$!
until_it eval '[ "$(sed -n "s/VmRSS:[^0-9]*\([0-9]*\).*/\1/p" /proc/$hog/status)" -gt 100000 ]'
awaits oom-wakes sh -c 'echo f >/proc/sysrq-trigger'
wait $hog
equal oom-killed $? 137

# What the watchdog would say; and what only panic() may say, said by another process.
awaits lockup-wakes sh -c 'echo "<7>watchdog: BUG: soft lockup - CPU#0 stuck for 23s! [sh:1]" >/dev/kmsg'
holds no-panic sh -c 'echo "<7>Kernel panic - not syncing: nothing happened" >/dev/kmsg'

holds record daybreak record --claim -o /share/out/trigger.dbrk
holds unload rmmod daybreak
equal no-complaints "$(kernel_log 'WARNING:\|Oops')" 0
