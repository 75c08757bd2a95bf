# SPDX-License-Identifier: Apache-2.0
# Reports are printed where the trouble is: in NMI, with interrupts off, in the middle of a context switch.
# reported NAME PATTERN: such a line is in the log
reported() {
	at_least "$1" "$(kernel_log "$2")" 1
}

# set_to VALUE FILE...: those that this kernel has
set_to() {
	value=$1
	shift
	for setting in "$@"; do
		if [ -e "$setting" ]; then echo "$value" >"$setting"; fi
	done
}

kernel=/proc/sys/kernel
set_to 0 $kernel/panic_on_warn $kernel/unknown_nmi_panic $kernel/hardlockup_panic $kernel/softlockup_panic
set_to 1 $kernel/watchdog_thresh $kernel/softlockup_all_cpu_backtrace $kernel/hung_task_all_cpu_backtrace \
	$kernel/hung_task_check_interval_secs
set_to 2 $kernel/hung_task_timeout_secs
set_to 3 /sys/module/rcupdate/parameters/rcu_cpu_stall_timeout

holds load insmod /share/in/reports.ko
# No CPU sleeps: an idle one has no backtrace, and notices no stall.
for one in 1 2 3; do
	while true; do :; done &
	load="$load $!"
done

echo l >/proc/sysrq-trigger
reported backtraces "NMI backtrace for cpu"
insmod /share/in/crash.ko how=hung && rmmod crash
reported hung-task "INFO: task insmod:[0-9]* blocked for more than"
insmod /share/in/crash.ko how=soft && rmmod crash
reported soft-lockup "BUG: soft lockup"
# The thread that begins grace periods stays off the CPU that hangs: else none begins that could stall.
holds grace-periods-elsewhere taskset -p 1 "$(basename "$(dirname "$(grep -lx rcu_preempt /proc/[0-9]*/comm)")")"
taskset 2 insmod /share/in/crash.ko how=hard && rmmod crash
# 4096 bytes, of which the report itself takes most; with KASAN frames and stack are others.
if ! grep -q kasan_report /proc/kallsyms; then
	at_least nmi-stack-left "$(dmesg | sed -n 's/.* \([0-9]*\) bytes of the stack of NMIs were left/\1/p')" 1024
fi
reported stall "detected \(expedited \)\?stalls"

echo "GUEST waits for an NMI"
tries=0
while [ "$(kernel_log 'NMI received for unknown reason')" = 0 ] && [ $tries -lt 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
reported nmi "NMI received for unknown reason"

kill $load
wait
# Status 3: firings within firings are drops.
holds record sh -c 'daybreak record --claim -o /share/out/reports.dbrk || [ $? = 3 ]'
holds unload rmmod daybreak
equal no-warning "$(kernel_log 'WARNING: ')" 0
