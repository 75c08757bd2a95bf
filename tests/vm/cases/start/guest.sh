# SPDX-License-Identifier: Apache-2.0
mkdir -p /run

ln -s "$(command -v daybreak)" /bin/dtrace
# state NAME: its column of `daybreak status`; rings: how many lines there are
state() {
	daybreak status 2>/dev/null | awk -v name="$1" '$1 == name { print $3 }'
}
line_of() {
	daybreak status 2>/dev/null | grep "^$1 "
}

refuses start-without-module "the daybreak module is not loaded" daybreak start /share/in/calls.d
refuses stop-without-module "the daybreak module is not loaded" daybreak stop calls
holds load insmod /share/in/boot.ko
equal boot-is-listed "$(state boot)" active
equal boot-is-the-modules "$(line_of boot | grep -c 'the module$')" 1

# It goes on when the command has ended, and has its file's name.
holds start daybreak start /share/in/calls.d
equal is-listed "$(state calls)" active
workload 10
equal counts "$(line_of calls | awk '{ print $7 }')" 1000
refuses one-of-a-name "a program named calls is at work already: end it with .daybreak stop calls" daybreak start /share/in/calls.d
refuses bad-name "'two words' is not a name: expected" daybreak start /share/in/calls.d --name "two words"
holds another-name daybreak start /share/in/calls.d --name other
equal both "$(state calls) $(state other)" "active active"
refuses stop-unknown "there is no program callz: did you mean calls?" daybreak stop callz
holds stop-other daybreak stop other
equal other-is-gone "$(state other)" ""
holds compile daybreak compile -x bufpolicy=ring -s /share/in/calls.d -o /tmp/calls.dof
cp /tmp/calls.dof /tmp/first.dof
refuses all-or-none "a program named calls is at work already" daybreak start --dof /tmp/first.dof --dof /tmp/calls.dof
equal none-of-them "$(state first)" ""
equal who-is-in-the-log "$(kernel_log 'daybreak: ring other: enabled by daybreak\[') $(kernel_log 'daybreak: ring other: claimed by daybreak\[')" "1 1"

# Stopped into a file: all of it, END too.
holds stop-to-file daybreak stop calls -o /tmp/calls.dbrk
equal file-has-all "$(daybreak report /tmp/calls.dbrk | grep -c CALL) $(daybreak report /tmp/calls.dbrk | grep -c ENDED)" "1000 1"
equal is-gone "$(state calls)" ""

# Started again while a recorder follows, which picks it up; stopped beneath it; killed and started with its own.
daybreak record --follow /tmp/rec --sync 200ms 2>/tmp/log &
recorder=$!
until_it grep -q '"state": *"recording"' /run/daybreak/recorder.json
holds start-again daybreak start /share/in/calls.d
until_it grep -q '"name": *"calls"' /run/daybreak/recorder.json
workload 10
holds stop-while-followed daybreak stop calls
until_it grep -q 'ring [0-9]* has ended' /tmp/log
kill -TERM $recorder
wait $recorder
equal followed-to-its-end "$(daybreak report --ring calls /tmp/rec | grep -c CALL) $(daybreak report --ring calls /tmp/rec | grep -c ENDED)" "1000 1"

rm /run/daybreak/recorder.json
daybreak record --follow /tmp/own -s /share/in/calls.d --name mine --sync 200ms 2>>/tmp/log &
recorder=$!
until_it grep -q '"name": *"mine"' /run/daybreak/recorder.json
kill -KILL $recorder
wait $recorder
equal outlives-its-recorder "$(state mine)" active
holds stop-after-its-recorder daybreak stop mine
equal ended-after-its-recorder "$(state mine)" ""

# A path is there at return, though its page was not at entry: none is missed.
dtrace -qs /share/in/opens.d -c "cat /proc/version /proc/uptime" >/tmp/opens.out 2>/tmp/opens.err
equal opens-has-paths "$(grep -c '^cat .* /proc/version$' /tmp/opens.out) $(grep -c 'invalid address' /tmp/opens.err)" "1 0"
grep '^cat' /tmp/opens.out

