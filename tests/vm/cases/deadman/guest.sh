# SPDX-License-Identifier: Apache-2.0
cd /tmp
aborted="Abort due to systemic unresponsiveness"
holds load insmod /share/in/greedy.ko
daybreak dtrace -q -o beside -n 'BEGIN { printf("begun\n"); } syscall:::entry { @ = count(); } END { printa("%@d\n", @); }' &
beside=$!
until_it grep -q begun beside
# Of a module that begins by itself, and of a user's program.
taskset 2 workload 100000000 &
busy=$!
until_it sh -c "dmesg | grep -q 'ring greedy: $aborted'"
daybreak record --claim -o greedy.dbrk
equal record-says-so $? 3
at_least info-says-so "$(daybreak info greedy.dbrk | grep -c "^not complete: ring [0-9]* was ended: $aborted")" 1
at_least its-last-records-are-there "$(daybreak report greedy.dbrk 2>/dev/null | grep -c .)" 100
daybreak dtrace -s /share/in/greedy.d >records 2>words
equal dtrace-ends $? 1
at_least dtrace-says-so "$(grep -c "^dtrace: processing aborted: $aborted" words)" 1
# With the user's word that it is meant to take time, it is let alone.
# As many calls as there were firings, two for each call, before the end of the one before: twice as much of the CPU,
# however fast the host is.
fired=$(grep -c . records)
daybreak dtrace -wqs /share/in/greedy.d -n 'int n; syscall:::entry /execname == "workload" && n++ > '$fired'/ { exit(0); }' >records 2>words
equal destructive-is-let-alone "$?-$(kernel_log "ring .*$aborted")" 0-2
kill $busy
kill -INT $beside
wait $beside
equal beside-went-on $? 0
at_least beside-counted "$(tail -n 2 beside | head -n 1)" 1000
holds unload rmmod daybreak
