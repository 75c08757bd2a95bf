# SPDX-License-Identifier: Apache-2.0
# What goes wrong, from the least to the last; the host saves the memory of the machine that died.
crash=/share/in/crash.ko
echo 0 >/proc/sys/kernel/panic_on_oops
insmod $crash how=warn
cp /proc/kallsyms /share/out/kallsyms-warned
holds warned rmmod crash

dd if=/dev/zero of=/dev/null bs=64M count=100000 2>/dev/null &
echo $! >/share/out/hog
until_it eval '[ "$(sed -n "s/VmRSS:[^0-9]*\([0-9]*\).*/\1/p" /proc/$!/status)" -gt 50000 ]'
echo f >/proc/sysrq-trigger
wait $!
equal killed $? 137

echo 1 >/proc/sys/kernel/hung_task_check_interval_secs
echo 2 >/proc/sys/kernel/hung_task_timeout_secs
sh -c 'echo $$ >/share/out/hung; exec insmod '$crash' how=hung'
holds hung rmmod crash

sh -c 'echo $$ >/share/out/oopsed; exec insmod '$crash' how=oops'
equal died $? 137
dmesg >/share/out/log
cp /proc/kallsyms /share/out/kallsyms # the dump's own are not known
sync
echo c >/proc/sysrq-trigger
sleep 60
fail crash "the machine is still alive"
