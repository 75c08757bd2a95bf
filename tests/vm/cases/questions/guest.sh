# SPDX-License-Identifier: Apache-2.0
# Each question as an article asks it; a known program, or another probe, is the witness.
in=/share/in
holds load insmod $in/daybreak.ko
daybreak dtrace -qn 'BEGIN { exit(0); }' # the kernel's messages are listened to from the first program on
cat /sys/kernel/tracing/enabled_functions >hooked
# ask NAME OPTION...: nothing on standard error, and what is said is in the file `said`
ask() {
	question=$1
	shift
	rm -f said
	daybreak dtrace -q -o said "$@" 2>errors >known
	equal "$question-no-faults" "$(cat errors)" ""
}
# of NAME: what comes after it in what was said
of() {
	sed -n "s|^$1 ||p" said
}

# What a program allocates, by the allocator's type.
ask allocations -s $in/allocations.d -c 'asked allocations'
at_least allocated-by-cache "$(of MALLOC)" 32
equal as-the-tracepoint-says "$(of MALLOC)" "$(of KMALLOC)"
at_least freed-by-cache "$(of FREE)" 32
equal asked-and-got "$(of 'ASKED kmalloc-64' | cut -d ' ' -f 1)" 64
equal by-cache-is-of-all "$(of FILP)" "$(of ALL-FILP)"
at_least files-are-filp "$(of FILP)" 32
refuses no-such-cache "does not match any probes" daybreak dtrace -qn 'dtmalloc::kmaloc-64:malloc'
equal of-all-caches-are-two "$(daybreak dtrace -ln 'dtmalloc:::malloc' | awk '{ print $4 }' | sort | tr '\n' ' ')" "FUNCTION kmalloc kmem_cache "
equal caches-by-a-pattern "$(daybreak dtrace -ln 'dtmalloc::kmalloc-[0-9]*:free' | awk '{ print $4 }' | grep kmalloc- | sort | tr '\n' ' ')" \
	"$(ls /sys/kernel/slab | grep '^kmalloc-[0-9]' | sort | tr '\n' ' ')"

# Which lock, by which function.
equal types-of-a-lock "$(daybreak dtrace -lvn lockstat:vmlinux:mutex_lock:adaptive-acquire | grep -c 'struct mutex \*')" 1
ask mutexes -n 'int between; syscall::getppid:entry /pid == $target/ { between = !between; }
	lockstat:vmlinux:mutex_lock:adaptive-acquire /between && pid == $target/ { @["ONE"] = count(); }
	lockstat:vmlinux::adaptive-acquire /between && pid == $target && probefunc == "mutex_lock"/ { @["ALL"] = count(); }
	fbt::mutex_lock:return /between && pid == $target/ { @["FBT"] = count(); }
	END { printa("%s %@d\n", @); }' -c 'asked writes'
at_least mutexes "$(of ONE)" 12
equal mutexes-by-function "$(of ONE) $(of ALL)" "$(of FBT) $(of FBT)"

# Sizes of reads; system calls by program.
ask reads -n 'syscall::read:return /pid == $target/ { @ = quantize(arg0); } syscall:::entry /pid == $target/ { @n[probefunc] = count(); }
	END { printa("%s %@d\n", @n); }' -c 'asked reads'
equal calls-by-program "$(of getppid) $(of read)" "2 10"
equal sizes-of-reads "$(awk '$1 == 64 || $1 == 2048 { print $1, $NF }' said | tr '\n' ' ')" "64 5 2048 5 "

# Calls by the table of i386 have their own numbers, and arguments in other registers.
ask calls32 -n 'syscall:::entry /pid == $target/ { @n[probefunc] = count(); } syscall::lseek:entry /pid == $target/ { @with[arg0, arg1] = count(); }
	END { printa("%s %@d\n", @n); printa("LSEEK %d %d %@d\n", @with); }' -c 'asked calls32'
equal calls-by-the-table-of-i386 "$(of getpid) $(of lseek) $(of writev)$(of readv)" "14 3 "
equal arguments-of-i386 "$(of LSEEK)" "4294967295 5 3"

# From where, by names that are there already when it is recorded.
ask stacks -n 'syscall::read:entry /pid == $target/ { @["IMM", immstack(2)] = count(); @["OLD", stack(2)] = count(); }' -c 'asked reads'
equal stacks-have-names "$(grep -c 'vmlinux`' said)" "$(grep -c '`' said)"
frames() {
	sed -n "/$1/,/^ *10\$/p" said | sed 1d | tr -s ' \n' ' '
}
equal immediate-is-stack "$(frames IMM)" "$(frames OLD)"

# Other questions of articles.
echo 'asked reads' >/tmp/asks
while IFS='~' read -r question program pattern; do
	ask "$question" -n "$program" -c 'sh /tmp/asks' </dev/null
	if grep -qE "$pattern" said; then pass "$question"; else fail "$question" "$(head -n 3 said)"; fi
done <<'EOF'
exec~proc:::exec { printf("%d %d %s\n", uid, gid, args[0]); }~^0 0 .*/asked$
exec-with-arguments~proc:::exec-success { printf("%s\n", curpsinfo->pr_psargs); }~^asked reads$
raw-calls~syscall:::entry /execname == "asked"/ { printf("%s %s\n", execname, probefunc); }~^asked getppid$
who-opens~syscall::openat:return /execname == "asked"/ { printf("At %Y opened by PID %d UID %d using %s\n", walltimestamp, pid, uid, execname); }~^At .* opened by PID [0-9]+ UID 0 using asked$
one-instruction~kinst::vfs_read:0 /execname == "asked"/ { @[probename] = count(); } END { printa("%s %@d\n", @); }~^0 10$
busy-functions~fbt:vmlinux:vfs_*:entry /execname == "asked"/ { @[probefunc] = count(); } END { printa("%s %@d\n", @); }~^vfs_read 10$
whole-way~syscall::read:entry /execname == "asked"/ { self->t = 1; } syscall::read:return /self->t/ { self->t = 0; } fbt:vmlinux:vfs_*: /self->t/ { @[probefunc, probename] = count(); } END { printa("%s %s %@d\n", @); }~^vfs_read return 10$
waits~lockstat:::*-block { @[arg0] = quantize(arg1); } END { printf("ran\n"); }~^ran$
peers~tcp:::receive { @[args[2]->ip_saddr] = quantize(args[2]->ip_plength); } END { printf("ran\n"); }~^ran$
EOF
equal nothing-stays-hooked "$(cat /sys/kernel/tracing/enabled_functions)" "$(cat hooked)"
holds unload rmmod daybreak
