# SPDX-License-Identifier: Apache-2.0
mkdir -p /run
cp /share/in/*.d /share/in/questions /share/in/timed /tmp
cd /tmp
holds load insmod /share/in/daybreak.ko
questions=$(cat questions) timed=$(cat timed)
for name in all $questions $timed; do
	daybreak start $name.d || fail start "$name"
done
# On the CPU of the ticks: a tick and a call on two CPUs at the same instant may come in one order live and in the other in a replay.
taskset 1 workload 10
# All rings at once, with the symbols once; but END fires when a program is stopped.
daybreak snapshot -q -o live.dbrk || fail snapshot "$?"
daybreak info --json live.dbrk >info
equal recording-is-whole "$(grep -o '"complete":[a-z]*' info | sort -u)" '"complete":true'
echo 2 >/proc/sys/kernel/kptr_restrict # a recorder takes 4 s for symbols here, and no END prints any
for name in $questions $timed; do
	if grep -q END $name.d; then
		daybreak stop -q $name -o $name.dbrk || [ $? = 3 ] || fail stop "$name"
	else
		ln live.dbrk $name.dbrk
		daybreak stop -q $name || fail stop "$name"
	fi
done
holds stop daybreak stop -q all
# same NAME PROGRAM RING FILE: the question's answer as it was given live, and by what a ring holds
same() {
	daybreak report --ring $1 $1.dbrk >$1.live
	daybreak replay --ring $3 -s $2 $4 >$1.replayed 2>$1.said
	at_least asked-$1 "$(wc -c <$1.live)" 15
	equal "replayed-$1" "$(cat $1.replayed)" "$(cat $1.live)"
}
for name in $questions; do
	same $name $name.d all live.dbrk
done
for name in $timed; do
	same $name $name.asked.d $name $name.dbrk
done
equal all-questions "$(cat questions timed | wc -l)" 30
equal as-many-calls "$(awk '$1 == "getppid" { print $3 }' calls.replayed)" 1000
equal as-many-failures "$(grep -c 'that failed by 2$' failures.replayed)" 50

# What was not recorded: by its name, before anything runs.
refuses no-such-probe "does not match any probes" daybreak replay -n 'syscall::ioctl:entry { @ = count(); }' --ring all live.dbrk
refuses no-such-value "gid was not recorded at syscall:vmlinux:read:entry" daybreak replay -n 'syscall::read:entry { @[gid] = count(); }' --ring all live.dbrk
# close() and getppid() were recorded without their returns: whether they came back is not known.
daybreak postmortem live.dbrk >dead 2>said
at_least unpaired-are-said "$(grep -c 'not asked about close, getppid: ' said || sort -u said >&2)" 1
equal unpaired-are-not-open "$(sed -n '/^which system calls/,/^$/p' dead | grep -c 'close$\|getppid$')" 0
at_least others-are-asked "$(grep -c '^which system calls' dead)" 1
# The recorded program prints nothing of its own; a part of it can be asked.
equal prints-nothing "$(daybreak report --ring all live.dbrk)$(daybreak replay --ring all live.dbrk)" ""
first=$(daybreak replay -q -n 'syscall::getppid:entry /execname == "workload"/ { n++; } END { printf("%d", n); }' --until probe:syscall::openat:return+0s --ring all live.dbrk)
second=$(daybreak replay -q -n 'syscall::getppid:entry /execname == "workload"/ { n++; } END { printf("%d", n); }' --since probe:syscall::openat:return+1ns --ring all live.dbrk)
equal two-windows-are-all "$((first + second))" 1000
# An event of another pack of columns, or of rows: the same answer.
daybreak pack -q --rows live.dbrk -o rows.dbrk
equal rows-too "$(daybreak replay -s sizes.d --ring all rows.dbrk)" "$(cat sizes.live)"
holds unload rmmod daybreak
equal no-warning "$(kernel_log 'WARNING: ')" 0
