# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The distributions that Daybreak is built and tried on, and their kernels.  Sourced by bash.

# Sets $distribution to that of this machine, by its code name: bookworm (Debian 12), trixie (Debian 13) or noble
# (Ubuntu 24.04). Another one is taken for Debian 12: what it lacks is said when it is fetched.
this_distribution() {
	# shellcheck disable=SC1091 # the machine's
	distribution=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}") || true
	case $distribution in
	trixie | noble) ;;
	*) distribution=bookworm ;;
	esac
}

# Prints its name and version: distribution_name DISTRIBUTION
distribution_name() {
	case $1 in
	trixie) echo "Debian 13" ;;
	noble) echo "Ubuntu 24.04" ;;
	*) echo "Debian 12" ;;
	esac
}

# Prints where its archive is, or nothing where mmdebstrap knows it: distribution_mirror DISTRIBUTION
distribution_mirror() {
	[[ $1 != noble ]] || echo http://archive.ubuntu.com/ubuntu
}

# Prints the series of its kernels that ./quickstart boots, the one that it installs first: kernels_of DISTRIBUTION
kernels_of() {
	case $1 in
	trixie) echo 6.12 ;;
	noble) echo 6.8 ;;
	*) echo 6.1 6.12 ;;
	esac
}

# Prints what the names of the metapackages of a kernel's image and headers end in, or nothing when the distribution has no
# such kernel: kernel_meta DISTRIBUTION SERIES
kernel_meta() {
	case $1-$2 in
	bookworm-6.1 | trixie-6.12) echo amd64 ;;
	bookworm-6.12) echo 6.12-amd64 ;;
	bookworm-6.1-rt) echo rt-amd64 ;;
	noble-6.8) echo generic ;;
	esac
}
