# SPDX-License-Identifier: Apache-2.0
# What a process says of itself in /proc is what its probes say of it.
ln -s "$(command -v daybreak)" /bin/dtrace
cd /tmp
holds load insmod /share/in/who.ko
equal log-has-what-matches-nothing "$(dmesg | sed -n 's/.*ring .*: \(fbt:.*\)/\1/p' | tr '\n' ';')" \
	"fbt::no_such_function:entry matches no probe;fbt:brd:brd_submit_bio:entry matches no probe;"
holds later-module insmod /share/in/brd.ko rd_nr=1 rd_size=64
holds record daybreak record --claim -o /share/out/who.dbrk
equal verdict-has-what-matches-nothing "$(daybreak info /share/out/who.dbrk | tail -n 1)" \
	"complete: every record since the first probe is here, but fbt::no_such_function:entry matches no probe: it cannot record anything"

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
daybreak list >/share/out/probes
holds unload rmmod daybreak
