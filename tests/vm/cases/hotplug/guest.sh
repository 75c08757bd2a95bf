# SPDX-License-Identifier: Apache-2.0
cd /tmp
cpus=/sys/devices/system/cpu
# Newer kernels do not count the CPUs that this firmware says may be plugged in: seen on 6.12, where 3 are possible.
case $(uname -r) in
6.1.*) equal possible "$(cat $cpus/possible)" 0-63 ;;
*) equal possible "$(cat $cpus/possible)" 0-2 ;;
esac
equal online "$(cat $cpus/online)" 0-1
holds load insmod /share/in/daybreak.ko

# Two CPUs and dtrace's defaults: what it takes does not depend on those that may come.
memory /share/in/plain.dof >plain.out
cat plain.out
less_than default-consumer "$(sed -n 's/^REGIONS //p' plain.out)" 6000000
memory /share/in/cells.dof >cells.out
cat cells.out
less_than cells "$(sed -n 's/^TAKEN //p' cells.out)" 6000000

# What a CPU writes, 64 MiB, lies on its own memory node, also where another one makes the ring.
free_kib() {
	sed -n "s/^Node $1 MemFree: *\([0-9]*\) kB/\1/p" "/sys/devices/system/node/node$1/meminfo"
}
# What the commands before took is given back a while later: not while free memory grows.
for one in 1 2 3 4 5 6 7 8 9 10; do
	free_0=$(free_kib 0)
	sleep 0.5
	[ $(($(free_kib 0) - free_0)) -gt 256 ] || break
done
free_0=$(free_kib 0)
free_1=$(free_kib 1)
begins READY said daybreak dtrace -qb 64m -n 'BEGIN { printf("READY\n"); } syscall::umask:entry { trace(arg0); }'
at_least on-the-node-of-cpu-0 $((free_0 - $(free_kib 0))) 40000
at_least on-the-node-of-cpu-1 $((free_1 - $(free_kib 1))) 40000
kill -INT $begun
ended $begun

# on CPU MASK: umask(MASK) is called on that CPU
on() {
	taskset -c "$1" sh -c "umask $2"
}

# until_said WORD: the tracer has printed it
until_said() {
	holds "says-$1" until_it grep -q "$1" said
}

# Whether the one speculation is to be had again.
cleaned() {
	on 0 04
	grep -q CLEANED said
}

begins READY said daybreak dtrace -s /share/in/calls.d 2>complained
on 0 01
on 1 01
on 1 01
on 1 02
holds offline-1 sh -c "echo 0 >$cpus/cpu1/online"
holds online-2 sh -c "echo 1 >$cpus/cpu2/online"
for call in 1 2 3 4 5; do
	on 2 01
done
until_said CALL.2
# Its speculation was discarded while CPU 1 was away, and cleaned all the same.
on 0 03
until_it cleaned
pass cleaned
holds online-1 sh -c "echo 1 >$cpus/cpu1/online"
on 1 01
on 1 05
on 1 06
until_said COMMITTED
holds offline-2 sh -c "echo 0 >$cpus/cpu2/online"
kill -INT $begun
ended $begun
cat said complained
equal calls-0 "$(grep -c 'CALL 0' said)" 1
equal calls-1 "$(grep -c 'CALL 1' said)" 3
equal calls-2 "$(grep -c 'CALL 2' said)" 5
equal counts "$(grep COUNT said | sort | tr '\n' ' ')" "COUNT 0 1 COUNT 1 3 COUNT 2 5 "
equal fresh "$(grep -c FRESH said)" 1
equal nothing-stale "$(grep -c STALE said)" 0
# Who asks for the speculation while it is being cleaned is refused, and that is counted.
equal no-drops "$(grep -v 'available buffer still busy' complained)" ""

# What a CPU has counted is taken though those before it count nothing: one is away, or option cpu is another's.
# counted OPTION: what a program sees that counts in the engine while umask() is called on CPU 2 three times.
counted() {
	begins READY said taskset -c 2 daybreak dtrace -q -x aggregate=engine $1 -n 'syscall::umask:entry /arg0 == 7/ { @[cpu] = count(); }
		BEGIN { printf("READY\n"); } syscall::umask:entry /arg0 == 8/ { exit(0); }' 2>>complained
	on 2 07
	on 2 07
	on 2 07
	on 2 010
	ended $begun
	grep -v READY said | xargs
}
holds online-2-again sh -c "echo 1 >$cpus/cpu2/online"
holds offline-1-again sh -c "echo 0 >$cpus/cpu1/online"
equal counted-after-one-that-is-away "$(counted)" "2 3"
holds online-1-again sh -c "echo 1 >$cpus/cpu1/online"
equal counted-by-option-cpu "$(counted '-x cpu=2')" "2 3"
holds offline-2-again sh -c "echo 0 >$cpus/cpu2/online"

# They come and go while rings are made and destroyed.
while true; do
	echo 0 >$cpus/cpu1/online
	echo 1 >$cpus/cpu1/online
done &
plugger=$!
rounds=0
while [ $rounds -lt 5 ] && memory /share/in/cells.dof >cells.out; do
	rounds=$((rounds + 1))
done
equal beside-hotplug $rounds 5
kill $plugger
wait
holds unload rmmod daybreak
equal warnings "$(kernel_log 'WARNING:\|BUG:\|Oops')" 0
