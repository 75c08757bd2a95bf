# SPDX-License-Identifier: Apache-2.0
# How a guest script says what held: CHECK lines, which the harness counts.

# pass NAME [DETAIL...] and fail NAME [DETAIL...]
pass() {
	check_name=$1
	shift
	echo "CHECK $check_name ok $*"
}
fail() {
	check_name=$1
	shift
	echo "CHECK $check_name fail $*"
}

# holds NAME COMMAND...: the command succeeds.  Its last line of output is the detail of a failure.
holds() {
	check_name=$1
	shift
	if check_output=$("$@" 2>&1); then
		pass "$check_name"
	else
		fail "$check_name" "$(printf '%s\n' "$check_output" | tail -n 1)"
	fi
}

# refuses NAME PATTERN COMMAND...: the command fails and one line of what it prints has PATTERN.
refuses() {
	check_name=$1
	check_pattern=$2
	shift 2
	if check_output=$("$@" 2>&1); then
		fail "$check_name" "succeeded: $(printf '%s\n' "$check_output" | tail -n 1)"
	elif printf '%s\n' "$check_output" | grep -q -e "$check_pattern"; then
		pass "$check_name" "$(printf '%s\n' "$check_output" | grep -m 1 -e "$check_pattern")"
	else
		fail "$check_name" "says $(printf '%s\n' "$check_output" | tail -n 1)"
	fi
}

# equal NAME GOT WANTED
equal() {
	if [ "$2" = "$3" ]; then pass "$1" "$2"; else fail "$1" "got '$2', expected '$3'"; fi
}

# at_least NAME GOT MINIMUM
at_least() {
	if [ "$2" -ge "$3" ] 2>/dev/null; then pass "$1" "$2"; else fail "$1" "got '$2', expected at least $3"; fi
}

# until_it COMMAND...: waits for it to succeed.  What has not come after $wait_s seconds never comes: that is a failed
# check, and the end of the case, whose further waits would only take as long again.  It is said on the console, wherever
# the output of the caller goes, with what the files that COMMAND names end with and where each process is.
wait_s=300
until_it() {
	until_s=$(($(cut -d . -f 1 /proc/uptime) + wait_s))
	until "$@" >/dev/null 2>&1; do
		if [ "$(cut -d . -f 1 /proc/uptime)" -ge $until_s ]; then
			{
				fail waited "$wait_s s in vain for: $*"
				for until_word; do
					[ ! -f "$until_word" ] || tail -n 20 "$until_word" | sed 's/^/| /'
				done
				processes
				end_guest
			} >/dev/console
		fi
		sleep 0.1
	done
}

# processes: each of user space, with its state and where in the kernel its threads are
processes() {
	for processes_at in /proc/[0-9]*; do
		processes_words=$(tr '\0' ' ' <"$processes_at/cmdline" 2>/dev/null)
		[ -n "$processes_words" ] || continue
		echo "| process ${processes_at#/proc/} $(sed -n 's/^State:.//p' "$processes_at/status" 2>/dev/null): $processes_words"
		sed 's/^/|   /' "$processes_at"/task/*/stack 2>/dev/null
	done
}

# begins PATTERN FILE COMMAND...: starts it in the background and waits until its output, which goes to FILE, has PATTERN;
# $begun is its process.  FILE is made new: the shell in the background empties an old one late, and PATTERN would be found
# in what an earlier command wrote.
begins() {
	begins_pattern=$1
	begins_file=$2
	shift 2
	rm -f "$begins_file"
	"$@" >>"$begins_file" &
	begun=$!
	until_it grep -q -e "$begins_pattern" "$begins_file"
}

# ended PROCESS: waits for a child of this shell, as until_it does, and returns its exit status
ended() {
	until_it has_ended "$1"
	wait "$1"
}
has_ended() {
	! grep -q '^State:.[^ZX]' "/proc/$1/status"
}

# less_than NAME GOT LIMIT
less_than() {
	if [ "$2" -lt "$3" ] 2>/dev/null; then pass "$1" "$2"; else fail "$1" "got '$2', expected less than $3"; fi
}

# kernel_log PATTERN: how many lines of the kernel log have it
kernel_log() {
	dmesg | grep -c -e "$1"
}
