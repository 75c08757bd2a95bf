# SPDX-License-Identifier: Apache-2.0
# What a process says of itself in /proc is what its probes say of it.
ln -s "$(command -v daybreak)" /bin/dtrace
cd /tmp
long=/./././././././././././././././././././././././././././././././././././././dev/null
cat >run.sh <<EOF
/bin/cat /proc/self/cmdline /dev/null >short
/bin/cat /proc/self/cmdline $long >long
/bin/cat /proc/self/statm >statm
EOF
# shown FILE: a command line as pr_psargs has it
shown() {
	tr '\0' ' ' <"$1" | sed 's/ $//' | cut -c 1-79
}

holds load insmod /share/in/who.ko
equal log-has-what-matches-nothing "$(dmesg | sed -n 's/.*ring .*: \(fbt:.*\)/\1/p' | tr '\n' ';')" \
	"fbt::no_such_function:entry matches no probe;fbt:brd:brd_submit_bio:entry matches no probe;"
holds run-recorded sh run.sh
holds later-module insmod /share/in/brd.ko rd_nr=1 rd_size=64
holds record daybreak record --claim -o /share/out/who.dbrk
equal boot "$(daybreak info /share/out/who.dbrk | sed -n 's/^boot *//p')" "$(cat /proc/sys/kernel/random/boot_id)"
equal verdict-has-what-matches-nothing "$(daybreak info /share/out/who.dbrk | tail -n 1)" \
	"complete: every record since the first probe is here, but fbt::no_such_function:entry matches no probe: it cannot record anything"
daybreak report /share/out/who.dbrk | grep EXEC >recorded
equal recorded-command-line "$(sed -n 's/^EXEC \(.*\)|$/\1/p;1q' recorded)" "$(shown short)"
equal recorded-long-command-line "$(sed -n '2s/^EXEC \(.*\)|$/\1/p' recorded)" "$(shown long)"

dtrace -o live -qn 'syscall::write:entry /execname == "cat"/ { printf("%s|%d %d\n", curpsinfo->pr_psargs,
		curpsinfo->pr_size / 4, curpsinfo->pr_rssize > 0 && curpsinfo->pr_rssize < curpsinfo->pr_size); }
	sched:::sleep /curthread->mm == NULL/ { @kernel[curpsinfo->pr_psargs == curpsinfo->pr_fname ? "ALIKE" : "OTHER"] = count(); }
	END { printa("%s\n", @kernel); }' -c 'sh run.sh' 2>live.err
equal live-no-faults "$(cat live.err)" ""
equal live-command-line "$(sed -n '1s/|.*//p' live)" "$(shown short)"
equal live-long-command-line "$(sed -n '2s/|.*//p' live)" "$(shown long)"
equal size "$(sed -n '3s/.*|//p' live)" "$(cut -d ' ' -f 1 statm) 1"
equal kernel-threads "$(grep -c OTHER live) $(grep -c ALIKE live)" "0 1"
equal members "$(dtrace -qn 'BEGIN { printf("%d %d %d", curlwpsinfo->pr_nice, curlwpsinfo->pr_cpu, curlwpsinfo->pr_oldpri == curlwpsinfo->pr_pri); exit(0); }' 2>&1)" "0 0 1"

# Units and cgroups, directories and files.
mkdir -p /tmp/groups /tmp/there
mount -t cgroup2 none /tmp/groups
mkdir -p /tmp/groups/system.slice/daybreak-test.service/payload
cat >group.sh <<'EOF'
echo $$ >/tmp/groups/system.slice/daybreak-test.service/payload/cgroup.procs
cd /tmp/there
exec workload 1 7</proc/version
EOF
dtrace -o group -qn 'syscall::getppid:entry /execname == "workload"/ {
	@[cgroup, unit, cwd, root, fds[7].fi_pathname, fds[7].fi_fs, fds[99].fi_name] = count(); }
	END { printa("%s %s %s %s %s %s %s\n", @); }' -c 'sh group.sh' 2>group.err
equal group-no-faults "$(cat group.err)" ""
equal group "$(cat group)" \
	"/system.slice/daybreak-test.service/payload daybreak-test.service /tmp/there / /proc/version proc <none>"
equal no-unit "$(dtrace -qn 'BEGIN { printf("%s|%s|", cgroup, unit); exit(0); }' 2>&1)" "/||"

# A container, and namespaces.
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
cat >inside.sh <<'EOF'
echo $$ >"$1/cgroup.procs"
for kind in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$kind; done | tr -dc '0-9\n' | tr '\n' ' ' >spaces
exec workload 1
EOF
for name in "docker-$id.scope" "docker/$id" "libpod-$id.scope/container" "long-${id}0"; do
	mkdir -p "/tmp/groups/$name"
	rm -f inside
	dtrace -o inside -qn 'syscall::getppid:entry /execname == "workload"/ {
		@[cgroupns, ipcns, mntns, netns, pidns, userns, utsns, container] = count(); }
		END { printa("%d %d %d %d %d %d %d %s %@d", @); }' -c "unshare -mnui sh inside.sh /tmp/groups/$name" 2>inside.err
	case $name in long*) expected= ;; *) expected=$id ;; esac
	equal "inside-$(echo "$name" | cut -c1-6)" "$(cat inside inside.err)" "$(cat spaces)$expected 100"
