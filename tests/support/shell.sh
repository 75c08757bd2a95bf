# SPDX-License-Identifier: Apache-2.0
# What the project's shell scripts share: errors in one line, checks of tools and disk space, a
# temporary folder that never stays behind, and the list of Debian packages.  Sourced by bash.
#
# The sourcing script sets `program` to its own name first.

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

# Prints the Debian packages of the groups named (build, vm, test): deb_packages GROUP...
deb_packages() {
	local root group
	root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
	for group; do
		awk -v group="$group" '/^#/ { next } $1 == group { print $2 }' "$root/packaging/deb-packages.txt"
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
