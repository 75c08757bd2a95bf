# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # folder, root
# A minimal Debian 12 to work in as a new user would: sourced by bash after shell.sh.
#
# $folder keeps the archive's packages, $root in it is the machine; both are set by the script that sources this.

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

# Debian's lines of apt's sources, whatever form they have.
sources() {
	# shellcheck disable=SC2016
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)|$(ORIGIN)' 'Created-By: Packages' |
		sed -n 's/|Debian$//p' | grep ' bookworm' | sort -u
}

# Makes $root from the archive that this machine's apt uses: make_root PACKAGES (with commas). Kernels get no initramfs.
make_root() {
	local lines
	lines=$(sources)
	[[ -n $lines ]] || die "apt's sources have no Debian 12 (bookworm)"
	mkdir -p "$folder/archives/partial"
	rm -rf --one-file-system "$root"
	# shellcheck disable=SC2016 # for mmdebstrap's shell
	INITRD=No mmdebstrap --mode=root --variant=minbase --skip=cleanup/apt --include="$1" \
		--setup-hook="mkdir -p \"\$1/var/cache/apt/archives\" && mount --bind $folder/archives \"\$1/var/cache/apt/archives\"" \
		--customize-hook='umount "$1/var/cache/apt/archives"' bookworm "$root" - <<<"$lines" >"$folder/mmdebstrap.log" 2>&1 ||
		die "mmdebstrap failed: $(apt_failure "$folder/mmdebstrap.log")"
	mount_rest
}

mount_rest() {
	mount --rbind /dev "$root/dev"
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys" 2>/dev/null || mount --rbind /sys "$root/sys"
	mount -t tmpfs tmpfs "$root/dev/shm"
	mount --bind "$folder/archives" "$root/var/cache/apt/archives"
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
