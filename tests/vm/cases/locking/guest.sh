# SPDX-License-Identifier: Apache-2.0
cp /share/in/*.ko /share/in/*.dof /tmp
cd /tmp
holds load insmod daybreak.ko
while true; do workload 20; done >/dev/null 2>&1 &
load=$!

# Others look, and modules come and go, between the steps of an enabling, not only after it.
control looking functions.dof >looking &
looking=$!
rounds=0
while [ ! -s looking ] && kill -0 $looking 2>/dev/null; do
	insmod jbd2.ko && rmmod jbd2 || fail module-while-patching "round $rounds"
	[ -s looking ] || rounds=$((rounds + 1))
done
wait $looking
cat looking
at_least modules-do-not-wait $rounds 1
control killing functions.dof

# CPUs that come and go do not hold up tracepoints for ever.
while true; do
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
done 2>/dev/null &
hotplug=$!
at_least tracepoints-beside-hotplug "$(control arm 1 tracepoints.dof)" 600
kill $hotplug $load
wait
echo 1 >/sys/devices/system/cpu/cpu1/online 2>/dev/null
holds unload rmmod daybreak
