# SPDX-License-Identifier: Apache-2.0
# Ten thousand processes of one program, recorded into a ring and counted by the engine at the same time.
few=1000 count=10000
wait_s=1200 # a busy host takes minutes for so many
cp /share/in/crowd /bin/
cd /tmp

# free_kib: what nothing uses, once what can be given back is
free_kib() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo
}

# begins_crowd COUNT and ends_crowd: between them all its processes live; $takes is what each of them takes, in bytes
begins_crowd() {
	rm -f all in out
	mkfifo in
	before=$(free_kib)
	crowd "$1" <in >out &
	crowd=$!
	exec 8>in
	until_it test -e all
	takes=$(((before - $(free_kib)) * 1024 / $1))
}
ends_crowd() {
	echo >&8
	exec 8>&-
	ended $crowd
	equal "crowd-$1-ends" $? 0
}

# What the kernel's own uprobe takes of each process: a page for the instruction and those that lead to it.
tracing=/sys/kernel/tracing
echo "p:crowd /bin/crowd:$(cat /share/in/hit-offset)" >$tracing/uprobe_events
echo 1 >$tracing/events/uprobes/crowd/enable
begins_crowd $few
takes_alone=$takes
ends_crowd kernels
echo 0 >$tracing/events/uprobes/crowd/enable
at_least kernels-was-hit "$(grep -c 'crowd: (' $tracing/trace)" $few
echo >$tracing/uprobe_events

holds load insmod /share/in/daybreak.ko
holds starts daybreak start --dof /share/in/crowd.dof
daybreak dtrace -qn 'BEGIN { printf("begun\n"); } pid*:/bin/crowd:hit:entry { @[pid] = count(); }' -o counted 2>said &
tracer=$!
until_it grep -q begun counted
free_armed=$(free_kib)
begins_crowd $count
ends_crowd traced
free_after=$(free_kib)
kill -INT $tracer
ended $tracer
equal tracer-ends $? 0
holds stops daybreak stop crowd -o crowd.dbrk

# The witness has how many there were and the sum of their numbers.
daybreak report crowd.dbrk | grep . >recorded
equal recorded-each "$(awk '{ seen[$1] = 1; sum += $2 } END { for (one in seen) n++; printf "%d %d", n, sum }' recorded)" "$(cat out)"
equal recorded-once "$(wc -l <recorded)" $count
equal recorded-complete "$(daybreak info crowd.dbrk | grep -c '^complete')" 1
equal counted-each "$(awk 'NF == 2 && $2 == 1 { n++; sum += $1 } END { printf "%d %d", n, sum }' counted)" "$(cat out)"
equal counted-all "$(grep -c '^ *[0-9]' counted)" $count
equal no-drops "$(cat said)" ""
# No process takes memory of the module, while it lives or later: a sixth more was seen, as ten times as many lived.
less_than traced-takes "$takes" $((takes_alone + takes_alone / 4))
less_than given-back $((free_armed - free_after)) 16384
echo "crowd: bytes of a process by the kernel's uprobe $takes_alone, traced $takes; KiB that are not given back $((free_armed - free_after))"

# The maps of so many do not fit into the memory that the few at the beginning need: it grows, and all that live are listed again.
daybreak compile -n 'pid*:/bin/crowd:hit:entry { @[ufunc(uregs[R_RIP])] = count(); }' -x bufpolicy=ring -x aggregate=record -o names.dof
holds names-start daybreak start --dof names.dof --name names
begins_crowd $count
holds names-stop daybreak stop names -o names.dbrk
ends_crowd named
at_least most-have-names "$(daybreak report names.dbrk | awk '$1 == "crowd`hit" { n += $2 } END { print n + 0 }')" $((count * 9 / 10))
echo "crowd: $(daybreak info names.dbrk | grep '^maps')"
holds unload rmmod daybreak
