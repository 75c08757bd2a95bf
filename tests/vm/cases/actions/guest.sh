# SPDX-License-Identifier: Apache-2.0
mkdir -p /deep/er
mount -t tmpfs none /deep
mkdir -p /deep/er/still
dmesg_has() {
	[ "$(kernel_log "$1")" != 0 ]
}
holds load-disallowed insmod /share/in/actions.ko destructive_disallow=1
equal disallowed "$(kernel_log 'destructive actions are not allowed here')" 1
equal disallowed-does-nothing "$(actions 1)" "signal 0"
holds unload rmmod daybreak
holds load insmod /share/in/actions.ko
equal raise "$(actions 1)" "signal 10"
actions 2 &
until_it grep -q ') T ' /proc/$!/stat
equal stop "$(sed 's/.*) \(.\).*/\1/' /proc/$!/stat)" T
kill -CONT $!
wait
equal copyout "$(actions 3)" "written 305419896"
at_least chill-ms "$(actions 4)" 300
actions 5
until_it dmesg_has 'breakpoint action at probe syscall:vmlinux:getpgid:entry'
equal breakpoint "$(kernel_log 'breakpoint action at probe syscall:vmlinux:getpgid:entry')" 1
cd /deep/er/still
equal d-path "$(actions 6)" "/deep/er/still 0"
cd /
# Where locks sleep and have another form, to ask is an illegal operation, and nothing is copied out.
mutex="01 0"
[ ! -e /sys/kernel/realtime ] || mutex=
equal mutex "$(actions 7)" "$mutex"
actions 8
until_it dmesg_has 'breakpoint action at probe dtrace:::ERROR'
equal fault "$(kernel_log 'breakpoint action at probe dtrace:::ERROR')" 1
actions 10
equal ninth-is-refused "$(actions 11)" "11 0"
sync
# The last words: nothing runs after a panic.
echo "GUEST done"
actions 9
sleep 100
fail panic "the machine still runs"
