# SPDX-License-Identifier: Apache-2.0
# What probes say, in files; what the kernel says of the same, beside it.
in=/share/in
holds load insmod $in/daybreak.ko
ifconfig lo up
mount -t tracefs none /sys/kernel/tracing
daybreak dtrace -qn 'BEGIN { exit(0); }' # the kernel's messages are listened to from the first program on
cat /sys/kernel/tracing/enabled_functions >hooked

daybreak dtrace -o said -s $in/sched.d -c 'known sched' >known 2>errors
equal sched-no-faults "$(cat errors)" ""
# of NAME: what comes after it in what was said; number NAME: 0 if nothing does
of() {
	sed -n "s|^$1 ||p" said
}
number() {
	of "$1" | grep . || echo 0
}
switches=$(sed -n 's/^SWITCHES //p' known)
# A switch may come between a getppid() and the look at the counters, and has its end later.
near() {
	check_difference=$(($2 - ${3:-0}))
	if [ "$check_difference" -ge -2 ] && [ "$check_difference" -le 2 ]; then pass "$1" "$2"; else fail "$1" "got '$2', expected '$3'"; fi
}
near off-cpu-is-the-kernels-count "$(number OFF)" "$switches"
near on-cpu-is-the-kernels-count "$(number ON)" "$switches"
near sleep-and-preempt-are-all $(($(number SLEEP) + $(number PREEMPT))) "$switches"
equal sysinfo-switches "$(of PSWITCH) $(number INVOLUNTARY)" "$(of OFF) $(number PREEMPT)"
near counted-switches "$(number COUNTED)" "$switches"
near sysinfo-ticks "$(of CPU)" "$(of TICK | cut -d ' ' -f 2)"
# On a busy host a sleep may be over before the thread has left its CPU.
at_least slept "$(of SLEEP)" 5
at_least woken "$(of WAKEUP)" 5
at_least dequeued "$(of DEQUEUE)" 5
near enqueued-again "$(number ENQUEUE)" "$(number DEQUEUE)"
equal on-its-cpu "$(of ENQUEUED | cut -d ' ' -f 1 | sort -u) $(of DEQUEUED | cut -d ' ' -f 1)" "1 1"
equal surrendered "$(of SURRENDER)" 7
equal priorities "$(of PRIORITY | tr '\n' ' ')" "120 125 125 92 92 91 91 125 "
# 100 ms of its time, at 250 a second, of which a busy host loses some.
at_least ticks "$(of TICK | cut -d ' ' -f 2)" 1
equal ticks-are-its-own "$(of TICK | cut -d ' ' -f 1)" 1

at_least nanosleep-is-a-timer "$(of 'TIMER .*`hrtimer_wakeup')" 10
while read -r kind name place; do
	near "callout-$place" "$(number "CALLOUT $kind $name")" "$(number "PLACE $place")"
done <<EOF
timer callout-start timer_expire_entry
timer callout-end timer_expire_exit
hrtimer callout-start hrtimer_expire_entry
hrtimer callout-end hrtimer_expire_exit
work callout-start workqueue_execute_start
work callout-end workqueue_execute_end
EOF

daybreak dtrace -o said -s $in/net.d -c 'known net' >known 2>errors
equal net-no-faults "$(cat errors)" ""
while read -r name number; do
	equal "counted-$name" "$(number "COUNT $name")" "$number"
