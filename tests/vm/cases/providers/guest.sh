# SPDX-License-Identifier: Apache-2.0
# Timers follow the CPUs, and waiting probes follow the modules.
holds load insmod /share/in/hotplug.ko
probes_before=$(daybreak list | wc -l)
for round in 1 2 3; do
	echo 0 >/sys/devices/system/cpu/cpu1/online
	sleep 0.3
	echo 1 >/sys/devices/system/cpu/cpu1/online
	sleep 0.3
done
equal cpu-is-back "$(cat /sys/devices/system/cpu/cpu1/online)" 1
holds later-module-loads insmod /share/in/jbd2.ko
at_least later-module-brings-probes "$(daybreak list | wc -l)" $((probes_before + 50))
holds later-module-unloads rmmod jbd2
equal later-module-takes-its-probes "$(daybreak list | grep -c jbd2)" 0
holds later-module-loads-again insmod /share/in/jbd2.ko
# Status 3: on a busy host timers come late, and firings missed are drops.
holds record sh -c 'daybreak record --claim -o /share/out/hotplug.dbrk || [ $? = 3 ]'
rmmod jbd2
holds unload rmmod daybreak

# A module that is there when we come, and goes while its probes are enabled.
holds module-before-us insmod /share/in/jbd2.ko
holds load-after-it insmod /share/in/hotplug.ko
# The tracepoints of one (9pnet) have the types of their arguments all the same: what they do not have is 0, not a register.
equal types-of-an-earlier-module "$(daybreak dtrace -Zqn 'sdt:::9p_client_req { @all = count(); @raw = sum(arg3 != 0 || arg4 != 0 || arg5 != 0); }
	END { printa("FIRED %@d RAW %@d\n", @all, @raw); }' -c 'ls /share/in' 2>&1 | awk '$1 == "FIRED" && $2 > 0 { print $3, $4 }')" "RAW 0"
holds module-goes-under-us rmmod jbd2
holds unload-after-it rmmod daybreak

# Everything, 20 times, under load.
while true; do workload 20; done >/dev/null 2>&1 &
load=$!
round=0
while [ $round -lt 20 ] && insmod /share/in/everything.ko && rmmod daybreak; do
	round=$((round + 1))
done
equal everything-20-times $round 20
kill $load
wait
