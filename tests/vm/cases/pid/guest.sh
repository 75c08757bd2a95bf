# SPDX-License-Identifier: Apache-2.0
# Functions of processes through uprobes, against a library that is loaded before the C library and counts.
holds load insmod /share/in/daybreak.ko
cp -r /share/in/root/* /
export LD_LIBRARY_PATH=/lib COUNTER=/tmp/count
ln -s "$(command -v daybreak)" /bin/dtrace
cd /tmp

traced() { # what dtrace prints, on one line; what it says is in the file said
	dtrace -q "$@" 2>said | tr '\n' ' ' | sed 's/  */ /g; s/^ //; s/ $//'
}

# Each malloc() of ls, and of four threads at once, from the program's first instruction on.
for what in 'real-ls -lR /lib /dev' 'target threads 4 2000'; do
	rm -f count out
	LD_PRELOAD=/lib/counter.so dtrace -qn 'pid$target:libc.so.6:malloc:entry { @ = count(); } END { printa("%@d", @); }' \
		-o out -c "$what" >printed 2>said
	equal "malloc-of-${what%% *}" "$(cat out)" "$(od -A n -t d8 count | tr -d ' ')"
	at_least "malloc-of-${what%% *}-happened" "$(cat out)" 20
done

# Arguments, in registers and on the stack, and what was returned; of the target, not of its children.
equal entries "$(traced -n 'pid$target:target:work:entry { printf("%d %s %d %d\n", arg0, copyinstr(arg1), arg5, arg6); }' -c 'target forks 3')" \
	"1 parent 6 7 3 parent 6 7"
equal returns "$(traced -n 'pid$target:a.out:work:return { printf("%s %d %d\n", probemod, (int)arg0, arg1); }' -c 'target forks 3')" \
	"a.out -1 32 a.out -1 34"
equal both "$(traced -n 'pid$target::work:entry { self->a = arg0; } pid$target::work:return /self->a/ { printf("%d:%d\n", self->a, arg1); }' -c 'target forks 1')" \
	"1:32 3:34"
equal whole-module "$(traced -n 'pid$target:a.out:: /probefunc == "work"/ { @[probename] = count(); }' -c 'target forks 1')" "entry 2 return 2"
refuses start-has-no-return "there is no return" dtrace -qn 'pid$target:a.out:_start:return' -c 'target forks 1'
equal stack "$(traced -n 'pid$target:target:work:entry { ustack(2); exit(0); }' -c 'target forks 1' | sed 's/+0x[0-9a-f]*//g')" 'target`work target`forks'

# A library without what follows its name; a program whose file is deleted while it runs.
dtrace -qn 'pid$target:libc:malloc:entry /!seen++/ { printf("%s", probemod); }' -o short-name -c 'target threads 1 1' >printed 2>said
equal short-name "$(cat short-name)" libc
cp /bin/target gone
mkfifo in-gone
./gone waits <in-gone >text-gone &
gone=$!
exec 5>in-gone
until_it grep -q gone /proc/$gone/maps
rm gone
dtrace -qn "pid$gone:gone:work:entry"' { ustack(1); exit(0); }' -o deleted 2>said &
until_it eval 'echo line >&5; [ -s deleted ]'
equal deleted "$(tr -d ' \n' <deleted)" 'gone`work'
exec 5>&-

# Instructions: each that begins in the function, and none inside of another.
offsets=$(sed 's/^/pid$target:target:work:/' /share/in/begins | tr '\n' ',')
equal instructions "$(traced -n "${offsets%,}"' { @[probename] = count(); }' -c 'target forks 1' | tr ' ' '\n' | paste -d ' ' - - | sort | tr '\n' ' ')" \
	"$(sed 's/$/ 2/' /share/in/begins | sort | tr '\n' ' ')"
inside=1
while grep -qx "$(printf %x $inside)" /share/in/begins; do inside=$((inside + 1)); done
refuses inside-of-an-instruction "has no instruction that begins there" dtrace -qn "pid\$target:target:work:$(printf %x $inside) {}" -c 'target forks 1'
refuses inside-by-path "has no instruction that begins there" dtrace -qn "pid*:/bin/target:work:$(printf %x $inside) {} BEGIN { exit(0); }"
holds begins-by-path dtrace -qn "pid*:/bin/target:work:$(tail -n 1 /share/in/begins) {} BEGIN { exit(0); }"
refuses after-the-end "entry, return, and its offsets" dtrace -qn 'pid$target:target:work:fff {}' -c 'target forks 1'