done <known
for loopback in 127.0.0.1 ::1; do
	# saw NAME COUNT LINE
	saw() {
		equal "$1-$loopback" "$(grep -cxF "$3" said)" "$2"
	}
	saw small-segments-sent 3 "send $loopback:7101>$loopback:7001 10"
	saw small-segments-received 3 "receive $loopback:7101>$loopback:7001 10"
	saw large-segment-sent 1 "send $loopback:7001>$loopback:7101 1000"
	saw large-segment-received 1 "receive $loopback:7001>$loopback:7101 1000"
	saw connect-request 1 "connect-request $loopback:7101>$loopback:7001"
	saw connect-established 1 "connect-established $loopback:7001>$loopback:7101"
	saw accept-established 1 "accept-established $loopback:7101>$loopback:7001"
	saw connect-refused 1 "connect-refused $loopback:7999>$loopback:7102"
	saw accept-refused 1 "accept-refused $loopback:7102>$loopback:7999"
	saw datagrams-sent 4 "udp-send $loopback:7301>$loopback:7201 5"
	saw datagrams-received 4 "udp-receive $loopback:7301>$loopback:7201 5"
	saw sctp-first-of-a-client 1 "sctp-send $loopback:7105>$loopback:7005 0"
	at_least "sctp-all-of-a-server-$loopback" "$(grep -c "sctp-receive $loopback:7005>$loopback:7105 [1-9]" said)" 4
done
states="closed>syn-sent syn-sent>established established>fin-wait-1 fin-wait-1>fin-wait-2 fin-wait-2>closed"
equal states-of-the-client "$(sed -n 's/^state-change 7101:7001 //p' said | sed 's/state-//g' | tr '\n' ' ')" "$states $states "
equal states-of-sctp "$(sed -n 's/^sctp-state-change 7105 state-//p' said | sed 's/>state-/>/' | sort | uniq -c | tr -s ' \n' ' ')" \
	" 2 closed>established 2 closing>closed 2 established>closing "
equal sockets-are-their-segments "$(of 'OWN ports' | tr '\n' ' ')" "11 16 "
equal ends-are-the-packets "$(sed -n 's/^OWN \(...\)-ends \([01]*\) .*/\1 \2/p' said | sort | tr '\n' ' ')" "tcp 11 udp 11 "
equal numbers-are-the-syns "$(of 'OWN numbers' | cut -d ' ' -f 1 | tr '\n' ' ')" "11 "
equal who-began-is-said "$(of 'OWN active' | cut -d ' ' -f 1 | tr '\n' ' ')$(of WHO | cut -d ' ' -f 1,2 | sort | tr '\n' ' ')" "11 0 7001 0 7003 1 7101 1 7103 "
equal answers-are-a-listeners "$(of ANSWER | sort | tr '\n' ' ')" "state-syn-received 7001 2 state-syn-received 7003 2 "
equal last-states-have-ports "$(grep -c '^state-change 0:' said)" 0
equal headers "$(of TTL | tr '\n' ' ')" "lo UDP 64 9 "

# Packets that the counters know and the conversations above do not have.
ifconfig lo mtu 1500
echo 1 >/proc/sys/net/ipv4/ip_forward
route add -net 10.9.9.0 netmask 255.255.255.0 dev lo
rm said
# The segments of BIG TCP have their length nowhere in a header; before TCP's is one of 8 bytes in which IP says so.
daybreak dtrace -qo said -n 'tcp:::send /args[4]->tcp_dport == 4243/ { @out = sum(args[2]->ip_plength - args[4]->tcp_offset - (args[2]->ip_plength > 65535 ? 8 : 0)); @most = max(args[2]->ip_plength); }
	tcp:::receive /args[4]->tcp_dport == 4243/ { @in = sum(args[2]->ip_plength - args[4]->tcp_offset - (args[2]->ip_plength > 65535 ? 8 : 0)); }
	END { printa("OUT %@d\n", @out); printa("IN %@d\n", @in); printa("MOST %@d\n", @most); }' -c jumbo >known 2>errors
equal all-of-a-jumbo-is-sent "$(of OUT)" "$(sed -n 's/^RECEIVED //p' known)"
equal all-of-a-jumbo-is-received "$(of IN)" 1048576
at_least more-than-64-KiB "$(of MOST)" 65536

daybreak dtrace -qo said -n 'tcp:::send /args[4]->tcp_dport == 4244 && args[3]->tcps_sack_fack != args[3]->tcps_suna/ {
	@[args[3]->tcps_sack_fack - args[3]->tcps_suna] = count(); }
	END { printa("SACKED %d %@d\n", @); }' -c sack >known 2>errors
equal sacked-to-the-end-of-the-second "$(of SACKED | cut -d ' ' -f 1)$(cat known errors)" 20

