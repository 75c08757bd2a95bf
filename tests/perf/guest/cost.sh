# SPDX-License-Identifier: Apache-2.0
# Runs in the guest of record-cost: each case sets a tracer up, measures, tears it down, and proves by
# the number of events seen that the tracer was at work.
calls=$(sed 's/.*cost.calls=\([0-9]*\).*/\1/' /proc/cmdline)
shells=$(sed 's/.*cost.shells=\([0-9]*\).*/\1/' /proc/cmdline)
programs=$(sed -n 's/.*cost.programs=\([a-z,-]*\).*/\1/p' /proc/cmdline | tr , ' ')
kprobe=$(sed -n 's/.*cost.kprobe=\([a-z0-9_+]*\).*/\1/p' /proc/cmdline)
uprobe=$(command -v getppid-loop)+$(sed -n 's/.*cost.uprobe=\([0-9]*\).*/\1/p' /proc/cmdline)
tracing=/sys/kernel/tracing
modules=/cost

# cost NAME: measures; then events NAME COUNT follows.  A name that begins with what getppid-loop does besides getppid() means
# that: a tenth of the calls, each of which takes twenty times as long; few of the shell.
cost() {
	case $1 in
	shell*) echo "COST $1 $(getppid-loop "$shells" shell)" ;;
	send* | call* | listen* | read* | wake*) echo "COST $1 $(getppid-loop $((calls / 10)) "${1%%-*}")" ;;
	*) echo "COST $1 $(getppid-loop "$calls")" ;;
	esac
}
events() {
	echo "EVENTS $1 $2"
}

case_none() {
	cost "$1"
	events "$1" 0
}

case_bare() { # record=0 or record=1, more of the module's parameters
	insmod $modules/bare.ko record="$2" $3 || return
	cost "$1"
	rmmod bare
	events "$1" "$(dmesg | sed -n 's/.*bare: \([0-9]*\) records/\1/p' | tail -n 1)"
}

case_ebpf() {
	[ -e $modules/rawtp ] || return
	echo 1 >/proc/sys/net/core/bpf_jit_enable
	$modules/rawtp $modules/rawtp.bpf.o >/tmp/rawtp.out &
	for wait in 1 2 3 4 5 6 7 8 9 10; do
		grep -q attached /tmp/rawtp.out && break
		sleep 1
	done
	cost "$1"
	kill -INT $!
	wait
	events "$1" "$(tail -n 1 /tmp/rawtp.out)"
}

case_ftrace() {
	instance=$tracing/instances/cost
	mkdir $instance
	echo 4096 >$instance/buffer_size_kb
	echo 1 >$instance/events/raw_syscalls/sys_enter/enable
	cost "$1"
	echo 0 >$instance/events/raw_syscalls/sys_enter/enable
	events "$1" "$(awk -F': ' '/^(entries|overrun)/ { sum += $2 } END { print sum }' $instance/per_cpu/cpu0/stats)"
	rmdir $instance
}

case_disabled() {
	insmod $modules/daybreak.ko || return
	cost "$1"
	rmmod daybreak
	events "$1" 0
}

# The enabling is embedded in the module; its recording says how often its probes fired, the kernel's log what of it is native.
case_daybreak() {
	dmesg -c >/dev/null
	insmod "$modules/$1.ko" || return
	echo "NATIVE $1 $(dmesg | sed -n 's/.*: ring .*: \([0-9]*\) of [0-9]* clauses are native.*/\1/p')"
	cost "$1"
	daybreak record --claim -o /tmp/cost.dbrk; daybreak info /tmp/cost.dbrk | sed "s/^/INFO $1 /"
	rm -f /tmp/cost.dbrk
	rmmod daybreak
}

# No row is read for its symbols: to list, pack and read all of them took seconds a row.
mount -o bind /dev/null /proc/kallsyms
ifconfig lo up
for work in '' send- call- listen- read- wake- shell-; do
	case_none "${work}none"
done
case_bare bare-empty 0
case_bare bare-record 1
case_bare bare-kprobe 1 "at=$kprobe"
case_bare call-uprobe 0 "at=$uprobe"
case_ebpf ebpf
case_ftrace ftrace
case_disabled disabled
for program in $programs; do
	case_daybreak "$program"
	case $program in
	shell*) # what a process takes drifts by a hundredth while the guest runs: again, each in turn, see read_costs()
		case_none shell-none
		case_daybreak "$program"
		case_none shell-none
		;;
	esac
done
case_none none-again
for work in send listen read wake; do
	case_none "$work-none" # see read_costs()
done
