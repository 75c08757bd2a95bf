# SPDX-License-Identifier: Apache-2.0
# Daybreak on a disk of Debian. Each boot is a stage; the number of the next is on the disk.
stage=$(cat /stage 2>/dev/null || echo 1)
release=$(uname -r)
echo $((stage + 1)) >/stage
echo "stage $stage: $(cat /proc/cmdline)"

# next_boot: does not return
next_boot() {
	sync
	systemctl --no-block reboot
	exit 0
}

# sums_of FILE FOLDER... [! -path NAME...]: what is in their files
sums_of() {
	sums=$1
	shift
	find "$@" -print0 2>/dev/null | sort -z | xargs -0 sha256sum >"$sums"
}

# status_line NAME PATTERN: one line of the status has it
status_line() {
	daybreak status >/share/out/status-$stage.txt 2>&1
	if grep -q -e "$2" /share/out/status-$stage.txt; then pass "$stage-$1"; else fail "$stage-$1" "$(tr '\n' ';' </share/out/status-$stage.txt)"; fi
}

# place_daybreak CONDITION: as its packages do; and what panics while /die is there, in a boot for which the unit's condition holds
place_daybreak() {
	cp /share/in/daybreak /usr/bin/
	mkdir -p /usr/libexec/daybreak /usr/share/daybreak /usr/lib/modules/$release/extra
	cp /share/in/early-init /usr/libexec/daybreak/
	cp /share/in/boot.d /share/in/before.d /usr/share/daybreak/
	cp /share/in/daybreak.ko /usr/lib/modules/$release/extra/
	cp /share/in/daybreak-boot.service /usr/lib/systemd/system/
	ln -s ../daybreak-boot.service /usr/lib/systemd/system/multi-user.target.wants/
	cat >/etc/systemd/system/die.service <<-END
		[Unit]
		DefaultDependencies=no
		ConditionPathExists=/die
		$1
		Before=sysinit.target
		[Service]
		Type=oneshot
		ExecStart=/bin/sh -c 'echo c >/proc/sysrq-trigger'
	END
	mkdir -p /etc/systemd/system/sysinit.target.wants
	ln -s ../die.service /etc/systemd/system/sysinit.target.wants/
}
