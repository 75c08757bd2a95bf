# SPDX-License-Identifier: Apache-2.0
# refused FILE REASON: one line of the kernel log says so
refused() {
	equal "refused-$1" "$(kernel_log "daybreak: program $1 refused: $2")" 1
}
# forget: the kernel log begins anew
forget() {
	dmesg -c >>/share/out/dmesg-before.txt
}
# names: of the rings that came with the module, the oldest first
names() {
	daybreak status 2>/dev/null | awk '/the module$/ { printf "%s ", $1 }'
}

# What early-init found beside the module: by name, and one that is broken stops none.
refused cut.dof "DOF is cut"
equal recording-is-said "$(kernel_log 'daybreak: recording: 2 rings, ')" 1
equal in-order-of-names "$(names)" "first later "
holds is-claimed daybreak record --claim -o /share/out/first.dbrk
equal is-embedded "$(daybreak info /share/out/first.dbrk | grep -c '^ *ring [0-9]* "first": embedded,')" 1
equal initramfs-is-as-it-was "$(ls /daybreak | tr '\n' ' ')" \
	"cut.dof daybreak.ko early-init first.dof later.dof "
holds unload rmmod daybreak

# A module that is loaded later; whatever the files are.
mkdir /tmp/hostile
cd /tmp/hostile
cp /share/in/later.dof b.dof
cp /share/in/later.dof .hidden.dof
cp /share/in/later.dof other.txt
cp /share/in/later.dof "$(printf 'o\033d\nd.dof')"
cp /share/in/later.dof "a_name_of_many_letters_$(printf '%0200d' 0).dof"
ln -s /share/in/later.dof a.d.dof
ln -s nowhere dangling.dof
ln -s . loop.dof
: >empty.dof
head -c 100 /dev/urandom >noise.dof
head -c 300 b.dof >cut.dof
dd if=/dev/zero of=huge.dof bs=1 count=1 seek=1073741823 2>/dev/null
dd if=/dev/zero of=large.dof bs=1 count=1 seek=8388608 2>/dev/null
dd if=/dev/zero of=largest.dof bs=1 count=1 seek=8388607 2>/dev/null
mkfifo fifo.dof
mkdir folder.dof
mknod device.dof c 1 5
cd /
forget
holds hostile-loads insmod /share/in/plain.ko programs=/tmp/hostile
refused dangling.dof "the file cannot be found (error 2)"
refused loop.dof "it is not a regular file"
refused empty.dof "the file is empty"
refused noise.dof "no DOF: "
refused cut.dof "DOF is cut"
refused huge.dof "the DOF is larger than 8 MiB"
refused large.dof "the DOF is larger than 8 MiB"
refused largest.dof "no DOF: "
refused fifo.dof "it is not a regular file"
refused folder.dof "it is not a regular file"
refused device.dof "it is not a regular file"
equal refused-are-11 "$(kernel_log 'daybreak: program .* refused: ')" 11
equal hostile-rings "$(kernel_log 'daybreak: recording: 4 rings, ')" 1
equal hostile-names "$(names)" "a a_name_of_many_letters_00000000 b o_d_d "
holds hostile-unloads rmmod daybreak

# With embedded ones, whose names are taken.
mkdir /tmp/together
cp /share/in/first.dof /share/in/later.dof /tmp/together
forget
holds together-loads insmod /share/in/embedded.ko programs=/tmp/together
refused later.dof "there is a ring of its name"
equal embedded-first "$(names)" "later first "
holds together-unloads rmmod daybreak

# What is too much, and folders that are none.
mkdir /tmp/many
for number in $(seq 10 49); do cp /share/in/later.dof /tmp/many/p$number.dof; done
forget
holds many-load insmod /share/in/plain.ko programs=/tmp/many
equal many-are-32 "$(kernel_log 'daybreak: recording: 32 rings, ')" 1
equal many-are-left-out "$(kernel_log 'programs=/tmp/many: room for 32 programs: left out 8 after p41.dof')" 1
holds many-unload rmmod daybreak
forget
for folder in /nowhere /share/in/first.dof; do
	holds loads-without-folder insmod /share/in/plain.ko programs=$folder
	refuses claim-says-why-not "$folder: the folder cannot be read" daybreak record --claim -o /tmp/none.dbrk
	holds unloads-without-folder rmmod daybreak
done
equal no-folder-is-said "$(kernel_log 'daybreak: programs=/nowhere refused: the folder cannot be read (error 2)')" 1
equal a-file-is-none "$(kernel_log 'daybreak: programs=/share/in/first.dof refused: the folder cannot be read (error 20)')" 1
equal nothing-else-is-said "$(kernel_log 'daybreak: ')" 2
forget
holds salvage-loads insmod /share/in/plain.ko programs=/tmp/hostile salvage=1
equal salvage-enables-nothing "$(kernel_log 'daybreak: program ')" 0
holds salvage-unloads rmmod daybreak
