# SPDX-License-Identifier: Apache-2.0
# Debian packages fetched and not installed.  Sourced by bash, after shell.sh; needs $scratch (make_scratch).

# apt's own lists may be missing or older than the archive.  The second try uses lists of our own.
apt_private=()
refresh_lists() {
	[[ ${#apt_private[@]} == 0 ]] || return 0
	mkdir -p "$scratch/apt/lists/partial" "$scratch/apt/cache/archives/partial"
	apt_private=(-o "Dir::State::lists=$scratch/apt/lists" -o "Dir::Cache=$scratch/apt/cache"
		-o "Debug::NoLocking=1" -o "APT::Sandbox::User=$(id -un)")
	echo "$program: refreshing the package lists" >&2
	apt-get -qq "${apt_private[@]}" -o Acquire::Retries=0 update --error-on=any >"$scratch/apt.log" 2>&1 ||
		die "no network: $(apt_failure "$scratch/apt.log")"
}

# Puts the archive's packages of these names into $scratch: download PACKAGE...
download() {
	(cd "$scratch" && rm -f ./*.deb && apt-get -qq "${apt_private[@]}" download "$@") >"$scratch/apt.log" 2>&1
}
