# SPDX-License-Identifier: Apache-2.0
# The phase is what it is to a program that comes now.
running() {
	[ "$(daybreak dtrace -qn 'BEGIN { printf("%s", bootphase); exit(0); }')" = running ]
}
until_it running
pass running-is-seen-live
# The witness of the critical path; it has an answer once the last job is done, and that is this script's own.
holds own-job-ends systemctl cancel
chain() {
	systemd-analyze critical-chain --no-pager multi-user.target >/share/out/chain.txt 2>&1
}
until_it chain
for number in 0 1 2 3 4; do
	daybreak record --claim -o "/share/out/$number.dbrk"
	status=$?
	# 3: recorded, with losses that info names
	if [ $status = 0 ] || [ $status = 3 ]; then pass "record-$number" "$status"; else fail "record-$number" "$status"; fi
done

# Programs of Debian that are gone: named by their maps and the libraries, as dtrace(1) names them while they run.
cat >/tmp/users.d <<'END'
#pragma D option quiet
syscall::write:entry, syscall::clock_nanosleep:entry
/execname == "cat" || execname == "sleep"/
{
	printf("%s", probefunc);
	@[probefunc, ufunc(uregs[R_RIP]), umod(uregs[R_RIP])] = count();
	ustack(1);
}
END
holds users-start daybreak start /tmp/users.d
cat /etc/hostname >/dev/null
sleep 0.1
holds users-stop daybreak stop users -o /share/out/users.dbrk
daybreak report /share/out/users.dbrk >/share/out/users.txt
equal functions-of-libraries "$(awk 'NF == 4 { print $1, $2, $3, $4 }' /share/out/users.txt | sort | tr '\n' ' ')" \
	'clock_nanosleep libc.so.6`clock_nanosleep libc.so.6 1 write libc.so.6`write libc.so.6 1 '
equal stacks-of-libraries "$(grep -c '^ *libc.so.6`[a-z_]*+0x[0-9a-f]*$' /share/out/users.txt)" 2
equal functions-as-live "$(daybreak dtrace -qn 'syscall::write:entry /pid == $target/ { @[ufunc(uregs[R_RIP])] = count(); }' \
	-c 'cat /etc/hostname' 2>&1 | awk '/libc/ { print $1 }')" 'libc.so.6`write'
# Partial states have addresses and places in files: merged they print what the replay printed.
by_stack='syscall::write:entry, syscall::clock_nanosleep:entry { @[ustack(1)] = count(); } END { printa(@); }'
daybreak replay -q -n "$by_stack" /share/out/users.dbrk >/tmp/replayed.txt
holds states-of-user-stacks daybreak replay -n "$by_stack" --partial /share/out/users.states /share/out/users.dbrk
equal stacks-as-replayed "$(daybreak merge -q /share/out/users.states)" "$(cat /tmp/replayed.txt)"
equal stacks-replayed "$(grep -c libc /tmp/replayed.txt)" 2
equal maps-in-info "$(daybreak info /share/out/users.dbrk | grep -c '^maps  *[0-9]* images of processes, [0-9]* mappings of [0-9]* files\(; [0-9]* older entries overwritten\)*$')" 1

# The machine ends as one of Debian does, and what is executed on the way is said on the console, by a program that
# lives until systemd-shutdown ends all that is left.
cat >/tmp/last.d <<'END'
#pragma D option quiet
#pragma D option destructive
BEGIN { system("touch /tmp/last-begins"); }
proc:::exec-success { printf("LAST %s %s\n", bootphase, execname); }
END
systemd-run -q -p DefaultDependencies=no -p KillMode=none -p SendSIGKILL=no sh -c \
	"exec $(command -v daybreak) dtrace -s /tmp/last.d >/dev/console 2>&1"
until_it test -e /tmp/last-begins
end_guest() {
	dmesg >/share/out/dmesg.txt
	sync
	echo "GUEST done" >/dev/console
	systemctl poweroff
	sleep 600
}
