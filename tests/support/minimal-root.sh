# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # folder, root, distribution
# A minimal Debian or Ubuntu to work in as a new user would: sourced by bash after shell.sh.
#
# $folder keeps the archive's packages, $root in it is the machine of $distribution (distribution.sh); all three are set by the
# script that sources this.

# Starts the script once more, as the root of namespaces of its own, so that no mount and no process stays, whatever
# ends it: enter_namespaces SCRIPT ARGUMENT...   As another user than root it needs uidmap.
enter_namespaces() {
	local user=()
	[[ -z ${DAYBREAK_ROOT_INSIDE:-} ]] || return 0
	need_tools "mmdebstrap util-linux git" mmdebstrap unshare setpriv git
	((EUID == 0)) || user=(--map-root-user --map-auto)
	DAYBREAK_ROOT_INSIDE=1 exec setpriv --pdeathsig KILL unshare "${user[@]}" --mount --pid --ipc --fork --kill-child=KILL \
		--mount-proc -- "$@"
}

# Lines of apt's sources for a distribution: Debian's from where this machine's apt has them, whatever form they have there.
# sources DISTRIBUTION
sources() {
	local suite
	if [[ $1 == noble ]]; then
		for suite in noble noble-updates noble-security; do
			echo "deb $(distribution_mirror noble) $suite main universe"
		done
		return
	fi
	# shellcheck disable=SC2016
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)|$(ORIGIN)' 'Created-By: Packages' |
		sed -n 's/|Debian$//p' | sed -nE "s/ (bookworm|trixie)/ $1/p" | sort -u
}

# Prints the keyring of Ubuntu's archive: this machine's, or that of Debian 13's package ubuntu-keyring. Debian 12 has no such
# package, but the keys that vouch for Debian 13's archive.
ubuntu_keyring() {
	local keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg own=$folder/keyring
	local apt=(-q -o "Dir::Etc::SourceList=$own/sources.list" -o "Dir::Etc::SourceParts=$own/none" -o Debug::NoLocking=1
		-o "Dir::State::Lists=$own/lists" -o "Dir::Cache=$own/cache" -o APT::Sandbox::User=root)
	if [[ ! -e $keyring && ! -e $own$keyring ]]; then
		mkdir -p "$own/none" "$own/lists/partial" "$own/cache/archives/partial"
		sources trixie >"$own/sources.list"
		(cd "$own" && apt-get "${apt[@]}" update && apt-get "${apt[@]}" download ubuntu-keyring &&
			dpkg-deb -x ubuntu-keyring_*.deb .) >"$own/log" 2>&1 || die "no keys of Ubuntu's archive: $(apt_failure "$own/log")"
	fi
	[[ -e $keyring ]] && echo "$keyring" || echo "$own$keyring"
}

# Makes $root from the distribution's archive: make_root PACKAGES (with commas). Kernels get no initramfs.
make_root() {
	local lines keys=()
	lines=$(sources "$distribution")
	[[ -n $lines ]] || die "apt's sources have no Debian"
	# One each: a package of the same name and version is not the same in Debian and Ubuntu.
	archives=$folder/archives/$distribution
	mkdir -p "$archives/partial"
	[[ $distribution != noble ]] || keys=(--keyring="$(ubuntu_keyring)") || exit 1
	rm -rf --one-file-system "$root"
	# shellcheck disable=SC2016 # for mmdebstrap's shell
	INITRD=No mmdebstrap --mode=root --variant=minbase --skip=cleanup/apt "${keys[@]}" --include="apt,$1" \
		--setup-hook="mkdir -p \"\$1/var/cache/apt/archives\" && mount --bind $archives \"\$1/var/cache/apt/archives\"" \
		--customize-hook='umount "$1/var/cache/apt/archives"' "$distribution" "$root" - <<<"$lines" >"$folder/mmdebstrap.log" 2>&1 ||
		die "mmdebstrap failed: $(apt_failure "$folder/mmdebstrap.log")"
	mount_rest
}

mount_rest() {
	mount --rbind /dev "$root/dev"
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys" 2>/dev/null || mount --rbind /sys "$root/sys"
	mount -t tmpfs tmpfs "$root/dev/shm"
	mount --bind "$archives" "$root/var/cache/apt/archives"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
}

# Past what is mounted in it, which ends with the namespace.
remove_root() {
	umount -R "$root"/dev "$root"/proc "$root"/sys "$root/var/cache/apt/archives" 2>/dev/null || true
	rm -rf --one-file-system "$root"
}

# as_user COMMAND...: in the machine, in /daybreak if that is there, with the environment of a new shell
as_user() {
	local proxies
	mapfile -t proxies < <(env | grep -i '^[a-z]*_proxy=' || true)
	# shellcheck disable=SC2016
	chroot "$root" env -i HOME=/root USER=root TERM=dumb LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${proxies[@]}" \
		sh -c 'cd /daybreak 2>/dev/null; exec "$@"' sh "$@"
}