daybreak dtrace -qo said -n 'mib::: { @[probename] = sum(arg0); } tcp:::send { @again = sum(args[3]->tcps_retransmit); }
	sdt:::tcp_retransmit_skb { @sdt = count(); }
	END { printa("COUNT %s %@d\n", @); printa("AGAIN %@d %@d\n", @again, @sdt); }' -c 'known mib' >known 2>errors
equal mib-no-faults "$(cat errors)" ""
while read -r name number; do
	# Before 6.6 the kernel's counter has what is forwarded, too; the MIB says that it does not.
	case $name-$(uname -r) in ipOutRequests-6.1.*) number=$((number - 1)) ;; esac
	equal "mib-$name" "$(number "COUNT $name")" "$number"
done <known
equal mib-forwarded "$(number 'COUNT ipForwDatagrams')" 1
equal mib-fragments "$(number 'COUNT ipReasmReqds')" 3
equal mib-looked-at "$(number 'COUNT udpInDatagrams')" 6
# Of IPv4 and IPv6 a SYN, its answer, and ten bytes.
at_least mib-sent-again "$(number 'COUNT tcpRetransSegs')" 6
at_least segments-sent-again "$(of AGAIN | cut -d ' ' -f 2)" 4
equal segments-say-it "$(of AGAIN | cut -d ' ' -f 1)" "$(of AGAIN | cut -d ' ' -f 2)"

daybreak dtrace -o said -s $in/files.d -c 'known files' >known 2>errors
equal files-no-faults "$(cat errors)" ""
equal names "$(of NAME | sed 's/^vop_//' | tr '\n' ' ')" \
	"mkdir known-dir link b symlink c rename b readlink c remove a remove c remove d rmdir known-dir "
equal names-are-dentries "$(of MODULE)" "vop 1 9"
equal paths-looked-up "$(of 'PATH known-dir/a') $(of 'PATH known-dir/none')" "4 1"
at_least name-in-the-cache "$(of 'HIT known-dir')" 10
at_least names-not-there "$(of UNKNOWN)" 1
equal bytes-read "$(of READ)" "1200 1200"
while read -r name wanted; do
	equal "sysinfo-$name" "$(of "BY $name")" "$wanted"
done <<EOF
sysread 12
readch 1200
syswrite 11
writech $((9 * 50 + 1 + $(grep FAULT known | grep -v FAULTS | wc -c)))
msg 4
sema 3
nthreads 2
sysfork 4
EOF
# mkdir, mknod, link (two), symlink, rename (two), readlink, stat (two), unlink (three), rmdir; and what is opened.
equal names-walked "$(of 'WALKED named') $(of 'WALKED namei')" "$((14 + $(number 'WALKED openat'))) $(of 'WALKED lookup')"
equal nothing-freed "$(of NOTHING)" ""
equal counted-faults "$(of FAULTS | cut -d ' ' -f 2)" "$(sed -n 's/^FAULTS //p' known)"
equal fs-names "$(of FS | tr '\n' ' ')" \
	"mkdir known-dir create a link b symlink c rename b readlink c remove a remove c remove d rmdir known-dir "
equal fs-bytes "$(of 'MOVED read /dev/zero') $(of 'MOVED write /dev/null') $(of 'OPENED null')" "1200 450 20"
equal allocated "$(of 'CACHE malloc filp') $(of 'CACHE malloc names_cache') $(of 'CACHE free names_cache') $(of 'SIZE names_cache')" \
	"20 20 20 4096"
at_least kmallocs "$(of 'KMALLOC malloc')" 1
equal allowed "$(of 'ALLOWED security_inode_mkdir') $(of 'ALLOWED security_inode_rename')" "1 1"
equal refused "$(of REFUSED | sort -u)" "security_capable -1"
equal registers-copied "$(of 'REGISTERS copy-src') $(of 'REGISTERS copy-dst')" "6 6"
equal page-faults "$(of 'MEMORY as_fault')" "$(sed -n 's/^FAULTS //p' known)"
at_least copied-on-write "$(of 'MEMORY cow_fault')" 10
case $(uname -r) in
6.1.*) ;;
*) at_least filled-with-zeroes "$(of 'MEMORY zfod')" 64 ;;
esac
equal faults "$(of FAULT | tr '\n' ' ')" "11 6 8 8 "
equal faults-are-their-ends "$(of FAULT | cut -d ' ' -f 1 | tr '\n' ' ')" "$(sed -n 's/^FAULT //p' known | tr '\n' ' ')"

