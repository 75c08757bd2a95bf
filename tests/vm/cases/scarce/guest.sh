# SPDX-License-Identifier: Apache-2.0
cd /tmp
# The one that an OOM killer would take: 64 MiB, which it goes on to use.
mkfifo go
sh -c 'text=$(head -c 67108864 /dev/zero | tr "\0" x); echo >ready; read line <go; echo ${#text} >survived' &
victim=$!
holds victim-is-there until_it test -e ready

holds load insmod /share/in/greedy.ko
workload 1
holds record daybreak record --claim -o greedy.dbrk
daybreak info greedy.dbrk >info
for size in buffer 'dynamic variable'; do
	name=$(echo "$size" | tr ' ' -)
	at_least "$name-in-the-log" "$(kernel_log "ring greedy: $size size lowered to")" 1
	at_least "$name-in-info" "$(grep -c "$size size lowered to" info)" 1
done
round=0
while [ $round -lt 3 ] && memory /share/in/greedy.dof; do
	round=$((round + 1))
done
equal enabled $round 3
daybreak dtrace -qb 16g -n 'BEGIN { exit(0); }' 2>words
equal dtrace-ends $? 0
at_least dtrace-says-it "$(grep -c '^dtrace: buffer size lowered to [0-9]*[mk]$' words)" 1
daybreak dtrace -q -x quietresize -b 16g -n 'BEGIN { exit(0); }' 2>words
equal quietresize "$(wc -c <words)" 0

echo >go
wait $victim
equal victim-survived "$(cat survived)" 67108864
equal no-process-was-killed "$(kernel_log 'oom-killer\|Out of memory')" 0
holds unload rmmod daybreak