done
equal same-namespaces "$(for kind in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$kind; done | tr -dc '0-9\n' | grep -cxF "$(tr ' ' '\n' <spaces | grep .)")" 3

# Whose child it is: the command's grandchild, and a process beside it.
cat >both.sh <<'EOF'
touch asked
until [ -e answered ]; do :; done
sh -c 'workload 2; true'
EOF
(until_it [ -e asked ]; workload 1; touch answered) &
dtrace -o progeny -qn 'syscall::getppid:entry /execname == "workload"/ { @[progenyof($target) ? "its" : "another"] = count(); }
	END { printa("%s %@d ", @); }' -c 'sh both.sh' 2>progeny.err
wait
equal progeny "$(cat progeny progeny.err)" "another 100 its 200 "

# A stack of 32 bits.
. /share/in/narrow.places
dtrace -o narrow -qn 'sdt:::sys_enter /execname == "narrow" && arg1 == 64/ { printf("%d %d\n", ustackdepth, ucaller); ustack(); }' -c /share/in/narrow
read -r depth caller <narrow
equal narrow-depth "$depth" 4
equal narrow-caller "$((caller > middle && caller < middle + middle_bytes))" 1

# What it calls is of i386; its execve() enters as the shell's.  Calls of x32 are not taken unless they are asked for.
echo '/share/in/narrow; true' >narrow.sh
equal narrow-calls "$(dtrace -qx aggsortkey -n 'syscall::getppid:entry /execname == "narrow"/ { @[probemod, probefunc, probename] = count(); }
	syscall::execve: /execname == "sh" || execname == "narrow"/ { @[probemod, probefunc, probename] = count(); } END { printa("%s %s %s %@d\n", @); }' -c 'sh narrow.sh' 2>&1 | tr -s ' \n' ' ')" \
	"i386 execve return 1 i386 getppid entry 1 vmlinux execve entry 1 "
equal no-x32 "$(dtrace -lm syscall:x32 2>&1 | tail -n 1)" \
	"dtrace: failed to match syscall:x32::: No probe matches description ($(daybreak list --unavailable | sed -n 's/^ *syscall  *x32 */Daybreak has no syscall:x32: /p'))"

# Words on its stack have 4 bytes.
echo 'env -i FIRST=one /share/in/narrow second; env -i FIRST=one /bin/busybox true second' >words.sh
equal words-of-a-stack "$(dtrace -qn 'syscall:i386:getppid:entry /execname == "narrow"/ { printf("%d %s %s ", curpsinfo->pr_argc,
	copyinstr(*(uint32_t *)copyin(curpsinfo->pr_argv + 4, 4)), copyinstr(*(uint32_t *)copyin(curpsinfo->pr_envp, 4))); }
	syscall::exit_group:entry /execname == "busybox"/ { printf("%d %s %s ", curpsinfo->pr_argc,
	copyinstr(*(uint64_t *)copyin(curpsinfo->pr_argv + 8, 8)), copyinstr(*(uint64_t *)copyin(curpsinfo->pr_envp, 8))); }' -c 'sh words.sh' 2>&1)" \
	"2 second FIRST=one 3 true FIRST=one "

# What arguments are.
types() {
	dtrace -lvn "$1" | sed -n 's/^\t\targs/args/p' | tr '\n' ' '
}
equal types-of-a-tracepoint "$(types sdt:::sched_process_exit)" "args[0]: struct task_struct * "
equal types-of-a-function "$(types fbt::vfs_read:entry)" \
	"args[0]: struct file * args[1]: char * args[2]: size_t args[3]: loff_t * "
equal types-of-a-return "$(types fbt::vfs_read:return)" "args[0]: uint64_t args[1]: ssize_t "
equal types-translated "$(types proc:::create)" "args[0]: psinfo_t * "
equal types-of-io "$(types io:::start)" "args[0]: bufinfo_t * args[1]: devinfo_t * args[2]: fileinfo_t * "
equal types-of-a-timer "$(dtrace -lvn profile-97 | grep -A 1 'Argument Types' | tail -n 1 | tr -d '\t')" None

# For verify: what the running kernel has of its own.
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
grep -H 'field:' /sys/kernel/tracing/events/syscalls/sys_enter_*/format >/share/out/prototypes
dtrace -lvn syscall:vmlinux::entry >/share/out/calls
daybreak list >/share/out/probes
holds unload rmmod daybreak
