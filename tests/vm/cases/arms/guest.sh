# SPDX-License-Identifier: Apache-2.0
# That the log is clean is the harness's check.
cp /share/in/daybreak.ko /share/in/all.d /tmp
cd /tmp
cp "$(which workload)" witness
mkfifo said
functions=/sys/kernel/tracing/enabled_functions
hooked() {
	wc -l <$functions
}
# What is started while all functions are armed takes seconds with KASAN: the shell reads the clock itself.
read_clock() {
	read -r clock clock_rest </proc/uptime
	clock=${clock%.*}
}
load_begins() {
	for load in $loads; do
		workload 1000000 >/dev/null 2>&1 &
		others="$others $!"
	done
}
load_ends() {
	kill $others
	wait $others
	others=
}
others= loads="one two" work=20 slow=
# With KASAN each piece of memory has a stack walked for it: to arm takes minutes, and so would to read what is hooked.
case $(uname -r) in
*-debug) slow=1 loads=one work=2 ;;
esac
before=$(hooked)
holds load insmod daybreak.ko
[ -n "$slow" ] || load_begins
for round in 1 2 3 4 5 6 7 8 9 10; do
	read_clock
	begun_at=$clock
	daybreak dtrace -s all.d >said 2>drops &
	begun=$!
	exec 7<said
	read -r ready <&7
	read_clock
	armed_at=$clock
	equal "armed-$round" "$ready" READY
	[ -z "$slow" ] || load_begins
	if [ -z "$slow" ]; then
		cp $functions functions
		at_least "hooked-$round" "$(wc -l <functions)" 30000
		equal "hooked-last-$round" "$(grep -c '^__text_poke ' functions)" 1
	fi
	./witness $work
	read_clock
	[ $clock -ge $((armed_at + 60)) ] || sleep $((armed_at + 60 - clock))
	[ -z "$slow" ] || load_ends
	read_clock
	ending_at=$clock
	kill -INT $begun
	wait $begun
	equal "ends-well-$round" $? 0
	cat <&7 >counts
	exec 7<&-
	# What is not seen of a hundred calls each time, and their returns, is a drop, and drops are said.
	dropped=$(sed -n 's/^[a-z]*: \([0-9]*\) .*/\1/p' drops | awk '{ all += $1 } END { print all + 0 }')
	for name in entry return; do
		seen=$(sed -n "s/^KNOWN $name //p" counts | grep . || echo 0)
		at_least "seen-or-dropped-$name-$round" $((seen + dropped)) $((100 * work))
		less_than "seen-once-$name-$round" "$seen" $((100 * work + 1))
	done
	at_least "fired-$round" "$(sed -n 's/^FIRED //p' counts)" 100000
	read_clock
	echo "round $round: $((armed_at - begun_at)) s to arm, $((ending_at - armed_at)) s armed, $((clock - ending_at)) s to disarm, $dropped dropped"
	sed 's/^/| /' drops | head -n 8
done
[ -n "$slow" ] || load_ends
holds unload rmmod daybreak
equal no-function-left "$(hooked)" "$before"
