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
