# SPDX-License-Identifier: Apache-2.0
# What the project's shell scripts share: errors in one line, checks of tools and disk space, a
# temporary folder that never stays, steps with their time, the end of failed tests, and Debian packages.  Sourced by bash.
#
# The sourcing script sets `program` to its own name first.
# shellcheck source=tests/support/distribution.sh
. "$(dirname "${BASH_SOURCE[0]}")/distribution.sh"

# Prints one line that says what was missing or failed, and ends the script.
die() {
	echo "$program: $*" >&2
	exit 1
}

# Ends the script unless each of the commands named is there: need_tools "PACKAGES" COMMAND...
# PACKAGES is what to install when one is not.
need_tools() {
	local packages=$1 tool
	shift
	for tool; do
		command -v "$tool" >/dev/null || [[ -x /usr/sbin/$tool || -x /sbin/$tool ]] ||
			die "$tool is missing: apt-get install $packages"
	done
}

# Ends the script unless the file system of FOLDER has MIB free: need_space FOLDER MIB WHAT
need_space() {
	local folder=$1 need_mib=$2 what=$3 free_mib
	mkdir -p "$folder" || die "cannot make the folder $folder"
	free_mib=$(df --output=avail -BM "$folder" | tail -n 1 | tr -dc 0-9)
	((free_mib >= need_mib)) ||
		die "no disk space: $what needs $need_mib MiB in $folder, $free_mib MiB are free"
}

