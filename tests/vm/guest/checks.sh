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
# check, and the end of the case, whose further waits would only take as long again.
wait_s=300
until_it() {
	until_s=$(($(cut -d . -f 1 /proc/uptime) + wait_s))
	until "$@" >/dev/null 2>&1; do
		if [ "$(cut -d . -f 1 /proc/uptime)" -ge $until_s ]; then
			fail waited "$wait_s s in vain for: $*"
			end_guest
		fi
		sleep 0.1
	done
}

# less_than NAME GOT LIMIT
less_than() {
	if [ "$2" -lt "$3" ] 2>/dev/null; then pass "$1" "$2"; else fail "$1" "got '$2', expected less than $3"; fi
}

# kernel_log PATTERN: how many lines of the kernel log have it
kernel_log() {
	dmesg | grep -c -e "$1"
}
