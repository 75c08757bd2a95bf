# SPDX-License-Identifier: Apache-2.0
# Each example, live, while something happens that it is about.
ln -s "$(command -v daybreak)" /bin/dtrace
cd /share/in/examples
mkdir /tmp/folder
cat >/tmp/everyday <<'END'
workload 2
for one in 1 2 3; do cat /proc/version | wc -c; done >/dev/null
mkdir -p /mnt; mount -t nofs none /mnt 2>/dev/null
true
END
# Its reads wait for a program that says nothing for a while.
cat >/tmp/slow <<'END'
(for one in 1 2 3; do sleep 0.05; echo $one; done) | cat >/dev/null
END
cat >/tmp/disk <<'END'
dd if=/dev/zero of=/dev/vda bs=64k count=16 conv=fsync 2>/dev/null
dd if=/dev/vda of=/dev/null bs=4k count=64 2>/dev/null
END
# Two processes that want one folder all the time.
cat >/tmp/folders <<'END'
for name in a b c d; do
	(for one in $(seq 100); do mkdir /tmp/folder/$name; rmdir /tmp/folder/$name; done) &
done
wait
END

holds load insmod /share/in/daybreak.ko
for program in *.d; do
	name=${program%.d}
	case $name in
	slow-requests) command="sh /tmp/slow" ;;
	tail-sampling) command="server 2 300" ;;
	disk-latency) command="sh /tmp/disk" ;;
	locks | run-queue) command="sh /tmp/folders" ;;
	*) command="sh /tmp/everyday" ;;
	esac
	holds "runs-$name" sh -c "dtrace -s $program -c '$command' >/share/out/$name.out 2>/share/out/$name.err </dev/null"
done
for program in /share/in/pairs/*.d; do
	holds "pair-$(cat "$program" | tr -c 'a-zA-Z0-9_\n' - | cut -c1-60)" dtrace -qs "$program" -c "sh /tmp/everyday"
done
at_least pairs "$(ls /share/in/pairs | wc -l)" 25
holds unload rmmod daybreak
