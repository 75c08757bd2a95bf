# SPDX-License-Identifier: Apache-2.0
mkdir -p /run /tmp/live
cp /share/in/*.d /tmp
cd /tmp
holds load insmod /share/in/daybreak.ko
questions="calls sizes pairs failures arrays strings"
for name in all $questions; do
	daybreak start $name.d || fail start "$name"
done
workload 10
for name in all $questions; do
	daybreak stop $name -o live/$name.dbrk || [ $? = 3 ] || fail stop "$name"
done
daybreak verify live/all.dbrk >verified
equal recording-is-whole "$(grep -c '^complete' verified)" 1
for name in $questions; do
	daybreak report live/$name.dbrk >$name.live
	daybreak replay -s $name.d live/all.dbrk >$name.replayed 2>$name.said
	at_least asked-$name "$(wc -c <$name.live)" 15
	equal "replayed-$name" "$(cat $name.replayed)" "$(cat $name.live)"
done
equal as-many-calls "$(awk '$1 == "getppid" { print $3 }' calls.replayed)" 1000
equal as-many-failures "$(grep -c 'that failed by 2$' failures.replayed)" 50

# What was not recorded: by its name, before anything runs.
refuses no-such-probe "does not match any probes" daybreak replay -n 'syscall::ioctl:entry { @ = count(); }' live/all.dbrk
refuses no-such-value "ppid was not recorded at syscall:vmlinux:read:entry" daybreak replay -n 'syscall::read:entry { @[ppid] = count(); }' live/all.dbrk
# The recorded program prints nothing of its own; a part of it can be asked.
equal prints-nothing "$(daybreak report live/all.dbrk)$(daybreak replay live/all.dbrk)" ""
first=$(daybreak replay -q -n 'syscall::getppid:entry /execname == "workload"/ { n++; } END { printf("%d", n); }' --until probe:syscall::openat:return+0s live/all.dbrk)
second=$(daybreak replay -q -n 'syscall::getppid:entry /execname == "workload"/ { n++; } END { printf("%d", n); }' --since probe:syscall::openat:return+1ns live/all.dbrk)
equal two-windows-are-all "$((first + second))" 1000
# An event of another pack of columns, or of rows: the same answer.
daybreak pack -q --rows live/all.dbrk -o rows.dbrk
equal rows-too "$(daybreak replay -s sizes.d rows.dbrk)" "$(cat sizes.live)"
holds unload rmmod daybreak
equal no-warning "$(kernel_log 'WARNING: ')" 0
