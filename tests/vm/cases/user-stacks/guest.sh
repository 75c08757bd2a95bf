# SPDX-License-Identifier: Apache-2.0
# The first boot panics when the programs are gone, and its memory is saved; the second recovers what it left.
boot=$(($(cat /share/out/boot 2>/dev/null || echo 0) + 1))
echo "$boot" >/share/out/boot
cp -r /share/in/root/* /
holds "load-$boot" insmod /share/in/stacks.ko bank=16M@0x10000000
case $boot in
1)
	# The vDSO is of no file, but of the kernel that runs: where a clock is asked for that it does not have, and where a loop
	# without a system call is found.
	cat >clock.d <<'END'
#pragma D option quiet
#pragma D option ustackbytes=8k
#pragma D option aggregate=record
syscall::clock_gettime:entry /execname == "clock"/ { printf("asked\n"); ustack(); }
profile-997 /arg1 && execname == "clock"/ { @name[usym(arg1)] = count(); @place[arg1] = count(); }
END { printa(@name); printa(@place); }
END
	holds clock-starts daybreak start clock.d
	clock 3 1 /share/out/vdso.so >/share/out/vdso.txt
	daybreak stop clock -o /share/out/clock.dbrk
	status=$? # of a host that is busy firings of the timer are missed
	if [ $status = 0 ] || [ $status = 3 ]; then pass clock-stops $status; else fail clock-stops $status; fi
	daybreak report /share/out/clock.dbrk >/share/out/clock.txt
	daybreak dtrace -x ustackbytes=8k -qn 'syscall::clock_gettime:entry /pid == $target/ { printf("asked\n"); ustack(); }' \
		-o /share/out/clock-live.txt -c 'clock 3 0 /tmp/vdso.so' >/dev/null
	daybreak dtrace -qn 'syscall::write:entry /pid == $target/ { ustack(1); exit(0); }' -c 'echo asked' 2>stripped.txt >/dev/null
	equal live-stripped "$(sed -n 's/^\(dtrace: some addresses in\) .*\( have no function: it is stripped\), .*/\1\2/p' stripped.txt)" \
		"dtrace: some addresses in have no function: it is stripped"
	uname -rv >/share/out/uname.txt
	# A child's mappings are all known, and fork() holds its CPU no longer where they are many; what is unmapped at once is one entry.
	cat >forks.d <<'END'
#pragma D option quiet
#pragma D option aggregate=record
sdt:::task_newtask /execname == "forks"/ { self->began = timestamp; }
sdt:::sched_wakeup_new /self->began/ { @takes[pid] = min(timestamp - self->began); self->began = 0; }
syscall::getpgid:entry /execname == "forks"/ { printf("\nforked %d", arg0); usym(arg1); }
END { printa("\ntakes %d %@d\n", @takes); }
END
	holds forks-starts daybreak start forks.d
	holds forks-few forks 100 2
	holds forks-many forks 600 2
	holds forks-stops daybreak stop forks -o forks.dbrk
	daybreak report forks.dbrk >forks.txt
	equal forks-names "$(grep -c '^forked [0-9]* *libplugin.so`plugin_first *$' forks.txt)" 14
	equal forks-numbers "$(grep -c '^forked [0-9]* *0x7[0-9a-f]* *$' forks.txt)" 7
	grep '^takes' forks.txt | sort -k 2n | { read -r _ _ few && read -r _ _ many && less_than forks-takes "$many" $((few * 3 / 2)); }
	less_than forks-unmapped "$(daybreak info --json forks.dbrk | grep -o '"unmapped": *[0-9]*' | grep -o '[0-9]*$')" 100
	echo "forks: $(sed -n 's/^takes [0-9]* //p' forks.txt | tr '\n' ' ')$(daybreak info forks.dbrk | grep '^maps')"
	holds frames deep-frames
	holds bare deep-bare
	holds moves moves /share/out/moves.txt
	holds elsewhere unshare -m -p -f sh -c '{ readlink /proc/self/ns/mnt; readlink /proc/self/ns/pid; } >/share/out/namespaces.txt'
	holds snapshot daybreak snapshot -o /share/out/gone.dbrk
	sync
	echo c >/proc/sysrq-trigger
	sleep 600
	;;
2)
	daybreak recover -o /share/out/panic.dbrk >/share/out/recover.txt 2>&1 # not to the console: it has the words that the host waits for
	status=$?
	if [ $status = 0 ] || [ $status = 3 ]; then pass recovered $status; else fail recovered $status; fi
	;;
esac
