# SPDX-License-Identifier: Apache-2.0
# What a folder cannot stand for: the module loads, answers, and records. The rest is in tests/cli/selftest.cases.
folder=/lib/modules/$(uname -r)/extra
mkdir -p "$folder"
cp /share/in/daybreak.ko "$folder/"
mount -t securityfs securityfs /sys/kernel/security

# tried NAME STATUS [OPTION...]: its status; the lines are in /tmp/NAME
tried() {
	tried_name=$1
	tried_status=$2
	shift 2
	daybreak selftest --early-init /share/in/early-init "$@" >/tmp/$tried_name 2>&1
	tried_got=$?
	sed "s/^/$tried_name: /" /tmp/$tried_name
	equal $tried_name-status $tried_got $tried_status
}
# line NAME CHECK PATTERN: what it says of a check
line() {
	equal "$1-$2" "$(grep -c -e "^$2  *$3" /tmp/$1)" 1
}
is_loaded() {
	grep -c '^daybreak ' /proc/modules
}

tried alone 0
line alone module 'ok: .*/extra/daybreak.ko, version '
line alone loaded 'not here: not loaded; --load tries it'
line alone types 'ok: /sys/kernel/btf/vmlinux$'
line alone record 'ok: only in this process'
tried load 0 --load
line load loaded 'ok: loaded for this test, [0-9]* probes$'
line load record "ok: a process's exit, from the probe to the print$"
equal unloaded "$(is_loaded)" 0

holds insmod insmod "$folder/daybreak.ko"
echo 'BEGIN { }' >/tmp/mine.d
holds start daybreak start /tmp/mine.d
tried loaded 0 --load
line loaded loaded 'ok: loaded, [0-9]* probes$'
line loaded record "ok: a process's exit"
equal goes-on "$(is_loaded) $(daybreak status 2>/dev/null | grep -c '^mine .*active')" "1 1"
daybreak stop mine 2>/dev/null

rm /dev/daybreak
tried no-device 1
line no-device loaded 'FAIL: the daybreak module is not loaded (/dev/daybreak is not there)'
line no-device record 'not here: the loaded module cannot be asked$'
holds unload rmmod daybreak
mkdir /tmp/empty
mount --bind /tmp/empty /sys/kernel/btf
tried no-types 1
line no-types types 'FAIL: .*/sys/kernel/btf/vmlinux'
umount /sys/kernel/btf
printf '\1' | dd of="$folder/daybreak.ko" bs=1 seek=0 conv=notrunc 2>/dev/null
tried no-module 1 --load
line no-module module 'FAIL: .*daybreak.ko: not a kernel module'
line no-module loaded 'not here: there is no good module to load'
cp /share/in/flavour.ko "$folder/daybreak.ko"
tried no-load 1 --load
line no-load loaded 'FAIL: insmod failed: .*: the last lines of dmesg say why'
line no-load record 'ok: only in this process'
cp /share/in/daybreak.ko "$folder/"
holds insmod-signed insmod "$folder/daybreak.ko" require_signed=1
tried signed-only 0
line signed-only record 'not here: the module takes signed programs only'
rmmod daybreak
insmod "$folder/daybreak.ko"
echo confidentiality >/sys/kernel/security/lockdown
tried locked 1
line locked lockdown 'FAIL: got confidentiality'
holds unload-at-last rmmod daybreak
