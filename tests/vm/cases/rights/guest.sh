# SPDX-License-Identifier: Apache-2.0
holds load insmod /share/in/daybreak.ko
cd /tmp

# 21: CAP_SYS_ADMIN, 38: CAP_PERFMON, 39: CAP_BPF
for few in none 38 39 0,1,2,16,19; do
	refuses "capabilities-$few" "with CAP_SYS_ADMIN or with CAP_PERFMON and CAP_BPF" \
		bounded $few daybreak dtrace -qn 'BEGIN { exit(0); }'
done
for enough in 21 38,39; do
	holds "capabilities-$enough" bounded $enough daybreak dtrace -qn 'BEGIN { exit(0); }'
done

# kernel_word: one is read and printed; what was said is in ./said
kernel_word() {
	daybreak dtrace -qn 'BEGIN { trace(*(uint64_t *)curthread != 1); exit(0); } ERROR { exit(0); }' 2>said | tr -d '\n '
}
# user_string: what a process opened
user_string() {
	daybreak dtrace -x switchrate=20hz -qn 'syscall::openat:entry /pid == $target/ { @[copyinstr(arg1)] = count(); }' \
		-c 'workload 1' 2>/dev/null | grep -c /nowhere/at/all
}
raise='syscall::getppid:entry /pid == $target/ { raise(9); } proc:::exit /pid == $target/ { printf("%d\n", arg0); }'
destructive() {
	daybreak dtrace -wqn "$raise" -c 'workload 1' 2>&1 | tr -d '\n'
}

mount -t securityfs securityfs /sys/kernel/security
lockdown=/sys/kernel/security/lockdown
equal open-reads "$(kernel_word)" 1
equal open-raises "$(destructive)" 2
# A program that was enabled before goes on.
daybreak dtrace -qn 'BEGIN { printf("go\n"); } profile-97 { @[stack(2)] = count(); }' >before 2>&1 &
before=$!

echo integrity >$lockdown
refuses integrity-no-destruction "could not enable tracing: the kernel is locked down: no destructive actions" \
	daybreak dtrace -wqn "$raise" -c 'workload 1'
equal integrity-reads "$(kernel_word)" 1
equal integrity-says-nothing "$(cat said)" ""

echo confidentiality >$lockdown
refuses confidentiality-no-destruction "the kernel is locked down: no destructive actions" \
	daybreak dtrace -wqn "$raise" -c 'workload 1'
equal confidentiality-reads-nothing "$(kernel_word)" ""
equal confidentiality-says-so "$(head -n 1 said)" \
	"dtrace: the kernel is locked down (confidentiality): kernel memory, registers and stacks cannot be read"
at_least confidentiality-is-an-error "$(grep -c 'invalid kernel access' said)" 1
equal confidentiality-no-stack "$(daybreak dtrace -qn 'BEGIN { stack(2); exit(0); } ERROR { exit(0); }' 2>&1 | grep -c '+0x')" 0
equal confidentiality-user-memory "$(user_string)" 1
kill -INT $before
wait $before