rm said
daybreak dtrace -o said -s $in/operations.d -c 'known operations' 2>errors
equal operations-no-faults "$(cat errors)" ""
# Whichever of a family of calls the C library takes, it is called so often. stat() and fstat() are of one.
equal each-call-ten-times "$(of CALL | sed -E 's/^(open|mknod|readlink)at2? /\1 /; s/^f?chmod(at2?)? /chmod /; s/^(new)?[lf]?stat(at|x)? /stat /' |
	awk '{ count[$1] += $2 } END { for (name in count) print name, count[name] }' | LC_ALL=C sort | tr '\n' ' ')" \
	"chmod 10 close 10 fallocate 10 fcntl 10 fdatasync 10 fsync 10 getdents64 10 getppid 1 getxattr 10 ioctl 10 mknod 10 mmap 10 open 10 \
prctl 10 pread64 10 preadv 10 pwrite64 10 pwritev 10 readlink 10 stat 20 "
# 6.1's fdatasync() is not seen.
case $(uname -r) in 6.1.*) syncs=10 ;; *) syncs=20 ;; esac
while read -r fs vop number; do
	equal "fs-$fs" "$(number "FS $fs")" "$number"
	[ "$vop" = - ] || equal "$vop" "$(number "VOP $vop") $(number "END $vop")" "$number $number"
done <<EOF
open vop_open 10
close vop_close 10
create - 20
ioctl - 10
frlock vop_advlock 10
getattr vop_getattr 20
setattr vop_setattr 10
fsync vop_fsync $syncs
space vop_allocate 10
map - 10
readdir vop_readdir 10
readlink vop_readlink 10
getsecattr vop_getextattr 10
read vop_read 10
write vop_write 10
EOF
equal sysinfo-of-all-reads "$(of BY | LC_ALL=C sort | tr '\n' ' ')" "readch 160 sysread 20 syswrite 20 writech 160 "
equal not-its-call-is-not-refused "$(of PRCTL)" "mac-check-ok 10"

daybreak dtrace -o said -s $in/locks.d -c 'known locks' >known 2>errors
equal locks-no-faults "$(cat errors)" ""
equal mutex-of-a-file "$(of 'LOCK adaptive-acquire' | grep -c ' 1236$') $(of 'LOCK adaptive-release' | grep -c ' 1236$')" "1 1"
equal mutex-given-up "$(of ERROR)" "-4"
# waited NAME NS ELAPSED_NS: nearly as long as its call took, and at least 100 of its 150 ms.
waited() {
	if [ "${2:-0}" -ge 100000000 ] && [ "$2" -le "$3" ]; then pass "$1" "$2"; else fail "$1" "'$2' of '$3'"; fi
}
waited mutex-slept-for "$(of MUTEX | sort -n | tail -n 1)" "$(sed -n 's/^MUTEX //p' known)"
waited rwsem-slept-for "$(of RWSEM-WRITER | sort -n | tail -n 1)" "$(sed -n 's/^RWSEM //p' known)"
equal tasklist-written "$(of 'RW rw-.*`tasklist_lock writer' | tr '\n' ' ')" "5 5 "
at_least spinlocks-taken "$(of 'SPIN spin-acquire')" 5000
at_least spinlocks-spun-for "$(of SPUN | cut -d ' ' -f 1)" 1
equal spun-is-contended "$(of SPUN | cut -d ' ' -f 1)" "$(of SPUN | cut -d ' ' -f 2)"
at_least rwlocks-spun-for "$(of RW-SPUN | cut -d ' ' -f 1)" 1
equal rw-spun-is-contended "$(of RW-SPUN | cut -d ' ' -f 1)" "$(of RW-SPUN | cut -d ' ' -f 2)"
at_least rw-spun-takes-time "$(of RW-SPUN | cut -d ' ' -f 3)" 100
at_least mutexes-spun-for "$(number 'MUTEXES adaptive-spin')" 1
at_least mutex-spun-takes-time "$(of MUTEX-SPUN)" 100
equal mutexes-are-contended "$(of WAITS)" "$(of 'ENDED taken')"
equal mutexes-counted-once "$(of ENTERED)" $(($(number 'ENDED taken') + $(number 'ENDED given-up')))
equal downgraded-of-its-memory "$(of DOWNGRADED)" "1 $(of UNMAPPED)"
at_least unmapped "$(of UNMAPPED)" 9

