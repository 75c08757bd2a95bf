# SPDX-License-Identifier: Apache-2.0
# Both CPUs fire at once, and NMIs fire in the middle of it.
holds load insmod /share/in/firings.ko
for number in 1 2 3; do
	workload 20 &
done
for number in 1 2 3 4 5 6 7 8; do
	echo l >/proc/sysrq-trigger
	sleep 0.1
done
wait
sleep 0.1
# Status 3: firings within firings are drops.
holds record sh -c 'daybreak record --claim -o /share/out/firings.dbrk || [ $? = 3 ]'
holds unload rmmod daybreak
equal warnings "$(kernel_log 'WARNING:\|BUG:\|Oops')" 0
