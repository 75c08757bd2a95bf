# SPDX-License-Identifier: Apache-2.0
# Runs in the guest of attribute: each case's calls are made while the host looks at them, one instruction at a time.
cases=$(sed -n 's/.*attribute.cases=\([a-z,-]*\).*/\1/p' /proc/cmdline | tr , ' ')
echo 0 >/proc/sys/kernel/kptr_restrict
for name in none $cases; do
	[ "$name" = none ] || insmod "/cost/$name.ko" || continue
	cat /proc/kallsyms >"/share/out/$name.symbols"
	sync
	getppid-loop 400000 >/dev/null &
	sleep 0.05
	echo "TRACE $name"
	wait
	[ "$name" = none ] || rmmod daybreak
done
