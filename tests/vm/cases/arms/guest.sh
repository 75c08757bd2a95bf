# SPDX-License-Identifier: Apache-2.0
# That the log is clean is the harness's check.
cp /share/in/daybreak.ko /share/in/all.dof /tmp
cd /tmp
before=$(wc -l </sys/kernel/tracing/enabled_functions)
holds load insmod daybreak.ko
while true; do workload 20; done >/dev/null 2>&1 &
one=$!
while true; do workload 20; done >/dev/null 2>&1 &
two=$!
control arm 3 all.dof >armed
equal three-times "$(wc -l <armed)" 3
at_least every-function "$(tail -n 1 armed)" 60000
kill $one $two
wait
holds unload rmmod daybreak
equal no-function-left "$(wc -l </sys/kernel/tracing/enabled_functions)" "$before"