# Names of C++: listed, traced, recorded and reported whole; and one that is too long even for that.
name=$(cat /share/in/long-name)
at_least long-name "${#name}" 300
equal long-listed "$(dtrace -ln "pid\$target:long:$name:" -c long 2>/dev/null | awk 'NR > 1 { print $(NF - 1), $NF }' | sort | tr '\n' ' ')" "$name entry $name return "
equal long "$(traced -x strsize=1k -n "pid\$target:long:*called_with*:entry { printf(\"%s %d;\", probefunc, arg0); }" -c long)" "$name 1;$name 2;$name 3;"
holds long-compiles daybreak compile -n "pid*:/bin/long:$name:return { trace(arg1); @[probefunc, probename] = sum(arg1); }" -x bufpolicy=ring -x strsize=1k -o long.dof
holds long-starts daybreak start --dof long.dof --name long
equal long-listed-by-others "$(dtrace -ln "pid::*called_with*:return" | awk 'NR > 1 { print $(NF - 1) }')" "$name"
holds long-runs long
holds long-stops daybreak stop long -o long.dbrk
equal long-reported "$(daybreak report long.dbrk | awk -v at="$name:return" '$3 == at { print $4 } NF == 3 && $2 == "return" { print $1, $2, $3 }' | tr '\n' ' ')" "1 2 3 $name return 6 "
equal long-replayed "$(daybreak replay -qn "pid::$name:return { printf(\"%s %d;\", probefunc, arg1); }" -x strsize=1k long.dbrk 2>&1)" "$name 1;$name 2;$name 3;"
refuses too-long "longer than 4095 bytes" dtrace -qn "pid\$target:long:$(printf %4096s | tr ' ' x):entry {}" -c long

# Paths of containers: by one of 200 bytes listed while it is traced, recorded whole, and replayed; and one that is too long even for that.
folder=/tmp/$(printf %190s | tr ' ' d)
mkdir "$folder"
cp /bin/long "$folder/long"
holds path-compiles daybreak compile -n "pid*:$folder/long:$name:return { trace(probemod); trace(arg1); @[probemod, probefunc] = count(); }" -x bufpolicy=ring -x strsize=1k -o path.dof
holds path-starts daybreak start --dof path.dof --name path
equal path-listed "$(dtrace -ln "pid::$name:return" 2>/dev/null | awk -v at="$folder/long" '$3 == at { print $2, $4, $5 }')" "pid $name return"
holds path-runs "$folder/long"
holds path-stops daybreak stop path -o path.dbrk
equal path-reported "$(daybreak report path.dbrk | awk -v at="$folder/long" '$4 == at { print $5 } $1 == at { print $2, $3 }' | tr '\n' ' ')" "1 2 3 $name 3 "
equal path-replayed "$(daybreak replay -qn "pid:$folder/long::return { printf(\"%s %d;\", probemod, arg1); }" -x strsize=1k path.dbrk 2>&1)" "$folder/long 1;$folder/long 2;$folder/long 3;"
equal path-traced "$(traced -x strsize=1k -n "pid*:$folder/long:$name:entry { printf(\"%s %s;\", probemod, probefunc); }" -c "$folder/long")" "$(for i in 1 2 3; do printf %s "$folder/long $name;"; done)"
refuses too-long-a-path "longer than 4095 bytes" dtrace -qn "pid*:/$(printf %4095s | tr ' ' x):main:entry {}" -c long

# Marks: Python fires them only while the count of its tracers is not 0.  That of 3.11 has function-entry in code that runs
# only while the program itself traces or profiles; the program counts its calls itself.
cat >calls.py <<'END'
import sys
own = {}
def inner(n):
    own['inner'] = own.get('inner', 0) + 1
    return n
def outer(n):
    own['outer'] = own.get('outer', 0) + 1
    for i in range(n):
        inner(i)
if len(sys.argv) > 1:
    sys.setprofile(lambda *what: None)
for i in range(20):
    outer(5)
sys.setprofile(None)
open('counted', 'w').write(f'inner {own["inner"]} outer {own["outer"]}')
END
python_command='python -S -I -X frozen_modules=on calls.py'
export PYTHONHOME=/usr PYTHONDONTWRITEBYTECODE=1
equal marks-listed "$(dtrace -ln 'python$target:::gc-*' -c "$python_command" 2>/dev/null | awk 'NR > 1 { sub(/[0-9]+$/, "N", $2); print $2, $3, $NF }' | sort | tr '\n' ' ')" \
	"pythonN python gc-done pythonN python gc-start "
marks_of() { # COMMAND MARK: how often it fired in functions of calls.py, by name, as the program writes it
	traced -n "python\$target:::$2"' /basename(copyinstr(arg0)) == "calls.py" && index(copyinstr(arg1), "<") < 0/ { @[copyinstr(arg1)] = count(); }' \
		-x aggsortkey -c "$1"
}
equal marks "$(marks_of "$python_command" function-return)" "$(cat counted)"
equal marks-unprofiled "$(marks_of "$python_command" function-entry)" ""
equal marks-profiled "$(marks_of "$python_command profiled" function-entry)" "$(cat counted)"
equal marks-counted "$(cat counted)" "inner 100 outer 20"
equal marks-by-glob "$(traced -n 'python*:::function-return /basename(copyinstr(arg0)) == "calls.py"/ { @ = count(); } END { printa("%@d", @); }' -c "$python_command")" 121
# Of no process and no file: those of the program that runs, and of each that runs it later.
mkfifo in-held
python -S -I -c 'open("in-held").read()' &
held=$!
until_it eval "readlink /proc/$held/exe | grep -q python"
dtrace -qn 'BEGIN { printf("begun\n"); } python*:::function-return /basename(copyinstr(arg0)) == "calls.py"/ { @ = count(); } END { printa("%@d", @); }' \
	-x switchrate=10hz -o of-running 2>said &
tracer=$!
until_it grep -q begun of-running
$python_command
kill -INT $tracer
wait $tracer
equal marks-of-what-runs "$(tr -d '\n ' <of-running)" begun121
echo >in-held
wait $held
refuses marks-of-what-ran "does not match any probes" dtrace -qn 'python*:::function-return {}'
refuses no-such-mark "does not match any probes" dtrace -qn 'python$target:::no-such-mark {}' -c "$python_command"

# An argument that is a variable; without its symbol it is said to read as 0.
equal variable "$(traced -n 'variable$target:::read { printf("%d %d", (int)arg0, arg1); }' -c variable)" "-7 3"
equal variable-stripped "$(traced -n 'variable$target:::read { printf("%d %d", (int)arg0, arg1); }' -c stripped; grep -c '1 argument of a mark reads as 0' said)" "0 31"

# Probes that a program defined with -h: what it counts itself, and not one of them when nothing is traced.
equal own-alone "$(shop)" "450 11025 0"
equal own "$(traced -n 'shop$target:::sold { @n = count(); @s = sum(arg0); } END { printa("%@d ", @n); printa("%@d", @s); }' -o own -c shop) $(cat own)" \
	"450 11025 0 450 11025"
equal own-arguments "$(traced -n 'shop$target:::sold /arg0 == -7/ { printf("%s %s %d;", probefunc, copyinstr(arg1), arg2); }' -o own-arguments -c shop >printed; tr ';' '\n' <own-arguments | sort | tr '\n' ' ')" \
	" main C 200 more C++ 201 more C++ 201 "
rm own
equal own-enabled "$(traced -n 'shop*:shop:main:looked-at { @ = sum(arg0); } END { printa("%@d", @); }' -o own -c shop) $(cat own)" \
	"450 11025 150 36750000000000"

# plockstat(1)'s report: who waited for which kind of lock, and who held it how often, as the program counts it itself; locks and
# callers by name.
daybreak watch plockstat -c 'target locks' -o locks >counted 2>said
equal plockstat "$?" 0
locks_of() { # KIND COUNT CALLER, one a line
	awk '/ events in / { sub(/:.*/, ""); kind = $0 } $4 ~ /^target`/ { sub(/[+].*/, "", $4); sub(/.*`/, "", $4); print kind, $1, $4 }' "$1" | sort
}
equal locks "$(locks_of locks | tr '\n' ';')" "$(sort counted | tr '\n' ';')"
equal locks-kinds "$(sed 's/\(block\|hold\) .*/\1/' counted | sort -u | tr '\n' ';')" \
	'Mutex block;Mutex hold;R/W reader block;R/W reader hold;R/W writer block;R/W writer hold;'
equal locks-named "$(awk '$4 ~ /^target`/ { print $3 }' locks | sort -u | tr '\n' ' ')" 'target`mutex target`rwlock '
at_least locks-time "$(awk '/ events in / { kind = $1 } kind == "R/W" && $4 ~ /waits_for/ { print $2; exit }' locks)" 100000000

# The kernel waits for 64 returns of a thread at once: those of deeper calls are not seen, and counted.
equal deep-returns "$(traced -n 'pid$target:a.out:deep:return { @ = count(); } END { printa("%@d", @); }' -c 'target deep 99')" 64
equal deep-returns-missed "$(sed -n 's/.* \([0-9]*\) firings\? missed.*/\1/p' said | awk '{ all += $1 } END { print all + 0 }')" 36

# Files that are not there when the program starts: armed when a process maps them, in each copy, also by dlopen().
mkdir later hidden other fs inside
cp /bin/target /lib/plugin.so later
cat >later.d <<'END'
#pragma D option quiet
pid*:/tmp/later/target:work:entry { printf("%s-%d\n", execname, arg0); }
pid*:/tmp/later/target:work:entry /arg0 == 9/ { ustack(2); }
pid*:/tmp/later/plugin.so:plugged:entry { printf("plugged-%d", arg0); ustack(2); }
END
daybreak compile -s later.d -x bufpolicy=ring -o later.dof
mv later/target later/plugin.so hidden
holds later-starts daybreak start --dof later.dof
hidden/target forks 1
cp hidden/* later
later/target forks 1
later/target opens /tmp/later/plugin.so
cp /bin/real-ls other/target
other/target >/dev/null
mount -t tmpfs none fs
cp hidden/target fs
fs/target forks 0
if umount fs 2>/dev/null; then fail held-while-armed "the file system could be unmounted"; else pass held-while-armed; fi
# Neither target nor libc has frame pointers: the stack itself is recorded, and unwound when the process is gone.
daybreak compile -n 'pid*:/tmp/later/target:work:entry /arg0 == 7/ { ustack(); @[ustack()] = count(); }' -x bufpolicy=ring -x aggregate=record -x ustackbytes=4k -o whole.dof
holds whole-starts daybreak start --dof whole.dof --name whole
holds sorts later/target sorts
holds whole-stops daybreak stop whole -o whole.dbrk
cp whole.dbrk /share/out/
equal whole "$(daybreak report whole.dbrk | grep -o 'target`[a-z_]*\|libc[.]so[.]6\|(by .*' | sed 's/: [0-9]*)/: N)/' | uniq | tr '\n' ' ')" \
	'target`work target`compare libc.so.6 target`sorts target`main libc.so.6 target`_start (by .eh_frame; frame pointers: N) target`work target`compare libc.so.6 target`sorts target`main libc.so.6 target`_start (by .eh_frame) '
# A replay has what was recorded of the stack.
equal whole-replayed "$(daybreak replay -qn 'pid:::entry { ustack(); @[ustack()] = count(); }' whole.dbrk 2>said | grep -o 'target`[a-z_]*\|libc[.]so[.]6\|(by .*' | sed 's/: [0-9]*)/: N)/' | uniq | tr '\n' ' ')" \
	'target`work target`compare libc.so.6 target`sorts target`main libc.so.6 target`_start (by .eh_frame; frame pointers: N) target`work target`compare libc.so.6 target`sorts target`main libc.so.6 target`_start (by .eh_frame) '
# Where a process can do little, does something else with its mappings, is held by another, or sees other processes and files.
later/target moves /tmp/later/plugin.so
equal moves "$?" 0
mkfifo in-makes
later/target makes <in-makes &
makes=$!
exec 6>in-makes # it lives till it is recorded
until_it grep -q '^0 0x0 ' /proc/$makes/syscall # read(0)
later/target sealed
equal sealed "$?" 0
export LD_BIND_NOW=1 # fewer steps
equal traced "$(later/target traced 0; echo $?) $(later/target traced 1; echo $?)" "0 0"
unset LD_BIND_NOW
unshare -m -p -f sh -c 'mount -t tmpfs inside /tmp/inside && cp /tmp/hidden/target /tmp/inside && exec /tmp/inside/target forks 0'
equal in-namespaces "$?" 0
holds later-stops daybreak stop later -o later.dbrk
exec 6>&-
wait $makes
equal makes "$?" 0
holds unmounts umount fs
fs_target_gone=$(ls fs)
equal later "$(daybreak report later.dbrk | sed 's/+0x[0-9a-f]*//; s/perf-[0-9]*/perf-PID/' | tr -s ' \n' ' ')" \
	"target-1 target-2 target-3 target-1 target-2 target-3 plugged-7 plugin.so\`plugged target\`opens target-1 target-3 target-7 $(for i in 0 1 2; do for at in there moved there; do printf 'plugged-%d plugin.so`plugged target`moves ' $i; done; done)target-9 target\`work perf-PID.map\`made in a hurry target-9 target\`work perf-PID.map\`made at leisure target-5 target-6 target-6 target-1 target-3 "
equal nothing-left "$fs_target_gone" ""

# Programs that come while the probes are being armed: one place is hooked once.
mkdir often
cp hidden/target often
while [ ! -e often/enough ]; do often/target forks 0; done >/dev/null &
often=$!
for round in 1 2 3 4 5; do
	begins armed counted dtrace -qn 'pid*:/tmp/often/target:work:entry { @[pid] = count(); } tick-10hz /n++ == 0/ { printf("armed\n"); }
		END { printa("CALLS %@d\n", @); }'
	kill -INT $begun
	wait $begun
	at_least "often-$round" "$(grep -c '^CALLS 2$' counted)" 1
	equal "once-$round" "$(grep -c '^CALLS [^12]' counted)" 0
done
: >often/enough
wait $often

# Copies that run already when the program comes: in a container, on a file system of its own; one whose main thread has ended; of a
# file that says no build id, what has the path in its own root, also where that is made of layers, and nothing else.  What they have mapped is known as well.
says() { # the next sum of its text, of what reads lines from in-NAME; each is NAME, and a call of work()
	lines=$(wc -l <text-$1)
	echo "$1" >in-$1
	until_it eval "[ \"\$(wc -l <text-$1)\" -gt $lines ]"
	tail -n 1 text-$1 | cut -d ' ' -f 2
}
lives() { # NAME COMMAND...
	name=$1
	shift
	mkfifo in-$name; : >text-$name
	"$@" <>in-$name >text-$name &
	living="$living $!"
	says $name >first-$name
}
mkdir -p jail/bin elsewhere gone-main layers/low/bin layers/none layered
cp /bin/unnamed jail/bin
cp /bin/unnamed layers/low/bin
cp /bin/unnamed elsewhere
cp hidden/target gone-main
living=
lives contained unshare -m sh -c 'mount -t tmpfs inside /tmp/inside && cp /tmp/hidden/target /tmp/inside && exec /tmp/inside/target waits'
lives threaded gone-main/target leaves
until_it grep -q '^State:.Z' /proc/$!/status
lives jailed chroot jail /bin/unnamed waits
lives layered unshare -m sh -c 'mount -t overlay none -o lowerdir=/tmp/layers/low:/tmp/layers/none /tmp/layered && exec chroot /tmp/layered /bin/unnamed waits'
lives elsewhere elsewhere/unnamed waits
cat >living.d <<'END'
#pragma D option quiet
pid*:/tmp/hidden/target:work:entry, pid*:/bin/unnamed:work:entry { printf("%s", copyinstr(arg1)); }
pid*:/tmp/hidden/target:work:entry /copyinstr(arg1) == "threaded\n"/ { ustack(1); }
END
daybreak compile -s living.d -x bufpolicy=ring -o living.dof
holds living-starts daybreak start --dof living.dof --name living
for name in contained threaded jailed layered elsewhere; do says $name >/dev/null; done
holds living-stops daybreak stop living -o living.dbrk
equal living "$(daybreak report living.dbrk 2>said | sed 's/+0x[0-9a-f]*//' | tr -s ' \n' ' ')" 'contained threaded target`work jailed layered '
equal living-all-looked-at "$(dmesg | grep -c 'could not be looked at')" 0
for name in contained threaded jailed layered elsewhere; do equal living-restored-$name "$(says $name)" "$(cat first-$name)"; done
kill $living
wait $living

# A program that prints as it traces unwinds as well; keys are unwound when they are recorded, not where the kernel counts them.
equal whole-live "$(traced -x ustackbytes=4k -n 'pid$target:target:work:entry /!seen++/ { ustack(); @[ustack(1)] = count(); }' -c 'target sorts' |
	grep -o 'target`[a-z_]*\|libc[.]so[.]6\|([bw][^)]*)' | sed 's/: [0-9]*)/: N)/' | uniq | tr '\n' ' ')" \
	'target`work target`compare libc.so.6 target`sorts target`main libc.so.6 target`_start (by .eh_frame; frame pointers: N) target`work (by frame pointers: option aggregate=record makes keys of whole stacks) '
equal whole-key-live "$(traced -x ustackbytes=4k -x aggregate=record -n 'pid$target:target:work:entry /!seen++/ { @[ustack(3)] = count(); }' -c 'target sorts' |
	grep -o 'target`[a-z_]*\|libc[.]so[.]6\|([bw][^)]*)' | uniq | tr '\n' ' ')" 'target`work target`compare libc.so.6 (by .eh_frame) '
# Code that the target has made, and named as a runtime does.
equal made-live "$(traced -n 'pid$target:target:work:entry { ustack(2); }' -c 'target makes' | sed 's/+0x[0-9a-f]*//g; s/perf-[0-9]*/perf-PID/g')" 'target`work perf-PID.map`made in a hurry target`work perf-PID.map`made at leisure'

# Functions of a file without a build id are of one file, as those of one with it: they are not looked for in a thousand.
armed_10ms() { # FILE
	begin=$(tr -d . </proc/uptime)
	dtrace -qn "pid*:/bin/$1:many_*:entry { trace(1); } BEGIN { exit(0); }" >/dev/null 2>said || echo failed
	end=$(tr -d . </proc/uptime)
	echo $((${end%% *} - ${begin%% *}))
}
with_id=$(armed_10ms many-with-id)
without_id=$(armed_10ms many-without)
echo "a thousand functions: $with_id with a build id, $without_id without, times 10 ms"
at_least many-without-build-id $((without_id <= 3 * with_id)) 1

# A file that is replaced by another build where none says its id: no breakpoint in the middle of an instruction.
mkdir replaced
cp /bin/build-a replaced/it
holds replaced-compiles daybreak compile -n 'pid*:/tmp/replaced/it:work:1, pid*:/tmp/replaced/it:work:entry { @ = count(); }' -x bufpolicy=ring -o replaced.dof
cp /bin/build-b replaced/it
daybreak start --dof replaced.dof --name replaced 2>&1
holds replaced-runs-as-it-is replaced/it
holds replaced-stops daybreak stop replaced -o replaced.dbrk
at_least replaced-is-said "$(dmesg | grep -c '/tmp/replaced/it is another build')" 1

# Copies that any user makes, of the same id and of other code: none is broken, and they do not fill the kernel's log.
mkdir twin twins
cp /bin/twin-a twin/it
holds twins-compile daybreak compile -n 'pid*:/tmp/twin/it:work:1, pid*:/tmp/twin/it:work:2, pid*:/tmp/twin/it:work:3, pid*:/tmp/twin/it:work:4 { @ = count(); }' -x bufpolicy=ring -o twins.dof
holds twins-start daybreak start --dof twins.dof --name twins
failed=0
for twin in $(seq 20); do
	mkdir twins/$twin
	cp /bin/twin-b twins/$twin/it
	twins/$twin/it || failed=$((failed + 1))
done
equal twins-run-as-they-are $failed 0
holds twins-stop daybreak stop twins -o twins.dbrk
at_least twins-are-said "$(dmesg | grep -c 'no probe at .*:work:[1-4] in a copy, it: no instruction')" 4
less_than twins-do-not-flood "$(dmesg | grep -c 'no probe at .* in a copy, it:')" 80

# A file whose opening waits, as a server's answer would be waited for: the program that names it does, and no other.
mkdir leased
cp hidden/target leased
holds leased-compiles daybreak compile -n 'pid*:/tmp/leased/target:work:entry { @ = count(); }' -x bufpolicy=ring -o leased.dof
echo 600 >/proc/sys/fs/lease-break-time
target leases leased/target &
leases=$!
until_it grep -q LEASE /proc/locks
daybreak start --dof leased.dof --name leased 2>said &
starts=$!
until_it eval "grep -q 'LEASE.*BREAKING' /proc/locks && grep -q '^16 ' /proc/$starts/syscall" # ioctl(2)
holds others-do-not-wait timeout -s KILL 60 dtrace -qn 'BEGIN { exit(0); }'
kill -9 $starts
wait $starts
kill $leases
wait $leases
holds leased-starts daybreak start --dof leased.dof --name leased
holds leased-stops daybreak stop leased -o leased.dbrk

# A process that lives: its text changes while it is traced and is what it was afterwards; another of the same
# program is left alone.
for one in a b; do
	mkfifo in-$one; : >text-$one
	target waits <in-$one >text-$one &
	eval "pid_$one=$!"
done
exec 8>in-a 9>in-b
before=$(says a)
armed() { # runs a tracer of a in the background until it has seen a call
	rm -f calls
	dtrace -qn "pid$pid_a:a.out:work:entry, pid$pid_a:a.out:work:return"' { printf("%s\n", probename); }' -x switchrate=100hz -o calls 2>said &
	tracer=$!
	until_it eval 'echo line >&8; grep -q return calls'
}
for round in 1 2 3; do
	armed
	if [ "$(says a)" != "$before" ]; then pass "armed-$round"; else fail "armed-$round" "the text has no breakpoint"; fi
	equal "left-alone-$round" "$(says b)" "$before"
	if [ $round = 2 ]; then kill -9 $tracer; else kill -INT $tracer; fi
	wait $tracer
	until_it eval '[ "$(says a)" = "$before" ]'
	equal "restored-$round" "$(says a)" "$before"
done

# Armed and disarmed while it runs, with returns under way; its text is then what it was.  What a round waits for is not what
# is tested: grace periods are hurried, and another program by path keeps the kernel's hook of mappings in its place.
daybreak compile -n 'pid*:/tmp/hidden/target:work:entry, pid*:/tmp/hidden/target:work:return { @[probename] = count(); }' -x bufsize=64k -o arms.dof
mkfifo in-runs
target runs <in-runs &
runs=$!
exec 7>in-runs
daybreak compile -n 'pid*:/lib/plugin.so:plugged:entry { @ = count(); }' -x bufpolicy=ring -o kept.dof
holds kept-starts daybreak start --dof kept.dof --name kept
rounds=$(cat /share/in/rounds)
echo 1 >/sys/kernel/rcu_expedited
equal arms "$(arms arms.dof $rounds)" $rounds
echo 0 >/sys/kernel/rcu_expedited
exec 7>&-
wait $runs
equal arms-harmless $? 0
holds kept-stops daybreak stop kept -o kept.dbrk
equal arms-restored "$(says a) $(says b)" "$before $before"

small &
until_it eval "readlink /proc/$!/exe | grep small" # before exec it is a shell
refuses small "runs a program of 32 bits" dtrace -qn 'pid$target:small:work:entry {}' -p $!
kill $!
refuses small-by-path "is not a program or library of 64 bits" daybreak compile -n 'pid*:/bin/small:work:entry {}' -o small.dof

# The target ends while it is traced; then the module can go.
armed
kill -9 $pid_a
sleep 0.2
kill -INT $tracer
wait $tracer
equal ended-while-armed "$(grep . calls | sort | uniq -c | awk '{ print $2 }' | tr '\n' ' ')" "entry return "
equal listed "$(dtrace -ln "pid$pid_b:target:work:" | awk 'NR > 1 { print $2, $3, $4, $5 }' | sort | tr '\n' ' ')" \
	"pid$pid_b target work entry pid$pid_b target work return "
holds unload rmmod daybreak

# What lived before the module has names when it is gone.
holds load-later insmod /share/in/daybreak.ko
daybreak compile -n 'pid*:/bin/target:work:entry { ustack(1); }' -x quiet -x bufpolicy=ring -o before.dof
holds before-starts daybreak start --dof before.dof --name before
says b >/dev/null
exec 9>&-
wait $pid_b
holds before-stops daybreak stop before -o before.dbrk
equal before "$(daybreak report before.dbrk 2>said | tr -d ' \n' | sed 's/+0x[0-9a-f]*//')" 'target`work'
holds unload-again rmmod daybreak
