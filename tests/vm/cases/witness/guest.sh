# SPDX-License-Identifier: Apache-2.0
# The same calls are counted three times at once: by two enablings and by a tracefs histogram.
event=/sys/kernel/tracing/events/raw_syscalls/sys_enter
holds load insmod /share/in/witness.ko
holds histogram eval "echo 'hist:keys=id.syscall:size=512 if comm == \"workload\"' >$event/trigger"
# Alone at first: two CPUs that meet a key for the first time at once can cost the histogram a count.
workload 1
workload 50 &
workload 70
wait
cp $event/hist /share/out/hist
for number in 0 1; do
	holds "record-$number" daybreak record --claim -o "/share/out/$number.dbrk"
done
holds unload rmmod daybreak
