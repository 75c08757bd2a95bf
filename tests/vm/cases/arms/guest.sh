# SPDX-License-Identifier: Apache-2.0
# That the log is clean is the harness's check.
cp /share/in/daybreak.ko /share/in/all.d /tmp
cd /tmp
wait_s=1800 # for an arming on a busy host
cp "$(which workload)" witness
hooked() {
	wc -l </sys/kernel/tracing/enabled_functions
}
seconds() {
	cut -d . -f 1 /proc/uptime
}
# With KASAN each allocation walks the stack, by functions that are traced: to arm all takes a quarter of an hour, without other load.
rounds="1 2 3 4 5 6 7 8 9 10" loads="one two" least=30000
case $(uname -r) in
*-debug) rounds=1 loads= wait_s=7200 least=20000 ;;
esac
before=$(hooked)
holds load insmod daybreak.ko
others=
for load in $loads; do
	while true; do workload 20; done >/dev/null 2>&1 &
	others="$others $!"
done
for round in $rounds; do
	begun_at=$(seconds)
	begins READY said daybreak dtrace -s all.d 2>drops
	armed_at=$(seconds)
	at_least "hooked-$round" "$(hooked)" $least
	equal "hooked-last-$round" "$(grep -c '^__text_poke ' /sys/kernel/tracing/enabled_functions)" 1
	./witness 20
	while [ $(seconds) -lt $((armed_at + 60)) ]; do sleep 1; done
	ending_at=$(seconds)
	kill -INT $begun
	wait $begun
	equal "ends-well-$round" $? 0
	# What is not seen of 2000 calls and their returns is a drop, and drops are said.
	dropped=$(sed -n 's/^[a-z]*: \([0-9]*\) .*/\1/p' drops | awk '{ all += $1 } END { print all + 0 }')
	for name in entry return; do
		seen=$(sed -n "s/^KNOWN $name //p" said | grep . || echo 0)
		at_least "seen-or-dropped-$name-$round" $((seen + dropped)) 2000
		less_than "seen-once-$name-$round" "$seen" 2001
	done
	at_least "fired-$round" "$(sed -n 's/^FIRED //p' said)" 100000
	echo "round $round: $((armed_at - begun_at)) s to arm, $((ending_at - armed_at)) s armed, $(($(seconds) - ending_at)) s to disarm, $dropped dropped"
	sed 's/^/| /' drops | head -n 8
done
[ -z "$others" ] || kill $others
wait
holds unload rmmod daybreak
equal no-function-left "$(hooked)" "$before"
