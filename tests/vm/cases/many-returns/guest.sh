# SPDX-License-Identifier: Apache-2.0
# sleepers STATE TEST NUMBER: how many of this name are in a state, as /proc/PID/stat has it
sleepers() {
	[ "$(grep -l "(sleep) $1" /proc/[0-9]*/stat 2>/dev/null | wc -l)" "$2" "$3" ]
}
cd /tmp
holds load insmod /share/in/daybreak.ko
# One function has 1024 notes; what others sleep is shorter.
begins READY seen daybreak dtrace -qn 'BEGIN { printf("READY\n"); }
	fbt::hrtimer_nanosleep:entry /arg0 == 300000000000/ { self->long = 1; }
	fbt::hrtimer_nanosleep:return /self->long/ { @ = count(); self->long = 0; } END { printa("SEEN %@d\n", @); }' 2>missed
pids=
for i in $(seq 1200); do
	sleep 300 &
	pids="$pids $!"
done
until_it sleepers S -ge 1200
kill $pids
until_it sleepers '[^Z]' -eq 0
kill -INT $begun
wait $begun
seen=$(sed -n 's/SEEN //p' seen)
missed=$(sed -n 's/.* \([0-9]*\) firings\? missed.*/\1/p' missed | awk '{ all += $1 } END { print all + 0 }')
at_least returns-seen "$seen" 1000
less_than returns-seen-no-more "$seen" 1025
at_least returns-seen-or-missed "$((seen + missed))" 1200
holds unload rmmod daybreak
