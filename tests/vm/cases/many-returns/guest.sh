# SPDX-License-Identifier: Apache-2.0
sleeping() {
	[ "$(grep -l '^sleep$' /proc/[0-9]*/comm 2>/dev/null | wc -l)" "$@" ]
}
cd /tmp
holds load insmod /share/in/daybreak.ko
# One function has 1024 notes.
begins READY seen daybreak dtrace -qn 'BEGIN { printf("READY\n"); }
	fbt::hrtimer_nanosleep:return /execname == "sleep"/ { @ = count(); } END { printa("SEEN %@d\n", @); }' 2>missed
sleepers=
for i in $(seq 1200); do
	sleep 300 &
	sleepers="$sleepers $!"
done
until_it sleeping -ge 1200
sleep 2
kill $sleepers
until_it sleeping -eq 0
kill -INT $begun
wait $begun
missed=$(sed -n 's/.* \([0-9]*\) firings\? missed.*/\1/p' missed | awk '{ all += $1 } END { print all + 0 }')
at_least returns-missed "$missed" 1
at_least returns-seen-or-missed "$(($(sed -n 's/SEEN //p' seen) + missed))" 1200
less_than returns-once "$(($(sed -n 's/SEEN //p' seen) + missed))" 1220 # others sleep, too
holds unload rmmod daybreak
