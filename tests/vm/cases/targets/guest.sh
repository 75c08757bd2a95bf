# SPDX-License-Identifier: Apache-2.0
holds load insmod /share/in/daybreak.ko
cp -r /share/in/root/* /
ln -s "$(command -v daybreak)" /bin/dtrace
chmod 755 / /bin /lib /lib64 /tmp
cd /tmp
frames() { # the functions of what is printed, on one line
	grep -o 'suid`[a-z_]*\|bus`[a-z_]*\|plugin.so`[a-z_]*' "$1" | tr '\n' ' '
}

traces() { # FILE PROGRAM [OPTION...]: begins a tracer that prints into the file
	traces_into=$1
	rm -f "$1"
	traces_program="BEGIN { printf(\"begun\n\"); } $2"
	shift 2
	dtrace -qn "$traces_program" -o "$traces_into" "$@" 2>said &
	tracer=$!
	until_it grep -q begun "$traces_into"
}

# Setuid programs, which take their file's user on: of a command, of any user's process by path, and in a recording.
cp /bin/one suid
chown 1000 suid
chmod 4711 suid
cat >suid.d <<'END'
#pragma D option quiet
pid*:/tmp/suid:work:entry { printf("%d %d\n", arg0, uid); ustack(2); }
END
dtrace -qn 'pid$target:suid:work:entry { printf("%d %d\n", arg0, uid); ustack(2); } pid$target::work:return { printf("%d\n", arg1); }' \
	-c '/tmp/suid user' -o target >printed 2>said
equal suid-command "$(tr '\n' ' ' <printed; grep '^[0-9]' target | tr '\n' ' '; frames target)" '0 1000 1000 0 1001 suid`work suid`main '
holds suid-starts daybreak start suid.d
equal suid-has-its-user "$(one as 1001 /tmp/suid user; one as 1002 /tmp/suid user)" '1001 1000
1002 1000'
holds suid-stops daybreak stop suid -o suid.dbrk
daybreak report suid.dbrk >suid.txt
equal suid-recorded "$(grep '^[0-9]' suid.txt | tr '\n' ' '; frames suid.txt)" '1000 1001 1000 1002 suid`work suid`main suid`work suid`main '
chown 0 suid
chmod 4711 suid
holds suid-root-starts daybreak start suid.d
equal suid-root-has-its-user "$(one as 1001 /tmp/suid user)" "1001 0"
holds suid-root-stops daybreak stop suid -o root.dbrk
daybreak report root.dbrk >suid.txt
equal suid-root "$(grep '^[0-9]' suid.txt | tr '\n' ' '; frames suid.txt)" '0 1001 suid`work suid`main '

# A recording whose programs' files have become shorter since, to each length: their functions stay numbers, and it says of which file.
cp /bin/one bus
cat >bus.d <<'END'
#pragma D option quiet
#pragma D option ustackbytes=2k
pid*:/tmp/bus:work:entry { ustack(2); }
END
holds bus-starts daybreak start bus.d
/tmp/bus user >printed
holds bus-stops daybreak stop bus -o bus.dbrk
daybreak report bus.dbrk >bus.txt 2>said
equal bus-whole "$(frames bus.txt)" 'bus`work bus`main '
bytes=$(wc -c <bus)
for part in $((bytes - 1)) $((bytes * 3 / 4)) $((bytes / 2)) 4096 700 64 63 16 4 1 0; do
	truncate -s $part bus
	daybreak report bus.dbrk >bus.txt 2>said
	equal "bus-of-$part-ends" $? 0
	if grep -q 'bus`work' bus.txt || grep -q 'bus.*build' said; then pass "bus-of-$part"; else fail "bus-of-$part" "$(cat bus.txt said | tr '\n' ' ')"; fi
done
refuses bus-by-path "not a program or library of 64 bits" dtrace -qn 'pid*:/tmp/bus:work:entry {}'

# A pipe that took a program's place is not opened: its writer still waits.
cp /bin/one evil
daybreak compile -qn 'pid*:/tmp/evil:work:entry { trace(1); }' -x bufpolicy=ring -o evil.dof
rm evil
mkfifo evil
{ echo line >evil; touch evil-opened; } &
writer=$!
holds pipe-starts daybreak start --dof evil.dof
equal pipe-was-not-opened "$(ls evil-opened 2>&1)" "ls: evil-opened: No such file or directory"
holds pipe-stops daybreak stop -q evil -o evil.dbrk
cat evil >text-evil
wait $writer
equal pipe-had-its-line "$(cat text-evil; ls evil-opened)" "line
evil-opened"

# A library that becomes shorter while its functions are traced: who calls them dies of it, as untraced; the tracer and the kernel do not.
lives() { # HOW: runs what cuts the library, as far as its first call
	cp /lib/plugin.so plugin.so
	rm -f in-cut
	mkfifo in-cut
	one cut /tmp/plugin.so <in-cut >text-cut &
	cut=$!
	exec 8>in-cut
	until_it grep -q called text-cut
}
dies() {
	truncate -s 4096 plugin.so
	echo line >&8
	until_it grep -q ended text-cut
}
lives
dies
exec 8>&-
ended $cut
equal cut-untraced "$? $(tail -n 1 text-cut)" "0 ended by 7"
for how in by-path of-process; do
	lives
	case $how in by-path) probe='pid*:/tmp/plugin.so:plugged' ;; *) probe="pid$cut:plugin.so:plugged" ;; esac
	traces calls "$probe:entry, $probe:return { printf(\"%s\n\", probename); ustack(1); }"
	echo own >&8
	until_it grep -q 'ended by 0' text-cut
	: >text-cut
	dies
	equal "cut-$how" "$(tail -n 1 text-cut)" "ended by 7"
	if [ $how = by-path ]; then # mapped anew, too, while it is shorter than what is traced
		one cut /tmp/plugin.so </dev/null >text-new 2>&1
		at_least cut-mapped-anew $? 1
	fi
	kill -INT $tracer
	ended $tracer
	equal "cut-$how-tracer-ends" $? 0
	exec 8>&-
	ended $cut
	equal "cut-$how-ends" $? 0
	at_least "cut-$how-was-traced" "$(grep -c 'entry' calls)" 1
done

# The count of a mark's tracers is 0 again when the tracer is killed, and when what traces by itself is stopped.
mkfifo in-asks
: >text-asks
one asks <in-asks >text-asks &
asks=$!
exec 9>in-asks
tracers() { # how many the program sees
	lines=$(wc -l <text-asks)
	echo line >&9
	until_it eval '[ "$(wc -l <text-asks)" -gt '"$lines"' ]'
	tail -n 1 text-asks
}
equal marks-none "$(tracers)" 0
for probe in "own$asks:::asked" 'own*:/bin/one::asked'; do
	traces fired "$probe { printf(\"fired\n\"); }" -x switchrate=100hz -p $asks
	equal "marks-of-${probe%%:*}" "$(tracers)" 1
	until_it grep -q fired fired
	kill -9 $tracer
	wait $tracer
	until_it eval '[ "$(tracers)" = 0 ]'
	equal "marks-of-${probe%%:*}-killed" "$(tracers)" 0
done
daybreak compile -qn 'own*:/bin/one::asked { @ = count(); }' -x bufpolicy=ring -o asked.dof
holds marks-start daybreak start --dof asked.dof
equal marks-started "$(tracers)" 1
traces fired "own$asks:::asked {}" -p $asks
equal marks-of-two "$(tracers)" 1 # the kernel counts a place of a process once
kill -9 $tracer
wait $tracer
until_it eval '[ "$(tracers)" = 1 ]'
equal marks-of-the-other "$(tracers)" 1
holds marks-stop daybreak stop asked -o asked.dbrk
equal marks-stopped "$(tracers)" 0
holds marks-start-again daybreak start --dof asked.dof
equal marks-started-again "$(tracers)" 1
holds unload-while-armed rmmod daybreak
equal marks-unloaded "$(tracers)" 0
exec 9>&-
ended $asks
equal marks-ends $? 0
equal no-warning "$(dmesg | grep -c 'WARNING\|BUG:\|Oops')" 0