equal audit-record "$(of 'AUDIT 1305' | sed 's/.* op=set \(audit_enabled=. old=.\) .*/\1/')" "audit_enabled=0 old=1"

# Instructions: where the kernel takes a kprobe, and nowhere else.
offsets=$(daybreak dtrace -ln 'kinst::ksys_read:' 2>errors | awk '$2 == "kinst" { printf "%d ", $NF; last = $NF } END { print last }')
taken= offset=0
while [ $offset -le "${offsets##* }" ]; do
	if echo "p:known/at_$offset ksys_read+$offset" >>/sys/kernel/tracing/kprobe_events 2>/dev/null; then taken="$taken$offset "; fi
	offset=$((offset + 1))
done
echo >/sys/kernel/tracing/kprobe_events
equal instructions "${offsets% *} $(cat errors)" "$taken"
at_least instructions-are-some "$(echo "$offsets" | wc -w)" 20
equal no-instruction "$(daybreak dtrace -n 'kinst::ksys_read:1 { @ = count(); }' 2>&1 | grep -o 'no instruction.*')" \
	"no instruction that can be probed begins at 1, one does at 0 and $(echo "$offsets" | cut -d ' ' -f 2) (kinst::ksys_read: has all)"
# Three functions of one name at least, of which none is taken.
equal several-are-none "$(daybreak dtrace -n 'kinst::type_show:0 { @ = count(); }' 2>&1 | grep -o 'the kernel has no.*')" \
	"the kernel has no function type_show with instructions that can be probed, or several"
second=$(echo "$offsets" | cut -d ' ' -f 2)
daybreak dtrace -qo said -c 'known files' -n 'kinst::ksys_read: /pid == $target/ { @at[probename] = count(); }
	kinst::ksys_read:'"$second"' /pid == $target/ { @where[stack(1)] = count(); }
	kinst::ksys_read:0 /pid == $target/ { @asked = sum(arg2); } syscall::read:entry /pid == $target/ { @calls = count(); @bytes = sum(arg2); }
	END { printa("AT %s %@d\n", @at); printa("CALLS %@d\n", @calls); printa("ASKED %@d %@d\n", @asked, @bytes); printa("%k %@d\n", @where); }' >known 2>errors
equal instructions-no-faults "$(cat errors)" ""
equal instruction-runs-at-each-call "$(of 'AT 0') $(of "AT $(echo "$offsets" | cut -d ' ' -f 2)")" "$(of CALLS) $(of CALLS)"
equal instruction-is-its-own "$(grep -c "^ *vmlinux.ksys_read+0x$second\$" said)" 1
equal registers-before-it "$(of ASKED | cut -d ' ' -f 1)" "$(of ASKED | cut -d ' ' -f 2)"
equal no-instruction-runs-twice "$(of AT | awk -v calls="$(of CALLS)" '$2 > calls')" ""
at_least instructions-that-ran "$(of AT | wc -l)" 15

# A thread keeps a value from one instruction to the last that every call runs.
last=$(of AT | awk -v calls="$(of CALLS)" '$2 == calls && $1 > last { last = $1 } END { print last + 0 }')
daybreak dtrace -qo said -c 'known files' -n 'kinst::ksys_read:0 /pid == $target/ { self->asked = arg2 + 1; @all = sum(arg2 + 1); }
	kinst::ksys_read:'"$last"' /self->asked/ { @kept = sum(self->asked); self->asked = 0; }
	END { printa("KEPT %@d %@d\n", @kept, @all); }' >known 2>errors
