# SPDX-License-Identifier: Apache-2.0
# First boot: counts on all CPUs until something ends the machine.  Second boot: recovers what the
# first one left in the bank.  The host puts /share/in/second there between the two.
option() {
	sed -n "s/.*\<$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

recover() {
	echo "GUEST recovers"
	sleep 0.5
	daybreak recover -o /tmp/bank.dbrk >/share/out/recover.txt 2>&1
	echo "$?" >/share/out/recover.status
	cp /tmp/bank.dbrk /share/out/bank.dbrk
	pass recovered "$(tail -n 1 /share/out/recover.txt)"
}

load() {
	counter "$(option witness)" &
	while :; do
		dd if=/dev/zero of=/tmp/load bs=64k count=64 2>/dev/null
		rm /tmp/load
	done &
}

die() {
	case $1 in
	sysrq) echo c >/proc/sysrq-trigger ;;
	null) insmod /share/in/crash.ko how=null ;;
	triple) insmod /share/in/crash.ko how=triple ;;
	probe) cp /bin/busybox /tmp/die && /tmp/die ;;
	reset) : ;; # the host does it
	esac
	sleep 60
	fail crash "the machine is still alive"
}

if [ -e /share/in/second ]; then
	recover
else
	load
	sleep "$(option after)"
	echo "GUEST crashes now"
	die "$(option crash)"
fi
