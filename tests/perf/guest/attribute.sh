# SPDX-License-Identifier: Apache-2.0
# Runs in the guest of attribute: each case's calls are made while the host looks at them, one instruction at a time.
cases=$(sed -n 's/.*attribute.cases=\([a-z,-]*\).*/\1/p' /proc/cmdline | tr , ' ')
echo 0 >/proc/sys/kernel/kptr_restrict
ip link set lo up
for name in $cases; do
	case $name in *none) ;; *) insmod "/cost/$name.ko" || continue ;; esac
	cat /proc/kallsyms >"/share/out/$name.symbols"
	sync
	case $name in
	send* | call* | listen* | read* | wake*) getppid-loop 40000 "${name%%-*}" >/dev/null & ;; # as cost.sh
	*) getppid-loop 400000 >/dev/null & ;;
	esac
	sleep 0.05
	echo "TRACE $name"
	wait
	case $name in *none) ;; *) rmmod daybreak ;; esac
done
