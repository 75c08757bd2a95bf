# SPDX-License-Identifier: Apache-2.0
# Several workloads that open what is there and what is not; then the module goes while they run.
holds load insmod /share/in/spec.ko
for number in 1 2 3; do
	workload 40 &
done
workload 40
wait
# What was discarded on another CPU than it was speculated on is cleaned by now.
sleep 0.1
holds record daybreak record --claim -o /share/out/failed.dbrk
holds unload rmmod daybreak
holds load-again insmod /share/in/spec.ko
for number in 1 2 3; do
	workload 200 &
done
sleep 0.2
holds unload-under-load rmmod daybreak
wait
equal warnings "$(kernel_log 'WARNING:\|BUG:\|Oops')" 0
