# SPDX-License-Identifier: Apache-2.0
# Makes m, a folder that stands for a machine with GRUB and one kernel, and the programs of GRUB that
# `daybreak install` asks; `install`, `again` and `uninstall` are the commands for it, and `has_kernels RELEASE...` gives it
# other kernels, the first one booted by default; `well` makes all of it run.  Sourced by cases.
release=6.1.0-test-amd64
mkdir -p m/run m/boot/grub m/usr/lib/systemd/system m/proc/sys/kernel/random m/var/lib programs
touch m/usr/lib/systemd/system/daybreak-boot.service
echo $release >m/proc/sys/kernel/osrelease
echo 1234 >m/proc/sys/kernel/random/boot_id
has_kernels() {
	rm -rf m/boot/vmlinuz-* m/lib/modules
	cat >m/boot/grub/grub.cfg <<-'END'
		if [ "${next_entry}" ] ; then
		   set default="${next_entry}"
		else
		   set default="0"
		fi
	END
	for one; do
		echo kernel >m/boot/vmlinuz-$one
		mkdir -p m/lib/modules/$one/extra
		sed "s/$release/$one/" "$SOURCE/tests/unit/formats/module/fake_module.S" |
			gcc -c -x assembler -o m/lib/modules/$one/extra/daybreak.ko -
		cat >>m/boot/grub/grub.cfg <<-END
			menuentry 'Debian GNU/Linux, $one' --class debian \$menuentry_id_option 'gnulinux-$one' {
				insmod ext2
				search --no-floppy --fs-uuid --set=root 1111
				linux	/boot/vmlinuz-$one root=UUID=1111 ro quiet
				initrd	/boot/initrd.img-$one
			}
		END
	done
	echo 'source $prefix/custom.cfg' >>m/boot/grub/grub.cfg
}
has_kernels $release
echo '# GRUB Environment Block' >m/boot/grub/grubenv
# grub-probe --target=fs FOLDER, grub-editenv FILE set NAME=VALUE, grub-editenv FILE unset NAME
cat >programs/grub-probe <<'END'
#!/bin/sh
[ "$1" != --target=fs ] || cat "$(dirname "$0")/fs"
END
echo ext2 >programs/fs
cat >programs/grub-editenv <<'END'
#!/bin/sh
sed -i "/^${3%%=*}=/d" "$1"
[ "$2" != set ] || echo "$3" >>"$1"
END
chmod +x programs/grub-*
PATH=$PWD/programs:$PATH
echo early >early-init
echo 'BEGIN { trace(1); }' >b.d
install() { daybreak install b.d --root "$PWD/m" --early-init early-init "$@" 2>&1; }
again() { daybreak install --again --root "$PWD/m" --early-init early-init "$@" 2>&1; }
uninstall() { daybreak uninstall --root "$PWD/m" "$@" 2>&1; }
selftest() { daybreak selftest --root "$PWD/m" --early-init early-init "$@" 2>&1; }
types() {
	mkdir -p m/sys/kernel/btf
	PYTHONPATH=$SOURCE/tests/d python3 -B -c 'import sys, kernel_btf; sys.stdout.buffer.write(kernel_btf.image())' >m/sys/kernel/btf/vmlinux
}
# well: the machine runs, traced, with all that selftest looks at
well() {
	types
	install --once >install.log
	mkdir -p m/sys/module/daybreak m/var/log/daybreak
	echo 0.1.0 >m/sys/module/daybreak/version
	echo 'root=x daybreak.bank=64M@0x10000000' >m/proc/cmdline
	printf '00000000-00000000 : Reserved\n  00000000-00000000 : daybreak bank\n' >m/proc/iomem
	daybreak sim -n 'BEGIN { exit(0); }' -o m/var/log/daybreak/b.dbrk >sim.log 2>&1
	printf 'result collected\nboot 1234\nkernel %s\nfile /var/log/daybreak/b.dbrk\n' $release >m/var/lib/daybreak/last-boot
}
status() { daybreak status --root "$PWD/m" --status-file none 2>&1; }
