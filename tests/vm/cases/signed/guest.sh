# SPDX-License-Identifier: Apache-2.0
unsigned="it is not signed, as require_signed asks (daybreak sign)"
stranger="it is signed by a key that this kernel does not trust"
other="its signature does not match it, or the key is revoked"
damaged="its signature is damaged"
# said TEXT: how many lines of the kernel log since the last forget have it
said() {
	dmesg | grep -c -F "$1"
}
forget() {
	dmesg -c >>/share/out/dmesg-before.txt
}
# refused FILE REASON: by the way beside the module, one line
refused() {
	equal "beside-$1" "$(said "daybreak: program $1 refused: $2")" 1
}
rings() {
	daybreak status 2>/dev/null | grep -c -E '^(inside|owner|firmware|plain|unsigned|live|named) '
}
mkdir /tmp/programs
cp /share/in/*.dof /tmp/programs/
rm /tmp/programs/destructive.dof /tmp/programs/signed-destructive.dof

# The firmware's key is trusted, but not yet the owner's.
holds trust-firmware insmod /share/in/trust.ko certificate=/share/in/firmware.der keyring=platform_trusted_keys
holds trust-unloads rmmod trust
holds loads-unsigned insmod /share/in/plain.ko programs=/tmp/programs
# Without the parameter a signature is passed over, even one that is damaged.
equal without-it-all-are-taken "$(said 'daybreak: recording: 11 rings, ')" 1
equal parameter-says-no "$(cat /sys/module/daybreak/parameters/require_signed)" N
refuses parameter-is-for-loading "" sh -c 'echo 1 >/sys/module/daybreak/parameters/require_signed'
holds unload-1 rmmod daybreak

forget
holds loads-before-trust insmod /share/in/plain.ko require_signed=1 programs=/tmp/programs
equal parameter-says-yes "$(cat /sys/module/daybreak/parameters/require_signed)" Y
refused owner.dof "$stranger"
refused plain.dof "$unsigned"
equal firmware-is-taken "$(rings)" 1
holds unload-2 rmmod daybreak
holds trust-owner insmod /share/in/trust.ko certificate=/share/in/owner.der keyring=secondary_trusted_keys

# Beside the module, and inside it.
forget
holds loads insmod /share/in/embedded.ko require_signed=1 programs=/tmp/programs
equal embedded-unsigned "$(said "daybreak: embedded enabling unsigned refused: $unsigned")" 1
refused plain.dof "$unsigned"
refused cut.dof "$unsigned"
refused after.dof "$unsigned"
refused stranger.dof "$stranger"
refused changed.dof "$other"
refused another.dof "$other"
refused damaged.dof "$damaged"
refused kind.dof "$damaged"
refused long.dof "$damaged"
equal refusals-are-10 "$(said refused:)" 10
equal inside-owner-and-firmware "$(rings)" 3

# ENABLE and ENABLE_AS.
refuses enable-unsigned "$unsigned" daybreak dtrace -qn 'BEGIN { exit(0); }'
refuses start-unsigned "$unsigned" daybreak start --dof /share/in/plain.dof --name named
refuses start-of-a-stranger "$stranger" daybreak start --dof /share/in/stranger.dof --name named
refuses start-changed "$other" daybreak start --dof /share/in/changed.dof --name named
holds start-signed daybreak start --dof /share/in/owner.dof --name named
equal named-is-there "$(rings)" 4
holds stop-signed daybreak stop named
holds unload-3 rmmod daybreak

# Built in, it needs no parameter, and none takes it back.
forget
holds built-in-loads insmod /share/in/strict.ko programs=/tmp/programs
equal built-in-says-yes "$(cat /sys/module/daybreak/parameters/require_signed)" Y
refused plain.dof "$unsigned"
equal built-in-takes-signed "$(rings)" 2
holds unload-built-in rmmod daybreak
refuses built-in-stays "" insmod /share/in/strict.ko require_signed=0

# It cannot be taken back in the same breath.
refuses parameter-only-rises "" insmod /share/in/plain.ko require_signed=1 require_signed=0

# A kernel that is locked down takes the signed module, and programs beside it by its rules.
[ -d /sys/kernel/security/integrity ] || mount -t securityfs securityfs /sys/kernel/security
mkdir /tmp/locked
cp /share/in/signed-destructive.dof /share/in/owner.dof /tmp/locked
echo integrity >/sys/kernel/security/lockdown
forget
refuses integrity-unsigned-module "" insmod /share/in/plain.ko
holds integrity-signed-module insmod /share/in/signed.ko require_signed=1 programs=/tmp/locked
refused signed-destructive.dof "the kernel is locked down: no destructive actions"
equal integrity-takes-the-other "$(rings)" 1
holds unload-4 rmmod daybreak
echo confidentiality >/sys/kernel/security/lockdown
forget
holds confidentiality-loads insmod /share/in/signed.ko programs=/tmp/locked
equal confidentiality-is-said "$(said 'daybreak: program owner.dof: the kernel is locked down (confidentiality)')" 1
holds unload-5 rmmod daybreak
