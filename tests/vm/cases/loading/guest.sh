# SPDX-License-Identifier: Apache-2.0
# Nothing embedded.
holds plain-loads insmod /share/in/plain.ko
refuses plain-has-nothing-to-claim "daybreak: " daybreak record --claim -o /tmp/none.dbrk
at_least plain-lists-probes "$(daybreak list | wc -l)" 1000
refuses loaded-twice exists insmod /share/in/busy.ko
holds plain-unloads rmmod daybreak

# Built for another kernel.
refuses wrong-kernel-refused "nvalid module format" insmod /share/in/other.ko
equal wrong-kernel-leaves-nothing "$(grep -c '^daybreak ' /proc/modules)" 0

# A program that does not pass the verifier: loaded, nothing enabled, one line of log.
dmesg -c >>/share/out/dmesg-before.txt
holds victim-loads insmod /share/in/victim.ko
dmesg >/tmp/victim
equal victim-logs-one-line "$(grep -c daybreak: /tmp/victim)" 1
echo "victim: $(grep daybreak: /tmp/victim)"
refuses victim-has-nothing-to-claim "daybreak: " daybreak record --claim -o /tmp/none.dbrk
holds victim-unloads rmmod daybreak

# A program that has offsets of a kernel: this one's is taken, the other's is not.
holds typed-loads insmod /share/in/typed.ko
equal typed-says-what-it-takes "$(kernel_log 'recording: 1 ring, [1-9][0-9]* probes, [1-9][0-9]* ECBs, [1-9][0-9]* bytes')" 1
workload 1
holds typed-records daybreak record --claim -o /tmp/typed.dbrk
holds typed-unloads rmmod daybreak
holds typed-elsewhere-loads insmod /share/in/typed-elsewhere.ko
at_least typed-elsewhere-is-refused "$(kernel_log 'embedded enabling .* refused: compiled with the types of kernel .*, this is ')" 1
refuses typed-elsewhere-has-nothing-to-claim "compiled with the types of kernel" daybreak record --claim -o /tmp/none.dbrk
holds typed-elsewhere-unloads rmmod daybreak

# quickstart's program compiled into the module, beside another one; and interpreted, of the same file.
record_boot() { # NAME [PARAMETER]
	holds "$1-loads" insmod /share/in/native.ko $2
	workload 3
	daybreak status >"/tmp/$1.status" 2>&1
	daybreak record --claim -q -o "/tmp/$1.dbrk"
	at_least "$1-records" $(($? == 0 || $? == 3)) 1 # 3: what stack() could not see is said
	# Without times, and what others did.
	daybreak report "/tmp/$1.dbrk" | sed -n -e 's/^ *[0-9.]* *[0-9]*  \(.*workload 3\)$/\1/p' \
		-e '/^ *workload  *[0-9]*$/p' -e '/^  [a-z ]*()/p' >"/tmp/$1.txt"
	holds "$1-unloads" rmmod daybreak
}
record_boot native
equal native-is-said "$(kernel_log 'ring boot: [1-9] of [1-9][0-9]* clauses are native, of [1-9] more the expressions')" 1
at_least native-in-status "$(awk '$1 == "boot" { print int($9) }' /tmp/native.status)" 1
equal native-second-program "$(kernel_log 'ring busy: [0-9] of [1-9][0-9]* clauses are native')" 1
record_boot interpreted native=off
equal interpreted-in-status "$(awk '$1 == "boot" { print $9 }' /tmp/interpreted.status)" -
equal native-off-is-said "$(kernel_log 'ring boot is interpreted: native=off')" 1
diff /tmp/native.txt /tmp/interpreted.txt
holds native-report cmp /tmp/native.txt /tmp/interpreted.txt
equal native-report-has-all "$(grep -c . /tmp/native.txt)" 4
echo "native: $(cat /tmp/native.txt)"
holds native-changed-loads insmod /share/in/changed.ko
equal native-changed-is-said "$(kernel_log 'ring typed is interpreted: the module has no native program of its DOF and options')" 1
workload 1
holds native-changed-records daybreak record --claim -q -o /tmp/changed.dbrk
holds native-changed-unloads rmmod daybreak
holds native-older-loads insmod /share/in/older.ko
equal native-older-is-said "$(kernel_log 'a native program is left out: another version of daybreak translated it')" 1
equal native-older-is-interpreted "$(kernel_log 'ring boot is interpreted: the module has no native program')" 1
workload 1
daybreak record --claim -q -o /tmp/older.dbrk
at_least native-older-records $(($? == 0 || $? == 3)) 1
holds native-older-unloads rmmod daybreak

# Unloading while probes fire; what a load takes comes back.
vmalloc_kib() {
	sed -n 's/^VmallocUsed: *\([0-9]*\).*/\1/p' /proc/meminfo
}
before_kib=$(vmalloc_kib)
while true; do workload 20; done >/dev/null 2>&1 &
load_one=$!
while true; do workload 20; done >/dev/null 2>&1 &
load_two=$!
for round in 1 2 3 4 5; do
	insmod /share/in/busy.ko || fail unload-under-load "round $round: not loaded"
	sleep 0.$round
	rmmod daybreak || fail unload-under-load "round $round: not unloaded"
done
pass unload-under-load
less_than unload-gives-back $(($(vmalloc_kib) - before_kib)) 2048

# Recording where it cannot be written: one line, status 1, nothing half-written.
insmod /share/in/busy.ko
sleep 1
mkdir -p /tmp/full
mount -t tmpfs -o size=16k tmpfs /tmp/full
refuses record-to-a-folder "daybreak: " daybreak record --claim -o /tmp/full
refuses record-to-a-full-disk "daybreak: " daybreak record --claim -o /tmp/full/boot.dbrk
equal full-disk-nothing-left "$(ls /tmp/full)" ""
rmmod daybreak
kill $load_one $load_two
wait