equal instructions-share-variables "$(of KEPT | cut -d ' ' -f 1) $(cat errors)" "$(of KEPT | cut -d ' ' -f 2) "
at_least last-instruction "$last" 100

# Where a clause runs: in a thread, a soft interrupt, an interrupt.
daybreak dtrace -qo said -c 'known sched' -n 'syscall::getppid:entry { @ipl[probename, ipl] = count(); }
	sdt:::softirq_entry, sdt:::local_timer_entry { @ipl[probename, ipl] = count(); } END { printa("IPL %s %d\n", @ipl); }' >known 2>errors
equal interrupt-levels "$(of IPL | LC_ALL=C sort | tr '\n' ' ')$(cat errors)" "entry 0 local_timer_entry 2 softirq_entry 1 "

# A file on an overlay has the name that its reader uses, not that of the file below.
over=/tmp/over
mkdir -p $over
mount -t tmpfs none $over
mkdir $over/merged $over/below $over/above $over/work
echo text >$over/below/file
holds overlay mount -t overlay -o lowerdir=$over/below,upperdir=$over/above,workdir=$over/work none $over/merged
daybreak dtrace -qo said -c "dd if=$over/merged/file of=/dev/null" -n 'syscall::read:entry /pid == $target && fds[arg0].fi_fs == "overlay"/ { @fd[fds[arg0].fi_pathname] = count(); }
	fsinfo:::read /pid == $target && args[0]->fi_fs == "overlay"/ { @file[args[0]->fi_pathname] = count(); @bytes = sum(args[1]); }
	END { printa("FD %s\n", @fd); printa("FILE %s\n", @file); printa("BYTES %@d\n", @bytes); }' >known 2>errors
equal overlay-names "$(of FD) $(of FILE) $(of BYTES)" "$over/merged/file $over/merged/file 5"
umount $over/merged $over

# refused NAME: why a counter is
refused() {
	daybreak dtrace -en "cpc:::$1 { @ = count(); }" 2>&1 | grep -o "$2"
}
equal no-counter "$(refused cycles-all-1000000 'this machine does not count.*')" \
	"this machine does not count cycles: a virtual machine may have no counters"
equal not-so-often "$(refused cycles-all-100 'at least .*')" "at least 5000 for N"
equal never-of-a-program "$(refused context_switches-user-1 'context_switches happens.*')" \
	"context_switches happens in the kernel only: kernel or all for MODE"
equal never-at-all "$(refused alignment_faults-all-1 'cpc has no.*')" "cpc has no alignment_faults: the kernel does not count them on x86"
equal no-event "$(refused nothing-all-1 'cpc has cycles,')" "cpc has cycles,"

# provider name, or provider function:name, as docs/providers.md has them
daybreak dtrace -ln 'boot:::,callout_execute:::,crash:::,dtaudit:::,dtmalloc:::,fpuinfo:::,fsinfo:::,io:::,ip:::,lockstat:::,mac_framework:::,mib:::,proc:::,sched:::,sctp:::,sysinfo:::,tcp:::,udp:::,vfs:::,vminfo:::' 2>errors | sed 1d | cut -c 7- |
	awk '{ print $1, (NF == 4 ? ($2 == "vmlinux" ? "" : $2 ":") $3 ":" : "") $NF }' | LC_ALL=C sort >listed
equal list-is-the-documents "$(diff listed $in/probes) $(cat errors)" " "
at_least list-has-all "$(grep -c . listed)" 120
equal nothing-stays-hooked "$(cat /sys/kernel/tracing/enabled_functions)" "$(cat hooked)"
holds unload rmmod daybreak
mount -t debugfs none /sys/kernel/debug 2>/dev/null
equal no-kprobe-stays "$(cat /sys/kernel/debug/kprobes/list)" ""
