# SPDX-License-Identifier: Apache-2.0
# dtrace(1)'s command line on the running kernel.
ln -s "$(command -v daybreak)" /bin/dtrace
cd /tmp

# until_there FILE: what runs in the background has begun to print
until_there() {
	until_it test -s "$1"
}

# What was embedded is taken over, goes on, and names the line that faulted.
holds load-anonymous insmod /share/in/anonymous.ko
workload 1
dtrace -a >a.out 2>a.err &
tracer=$!
until_there a.out
workload 1
kill -INT $tracer
wait $tracer
equal anonymous-goes-on "$(grep CALLS a.out)" "CALLS 200"
# Each clause has two probes: vmlinux's and i386's.
equal anonymous-fault-names-its-line "$(sed 's,/.*/,,' a.err)" \
	"dtrace: error on enabled probe ID 5 (ID $(dtrace -ln syscall::getppid:entry | awk 'NR == 2 { print $1 }'): syscall:vmlinux:getppid:entry): invalid address (0x0) in action #2 at anonymous.d:27"
refuses anonymous-is-gone "No anonymous tracing state" dtrace -a

# Listing, without publishing every function, and with.
equal list-one "$(dtrace -ln 'syscall:vmlinux:getppid:' | awk 'NR > 1 { print $2, $4, $5 }' | tr '\n' ' ')" \
	"syscall getppid entry syscall getppid return "
equal list-function "$(dtrace -ln 'fbt::vfs_read:' | awk 'NR > 1 { print $2, $3, $4, $5 }' | tr '\n' ' ')" \
	"fbt vmlinux vfs_read entry fbt vmlinux vfs_read return "
at_least list-tracepoints "$(dtrace -lP sdt | wc -l)" 400
refuses list-nothing "does not match any probes" dtrace -n 'no-such:::'

# A command, held after its exec until tracing has begun, then traced to its end.
equal command "$(dtrace -qn 'syscall::getppid:entry /pid == $target/ { @ = count(); } END { printa("%@d\n", @); }' \
	-c 'workload 2' 2>&1 | tr -d '\n')" 200
equal command-exits "$(dtrace -qn 'proc:::exit /pid == $target/ { printf("%d\n", arg0); }' -c 'workload 1' 2>&1 | tr -d '\n')" 1
# It is held at its end until it can be named, and its signals go on to it.
equal command-named-after-its-end "$(dtrace -qn 'syscall::exit_group:entry /pid == $target/ { @[umod(uregs[R_RIP])] = count(); }' \
	-c 'workload 1' 2>&1 | awk 'NF { print $1, $2 }')" "workload 1"
cat >signals <<'END'
trap 'echo caught' USR1
kill -USR1 $$
exec sh -c 'echo executed'
END
equal command-gets-its-signals "$(dtrace -qn 'END { uaddr(1); }' -c 'sh signals' 2>&1 | grep -v 0x | tr '\n' ' ')" "caught executed "
# A process, until it ends.
sleep 1000 &
sleeper=$!
dtrace -x switchrate=20hz -qn 'BEGIN { printf("%d\n", $target); } proc:::exit /pid == $target/ { printf("%d\n", arg0); }' \
	-p $sleeper >process 2>&1 &
tracer=$!
until_there process
kill $sleeper
wait $tracer
equal process-ends "$(tr '\n' ' ' <process)" "$sleeper 2  "

# Time, exit status, faults, stacks, symbols.
dtrace -n 'tick-50ms { trace(i++); } tick-50ms /i == 4/ { exit(3); }' >tick.out 2>tick.err
equal exit-status $? 3
equal tick-matched "$(cat tick.err)" "dtrace: description 'tick-50ms ' matched 2 probes"
equal tick-output "$(awk '/tick-50ms/ { printf "%s ", $4 }' tick.out)" "0 1 2 3  "
equal fault "$(dtrace -qn 'BEGIN { trace(*(int *)0); } BEGIN { exit(0); }' 2>&1 >/dev/null | grep -c 'error on enabled probe ID .*: invalid address (0x0) in action #1')" 1
equal function-return "$(dtrace -qn 'fbt::vfs_write:return /pid == $target/ { @[arg0 == -1, caller] = count(); }
	END { printa("%d %a %@d\n", @); }' -c 'workload 1' 2>&1 | tr -d '\n' | sed 's/+0x[0-9a-f]*//')" '1 vmlinux`ksys_write 20'

# Kernel symbols and types, translated arguments, speculations, what is after -w.
equal kernel-symbol "$(dtrace -qn 'BEGIN { printf("%s", stringof(`linux_banner)); exit(0); }' 2>&1 | tr -d '\n')" "$(cat /proc/version)"
refuses kernel-symbol-unknown "nobody_has_this" dtrace -qn 'BEGIN { trace((int)`nobody_has_this); exit(0); }'
equal translated "$(dtrace -qn 'proc:::exit /pid == $target/ { printf("%s %d\n", curpsinfo->pr_fname, curpsinfo->pr_pid == pid); }' \
	-c 'workload 1' 2>&1 | tr -d '\n')" "workload 1"
equal typed-arguments "$(dtrace -qn 'proc:::create /execname == "sh"/ { printf("%d\n", args[0]->pr_ppid == pid); exit(0); }' -c 'sh -c /bin/true;/bin/true' 2>&1 | tr -d '\n')" 1
equal speculations "$(dtrace -x nspec=8 -x switchrate=20hz -qn 'syscall::openat:entry /pid == $target/ { self->s = speculation(); speculate(self->s); printf("%s\n", copyinstr(arg1)); }
	syscall::openat:return /self->s && errno == 2/ { commit(self->s); self->s = 0; }
	syscall::openat:return /self->s/ { discard(self->s); self->s = 0; }' -c 'workload 1' 2>&1 | sort | uniq -c | awk '$2 { print $1, $2 }')" \
	"5 /nowhere/at/all"