# Another process' is that process' to end; the boot's recording is not thrown away by mistake.
dtrace -n 'tick-1h { exit(0); }' 2>/tmp/dtrace.log &
live=$!
is_active() { [ "$(state "$1")" = active ]; }
until_it is_active dtrace
refuses held-by-another "dtrace is of dtrace\[[0-9]*\], and ends when that process does" daybreak stop dtrace
refuses boots-recording "boot came with the module and holds the recording of this boot" daybreak stop boot
daybreak start /share/in/calls.d
workload 10

# The boot's unit, on a folder that stands for the machine: what its manifest names, and nothing else.
m=/tmp/m
mkdir -p $m/proc/sys/kernel/random $m/sys/module/daybreak $m/boot/grub $m/var/log $m/var/lib/daybreak
cp /proc/sys/kernel/osrelease $m/proc/sys/kernel/
cp /proc/sys/kernel/random/boot_id $m/proc/sys/kernel/random/
echo "rdinit=/daybreak/early-init" >$m/proc/cmdline
touch $m/boot/grub/grub.cfg
printf '%s\n' "daybreak-install 1" "mode once" "loader GRUB" "program named" >$m/var/lib/daybreak/installed
refuses booted-without-its-program "no boot recording" daybreak install --booted --root $m
equal booted-says-so "$(daybreak status --root $m 2>&1 | grep -c 'not traced, or its recording was taken already')" 1
holds start-named daybreak start /share/in/calls.d --name named
holds booted daybreak install --booted --root $m
equal booted-took-its-own "$(ls $m/var/log/daybreak | grep -v symbols) $(state named)" "named.dbrk "
equal booted-left-the-others "$(state boot) $(state calls)" "active active"

# All at once but what dtrace holds: a file for each, named by it.
holds claim-all sh -c "daybreak record --claim -o /tmp/all/ 2>/tmp/claim.log"
equal names-each-file "$(sed -n 's/^daybreak: \(.*dbrk\): .*/\1/p' /tmp/claim.log | tr '\n' ' ')" "/tmp/all/boot.dbrk /tmp/all/calls.dbrk "
equal a-file-each "$(ls /tmp/all | grep -v symbols | tr '\n' ' ')" "boot.dbrk calls.dbrk "
equal symbols-once "$(ls /tmp/all | grep -c symbols.dbrk)" 1
equal each-its-own "$(daybreak report /tmp/all/calls.dbrk | grep -c CALL) $(daybreak report /tmp/all/boot.dbrk | grep -c CALL)" "1000 0"
equal one-of-the-folder "$(daybreak report /tmp/all --ring calls | grep -c CALL) $(daybreak report /tmp/all --ring calls | grep -c BOOT)" "1000 0"
refuses no-such-ring "--ring nowhere: the recording has 1 (boot)," daybreak report /tmp/all --ring nowhere
refuses claim-none-left "no boot recording" daybreak record --claim -o /tmp/all/

# The folder has the symbols of this boot now: they stay, and what is claimed into it refers to them.
before=$(stat -c %i /tmp/all/*symbols.dbrk)
holds start-later daybreak start /share/in/calls.d --name later
holds claim-later daybreak record --claim -q -o /tmp/all/
equal symbols-stay "$(stat -c %i /tmp/all/*symbols.dbrk)" "$before"
at_least later-is-small $((100000 - $(stat -c %s /tmp/all/later.dbrk))) 1
at_least later-has-symbols "$(daybreak info --json /tmp/all/later.dbrk | sed 's/.*"symbols": *\([0-9]*\).*/\1/; t; d')" 10000
kill -INT $live
wait $live
equal nothing-left "$(daybreak status 2>/dev/null | head -n 1)" "no program is at work"
cat /tmp/log
holds unload rmmod daybreak
