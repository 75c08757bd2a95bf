# SPDX-License-Identifier: Apache-2.0
# What may not wait for memory fails as well as what may.
for kind in failslab fail_page_alloc; do
	echo N >/sys/kernel/debug/$kind/ignore-gfp-wait
	echo 1 >/sys/kernel/debug/$kind/verbose
	echo 0 >/sys/kernel/debug/$kind/verbose_ratelimit_interval_ms
done
# All caches but kmemleak's own: it ends itself when it gets no memory.
echo Y >/sys/kernel/debug/failslab/cache-filter
for cache in /sys/kernel/slab/*; do
	case $cache in
	*kmemleak*) ;;
	*) echo 1 2>/dev/null >$cache/failslab ;;
	esac
done
echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order

for event in module/module_load printk/console; do
	echo 1 >/sys/kernel/tracing/events/$event/enable
done
fail_nth load /share/in/embedded.ko
mkdir /tmp/programs
cp /share/in/small.dof /tmp/programs/beside.dof
fail_nth load /share/in/plain.ko programs=/tmp/programs
holds load-afterwards insmod /share/in/embedded.ko
# Status 3: on a busy host timers come late, and firings missed are drops.
holds record-afterwards sh -c 'daybreak record --claim -o /tmp/embedded.dbrk || [ $? = 3 ]'
fail_nth enable /share/in/small.dof
fail_nth read /share/in/small.dof
holds enable-afterwards daybreak dtrace -qn 'BEGIN { exit(0); }'
holds unload rmmod daybreak