# Sets $scratch to a new folder in FOLDER that goes when the script ends, however it ends.
make_scratch() {
	mkdir -p "$1" || die "cannot make the folder $1"
	scratch=$(mktemp -d "$1/.scratch.XXXXXX") || die "cannot write into $1"
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# Prints the packages of the groups named (build, vm, test) that this distribution has: deb_packages GROUP...
deb_packages() {
	local root group distribution
	this_distribution
	root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
	for group; do
		awk -v group="$group" -v here="$distribution" '/^#/ { next } $1 == group && (NF == 2 || $3 == here) { print $2 }' \
			"$root/packaging/deb-packages.txt"
	done
}

# Prints those of the packages named that are not installed.
deb_missing() {
	local package
	for package; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
			echo "$package"
	done
}

# Prints the line of apt's output that says most about why it failed: apt_failure LOG
apt_failure() {
	grep -m 1 -a -o -E 'Failed to fetch.*|(Temporary failure|Could not|Unable to) (resolv|connect).*' "$1" ||
		grep -m 1 -a -E '^[EW]:' "$1" || tail -n 1 "$1"
}

# Steps.  start_steps FOLDER once, then step TEXT COMMAND...: runs the command (or function) in a
# process group of its own with its output in FOLDER/NN.log, and shows what is done, for how long,
# what daybreak warned of, and on a terminal the last line of the output.  A command that fails ends the script, in one line
# when it said in one what was missing.  Ctrl-C and SIGTERM end the command with all it started.
start_steps() {
	steps_folder=$1
	steps_count=0
	step_pid=
	mkdir -p "$steps_folder" || die "cannot make the folder $steps_folder"
	rm -f "$steps_folder"/[0-9][0-9].log
	trap 'step_interrupted 130' INT
	trap 'step_interrupted 143' TERM HUP
}

step() {
	local text=$1 started=${EPOCHREALTIME/./} status=0
	shift
	[[ $1 != install_packages ]] || authorize_installation "${@:2}"
	steps_count=$((steps_count + 1))
	step_log=$steps_folder/$(printf %02d "$steps_count").log
	step_begin "$@" >"$step_log" 2>&1
	[[ -t 1 ]] || printf '  %-46s' "$text"
	while kill -0 "$step_pid" 2>/dev/null; do
		[[ ! -t 1 ]] || step_show "$text" "$started"
		sleep 0.1
	done
	wait "$step_pid" || status=$?
	step_pid=
	[[ ! -t 1 ]] || printf '\r\033[K  %-46s' "$text"
	step_seconds=$(step_elapsed "$started")
	((status == 0)) || step_failed "$text" "$status"
	printf '%7s s\n' "$step_seconds"
	sed -n '/^daybreak: warning: /s/^/    /p' "$step_log"
}

# Starts a command in a process group of its own, $step_pid, which ends when the script is interrupted.
step_begin() {
	set -m
	"$@" </dev/null &
	step_pid=$!
	set +m
}

step_elapsed() {
	local spent_ds=$(((${EPOCHREALTIME/./} - $1) / 100000))
	echo "$((spent_ds / 10)).$((spent_ds % 10))"
}

# One line of the terminal: the step, its time, and how far its command is.
step_show() {
	local last width=${COLUMNS:-$(tput cols 2>/dev/null || echo 80)}
	last=$(tail -c 400 "$step_log" 2>/dev/null | tr -d '\0' | tr '\r\t' '\n ' | grep -a -v '^ *$' | tail -n 1)
	last=$(printf '%-46s%7s s  %s' "$1" "$(step_elapsed "$2")" "$last" | tr -cd '[:print:]' | cut -c "1-$((width - 3))")
	printf '\r\033[K  %s' "$last"
}

# A line of the form "program: what" at the end of the log says it all; else its tail is shown.
step_failed() {
	local said
	printf '%7s s  failed\n' "$step_seconds"
	said=$(tail -n 1 "$step_log")
	if [[ $said =~ ^[a-z][a-z-]*:\ (no\ network|no\ disk\ space|.*is\ missing) ]]; then
		die "$1: $said"
	fi
	tail -n 25 "$step_log" | sed 's/^/    | /' >&2
	die "$1 failed (status $2); all of its output is in $step_log"
}

step_interrupted() {
	set +e
	trap '' INT TERM HUP
	if [[ -n $step_pid ]]; then
		kill -TERM -- "-$step_pid" 2>/dev/null
		for _ in {1..50}; do
			kill -0 -- "-$step_pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$step_pid" 2>/dev/null
		wait "$step_pid" 2>/dev/null
	fi
	[[ ! -t 1 ]] || printf '\r\033[K'
	echo "$program: interrupted" >&2
	exit "$1"
}

# Prints the last lines of each test that failed, which lie far apart in what ctest printed: failed_tests LAST_TEST_LOG
failed_tests() {
	awk '!inside && /^[0-9]+\/[0-9]+ Testing: / { name = $3; kept = 0 }
		/^Output:$/ { inside = 1; next }
		/^<end of output>$/ { inside = 0 }
		inside && NF && !/^-+$/ { lines[kept++] = substr($0, 1, 400) }
		!inside && /^Test Failed/ {
			print "\n" name " failed, and printed " (kept ? "last:" : "nothing")
			for (at = kept > 8 ? kept - 8 : 0; at < kept; at++)
				print "    | " lines[at]
		}' "$1"
}

# Installs what is missing of the packages of the groups named: install_packages GROUP...
# As a step (step TEXT install_packages ...), sudo asks for its password before the step begins.
install_packages() {
	local missing
	command -v apt-get >/dev/null || die "apt-get is missing: this needs Debian or Ubuntu"
	mapfile -t missing < <(deb_missing $(deb_packages "$@"))
	if ((${#missing[@]} == 0)); then
		echo "all packages are installed"
		return
	fi
	need_space /var/cache/apt 1500 "installing packages"
	as_root apt-get -q -y -o DPkg::Lock::Timeout=60 update || echo "$program: the package lists may be old"
	as_root apt-get -q -y -o DPkg::Lock::Timeout=60 install --no-install-recommends "${missing[@]}" ||
		installation_failed "${missing[@]}"
}

as_root() {
	if ((EUID == 0)); then
		env DEBIAN_FRONTEND=noninteractive "$@"
	else
		sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
	fi
}

# Asks for sudo's password, if it will be needed, and says what for.
authorize_installation() {
	local missing
	mapfile -t missing < <(deb_missing $(deb_packages "$@"))
	((${#missing[@]} > 0 && EUID != 0)) || return 0
	command -v sudo >/dev/null || die "sudo is missing: as root, run apt-get install ${missing[*]}"
	echo "  sudo runs: apt-get install ${missing[*]}"
	sudo -v || die "sudo was refused: as root, run apt-get install ${missing[*]}"
}

# Says in one line why apt-get did not install, from what it printed.
installation_failed() {
	local log=${step_log:-/dev/null}
	! grep -q -a -E 'Failed to fetch|resolving|Unable to connect' "$log" || die "no network: $(apt_failure "$log")"
	! grep -q -a -i 'no space left\|enough free space' "$log" || die "no disk space: installing $*"
	die "apt-get could not install $*"
}