equal system "$(dtrace -wqn 'BEGIN { system("echo %s", "ran"); exit(0); }' 2>&1 | tr -d '\n')" ran
equal raise "$(dtrace -wqn 'syscall::getppid:entry /pid == $target/ { raise(9); }
	proc:::exit /pid == $target/ { printf("%d\n", arg0); }' -c 'workload 1' 2>&1 | tr -d '\n')" 2
equal begin-on-its-cpu "$(dtrace -x cpu=1 -qn 'BEGIN { trace(cpu); exit(0); } END { trace(cpu); }' 2>&1 | tr -d '\n')" 11
refuses destructive-not-allowed "Destructive actions not allowed" dtrace -qn 'BEGIN { stop(); }'

# A timer that is late by whole intervals: 5 ms of each firing are four firings of the next 1 ms that are missed, at least.
dtrace -wqn 'tick-1ms /n < 20/ { n++; chill(5000000); } tick-1s { exit(0); }' >late.out 2>late.err
at_least late-timer-misses "$(awk '/firings missed on CPU/ { n += $2 } END { print n }' late.err)" 80
equal whose-firings-they-are "$(grep -vc '(last: profile:::tick-1m\?s)$' late.err)" 0

# Every record of many, while they come; and those that found no room are reported.
equal all-records "$(dtrace -x switchrate=10hz -qn 'syscall::getppid:entry /pid == $target/ { printf("%d\n", n++); }' \
	-c 'workload 300' 2>drops.err | awk 'NF { if ($1 != n++) bad++ } END { print n, bad + 0 }')" "30000 0"
equal all-records-no-drops "$(cat drops.err)" ""
dtrace -b 32k -x switchrate=10s -qn 'syscall:::entry /pid == $target/ { trace(timestamp); trace(arg0); }' \
	-c 'workload 100' >/dev/null 2>drops.err
at_least drops-are-reported "$(grep -c 'dtrace: [0-9]* drops on CPU [01]$' drops.err)" 1
equal ring-keeps-the-newest "$(dtrace -b 32k -x bufpolicy=ring -qn 'syscall:::entry /pid == $target/ { printf("%s\n", probefunc); }' \
	-c 'workload 50' 2>&1 | grep -v '^$' | tail -n 1)" exit_group

# Records, aggregations and the status are read at rates of their own, and setopt() changes them. An hour is for ever here.
equal setopt-switchrate "$(dtrace -x switchrate=1hour -qn 'BEGIN { setopt("switchrate", "20hz"); } tick-20ms { printf("tick\n"); }' | head -n 2 | tr '\n' ' ')" \
	"tick tick "
# What go was printed with was the last look before the end: all three show what is known then.
dtrace -x switchrate=20hz -x aggrate=20hz -qn 'BEGIN { setopt("switchrate", "1hour"); setopt("aggrate", "1hour"); printf("go\n"); }
	syscall::getppid:entry /execname == "workload"/ { on = 1; }
	tick-1s /on/ { @ = count(); printa("%@d", @); } tick-1s /on && ++n == 3/ { exit(0); }' >aggrate 2>&1 &
tracer=$!
until_there aggrate
workload 1
wait $tracer
equal setopt-aggrate "$(tr '\n' ' ' <aggrate)" "go 333 "
# The first look at the status is after BEGIN, the second 10 s later.
dtrace -x statusrate=10s -qn 'BEGIN { t = timestamp; printf("go\n"); } syscall::getppid:entry /execname == "workload"/ { exit(0); }
	END { printf("%s\n", timestamp - t > 10000000000 ? "waited" : "did not wait"); }' >status 2>&1 &
tracer=$!
until_there status
workload 1
wait $tracer
equal statusrate "$(tr '\n' ' ' <status)" "go waited  "
# A buffer smaller than a segment is empty each time that it was read; what found no room before the first time does not count.
equal small-buffer "$(dtrace -b 1k -x switchrate=20hz -qn 'tick-10ms { printf("%d\n", n++); } tick-10ms /n == 300/ { exit(0); }' 2>/dev/null | grep -c .)" 300

# Two at once, each with its own; both see all.
for one in 1 2; do
	dtrace -qn 'BEGIN { printf("go\n"); } syscall::getppid:entry /execname == "workload"/ { @ = count(); } END { printa("%@d\n", @); }' \
		-x switchrate=20hz >two.$one 2>&1 &
	eval "tracer_$one=\$!"
done
until_there two.1
until_there two.2
workload 5
kill -INT "$tracer_1"
wait "$tracer_1"
workload 3
kill -TERM "$tracer_2"
wait "$tracer_2"
# The newline after go is the one that follows a terminal's ^C.
equal two-at-once "$(cat two.1 two.2 | tr '\n' ' ')" "go  500  go  800  "

# Killed: nothing is left, and the module can go only then.
dtrace -qn 'BEGIN { printf("go\n"); } syscall:::entry, fbt::vfs_*:return { @[probefunc] = count(); }' -x switchrate=20hz >killed 2>&1 &
tracer=$!
until_there killed
refuses unload-while-tracing "busy\|in use\|unavailable" rmmod daybreak
kill -KILL $tracer
wait $tracer
holds trace-after-the-kill dtrace -qn 'BEGIN { exit(0); }'
holds unload-after-the-kill rmmod daybreak
