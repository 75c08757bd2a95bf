# SPDX-License-Identifier: Apache-2.0
# Each profile while something happens that it is about; the witness is what makes it happen.
ip link set lo up
mkdir -p /mnt /tmp/out
echo 'exit 3' >/tmp/exits
echo 'echo >/tmp/owned; chown :5 /tmp/owned' >/tmp/owns
echo 'cat /proc/version; true' >/tmp/shows
echo 'for one in 1 2 3 4 5 6 7 8 9 10; do happenings threads; done' >/tmp/threads
echo 'happenings connection; happenings file' >/tmp/both
echo 'taskset 1 happenings busy & taskset 1 happenings busy; wait' >/tmp/hogs
echo 'echo $$ >/sys/fs/cgroup/watched.service/cgroup.procs; cat /proc/version; true' >/tmp/moves
# Interrupts of disks, as the kernel counts them.
cat >/tmp/interrupts <<'END'
interrupts() {
	awk '/virtio/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts
}
[ "$1" = count ] || interrupts >/tmp/first
[ "$1" = count ] || dd if=/dev/zero of=/mnt/file bs=64k count=4 conv=fsync
interrupts >/tmp/last
END
holds mount mount -t ext4 /dev/vda /mnt
[ -e /sys/fs/cgroup/cgroup.procs ] || mount -t cgroup2 none /sys/fs/cgroup
holds load insmod /share/in/daybreak.ko

# watched NAME HOW-OFTEN PATTERN COMMAND OPTION...: runs it under `daybreak watch OPTION...`
watched() {
	name=$1 often=$2 pattern=$3 command=$4
	shift 4
	rm -f /tmp/watched
	if ! daybreak watch "$@" -c "$command" -o /tmp/watched </dev/null >/tmp/out/said 2>&1; then
		fail "$name" "$(tail -n 1 /tmp/out/said)"
		return
	fi
	count=$(grep -cE "$pattern" /tmp/watched)
	case $often in
	*+) at_least "$name" "$count" "${often%+}" ;;
	*) equal "$name" "$count" "$often" ;;
	esac
	[ "$count" -gt 0 ] || [ "$often" = 0 ] || tail -n 5 /tmp/watched | sed "s/^/| /"
}

grep -v '^#' /share/in/profiles.table >/tmp/table
while IFS='~' read -r profile often pattern command; do
	watched "$profile-$(echo "$command" | tr -c 'a-zA-Z0-9\n' -)" "$often" "$pattern" "$command" "$profile" </dev/null
done </tmp/table

sh /tmp/interrupts count
before=$(cat /tmp/last)
watched interrupts 1+ virtio "sh /tmp/interrupts" interrupts
counted=$(awk '$2 ~ /^virtio/ { n += $NF } END { print n + 0 }' /tmp/watched)
at_least interrupts-all "$counted" $(($(cat /tmp/last) - $(cat /tmp/first)))
sh /tmp/interrupts count
at_least interrupts-no-others $(($(cat /tmp/last) - before)) "$counted"

# A request to a disk has the name of the file that it is for.
dd if=/dev/zero of=/mnt/of-a-request bs=64k count=4 2>/dev/null
daybreak dtrace -qo /tmp/watched -n 'io:::start, io:::done /args[2]->fi_fs == "ext4"/ { @[probename, args[2]->fi_name] = sum(args[0]->b_bcount); }
	io:::start /args[2]->fi_fs == "<none>"/ { @none = count(); } END { printa("%s %s %@d\n", @); printa("none %@d\n", @none); }' -c sync 2>/tmp/out/said
equal request-of-a-file "$(grep of-a-request /tmp/watched | sort | tr '\n' ' ')$(cat /tmp/out/said)" "done of-a-request 262144 start of-a-request 262144 "
at_least request-of-no-file "$(sed -n 's/^none //p' /tmp/watched)" 1

# Filters, and a probe without a profile.
watched name 1600 'happenings\[[0-9]+\]: unlink:entry$' "happenings crowd" unlink -k 'happen*'
watched other-name 0 unlink:entry "happenings crowd" unlink -k workload
watched test 3 ': exit:entry 1$' "happenings threads" exit -t 'execname == "happenings"' -A 'arg0 == 0'
watched user 1 'exit_group:entry$' "happenings identity" exit_group -u 34
watched json 1600 '"kind":"record"' "happenings crowd" unlink -k happenings --json
equal json-of-nothing-else "$(grep -c '"kind":"record".*"values":\[\]' /tmp/watched)" 0
watched unit 1 ': cat /proc/version$' "sh /tmp/moves" execsnoop --cgroup 'watched.*'
watched cgroup 1 ': cat /proc/version$' "sh /tmp/moves" execsnoop --cgroup /watched.service
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
mkdir -p "/sys/fs/cgroup/docker-$id.scope"
echo "echo \$\$ >/sys/fs/cgroup/docker-$id.scope/cgroup.procs; cat /proc/version; true" >/tmp/contained
watched container 1 ': cat /proc/version$' "sh /tmp/contained" execsnoop --container 0123456789ab
watched no-container 0 /proc/version "sh /tmp/moves" execsnoop --container 0123456789ab
watched other-container 0 /proc/version "sh /tmp/contained" execsnoop --container fedcba
holds unload rmmod daybreak
