# SPDX-License-Identifier: Apache-2.0
holds load-life insmod /share/in/life.ko
holds run-life life
holds block-device insmod /share/in/brd.ko rd_nr=1 rd_size=4096
holds block-write dd if=/dev/zero of=/dev/ram0 bs=64k count=4 conv=fsync
# A claimed ring is gone, so a disk without room for it and the kernel's symbols is refused before.
mkdir /tmp/small
mount -t tmpfs -o size=600k small /tmp/small
refuses record-needs-room "are needed; nothing was claimed" daybreak record --claim -o /tmp/small/life.dbrk
holds record-life daybreak record --claim -o /share/out/life.dbrk
# What the program itself needs to start, to 10 KiB, is not enough to read a recording.  Whatever is
# short on the way from there to enough says so.
kib=20000
for step in 200 10; do
	while (ulimit -v $((kib - step)); exec daybreak --version) >/dev/null 2>&1; do kib=$((kib - step)); done
done
refuses out-of-memory-says-so '^daybreak: out of memory' \
	sh -c "ulimit -v $kib; daybreak report /share/out/life.dbrk"
# report_in KIB OPTION...: whether so much is enough; what is not and says something else goes into $other.
# Status 3: on a busy host timers come late, and firings missed are drops.
report_in() {
	report_kib=$1
	shift
	(ulimit -v "$report_kib"; exec daybreak report "$@" /share/out/life.dbrk) >/dev/null 2>/tmp/short
	case $? in 0 | 3) return 0 ;; esac
	grep -q '^daybreak: out of memory' /tmp/short || other="$other $report_kib: $(cat /tmp/short);"
	return 1
}
steps=0 other=
while [ $steps -lt 400 ] && ! report_in $kib; do
	kib=$((kib + 5)) steps=$((steps + 1))
done
equal out-of-memory-at-every-step "" "$other"
at_least out-of-memory-steps "$steps" 1
less_than out-of-memory-ends "$steps" 400
other=
for more in 0 200 400 800 1600 3200; do
	report_in $((kib + more)) --jobs 4
done
equal out-of-memory-of-threads "" "$other"
holds unload-life rmmod daybreak

holds load-returns insmod /share/in/returns.ko
workload 50
# Status 3: on a busy host timers come late, and firings missed are drops.
holds record-returns sh -c 'daybreak record --claim -o /share/out/returns.dbrk || [ $? = 3 ]'
holds unload-returns rmmod daybreak

# Calls are always under way when the hooks go and come.
while true; do workload 20; done >/dev/null 2>&1 &
load=$!
sleep 100 &
sleeper=$!
round=0
while [ $round -lt 3 ] && insmod /share/in/returns.ko && sleep 0.2 && rmmod daybreak; do
	round=$((round + 1))
done
equal returns-3-times $round 3
kill $load $sleeper
wait

# While ftrace is off the functions of a module that comes cannot be hooked: two probes, two drops. When it comes again they are.
# Where a ring is at work ftrace cannot be turned off.
hooked() {
	grep -c brd_submit_bio /sys/kernel/tracing/enabled_functions
}
write_once() {
	dd if=/dev/zero of=/dev/ram0 bs=4k count=1 conv=fsync 2>/dev/null
}
holds load-plain insmod /share/in/daybreak.ko
holds brd-goes rmmod brd
holds ftrace-off sysctl -q kernel.ftrace_enabled=0
begins begun /tmp/unhooked daybreak dtrace -Zqx switchrate=10hz -n 'BEGIN { printf("begun\n"); }
	fbt:brd:brd_submit_bio:entry, fbt:brd:brd_submit_bio:return { @[probename] = count(); }
	END { printa("%s %@d\n", @); }' 2>/tmp/unhooked-said
holds brd-comes-unhooked insmod /share/in/brd.ko rd_nr=1 rd_size=4096
write_once
equal not-hooked "$(hooked)" 0
holds ftrace-on sysctl -q kernel.ftrace_enabled=1
holds brd-goes-unhooked rmmod brd
holds brd-comes-again insmod /share/in/brd.ko rd_nr=1 rd_size=4096
at_least hooked-again "$(hooked)" 1
write_once
kill -INT $begun
ended $begun
equal missed-when-not-hooked "$(cat /tmp/unhooked-said)" "dtrace: 2 firings missed on CPU 0"
at_least recorded-when-hooked "$(sed -n 's/^entry //p' /tmp/unhooked)" 1
equal recorded-returns "$(sed -n 's/^return //p' /tmp/unhooked)" "$(sed -n 's/^entry //p' /tmp/unhooked)"
holds unload-plain rmmod daybreak
