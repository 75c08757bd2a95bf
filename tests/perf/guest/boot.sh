# SPDX-License-Identifier: Apache-2.0
# Runs in the guests of boot-cost, once they are up: the fixed load, what all of it took, and what the tracer saw. The disk is
# null_blk: a real one answers when the host does.
tracing=/sys/kernel/tracing
i=0
while [ $i -lt 500 ]; do
	busybox true
	i=$((i + 1))
done
workload 300
dd if=/dev/nullb0 bs=64k count=500 2>/dev/null | md5sum >/dev/null
find /sys /proc -maxdepth 3 >/tmp/found 2>/dev/null
boot-clock
echo "EVENTS ftrace $(awk -F': ' '/^(entries|overrun)/ { sum += $2 } END { print sum + 0 }' $tracing/per_cpu/cpu0/stats)"
if [ -e /dev/daybreak ] && daybreak record --claim -o /tmp/boot.dbrk; then
	daybreak info /tmp/boot.dbrk | sed 's/^/INFO /'
fi
