# SPDX-License-Identifier: Apache-2.0
holds load insmod /share/in/daybreak.ko
cp /share/in/many /bin/many
cd /tmp
now_s() {
	cut -d . -f 1 /proc/uptime
}
echo 'pid*:/bin/many:function_*:entry { @[probefunc] = count(); }' >calls.d
holds runs many
started=$(now_s)
holds start daybreak start calls.d
less_than seconds-to-start $(($(now_s) - started)) 60 # it takes 5
holds runs-traced many
started=$(now_s)
holds stop daybreak stop -q calls -o calls.dbrk
less_than seconds-to-stop $(($(now_s) - started)) 60
# One more: dtrace:::ERROR, of every program.
equal probes "$(daybreak info calls.dbrk | grep '^  probes ')" '  probes   100001, with 100001 ECBs'
daybreak report calls.dbrk >calls.txt
equal functions-called "$(awk '$1 ~ /^function_/ && $2 == 1 { print $1 }' calls.txt | sort -u | wc -l)" 1000
equal last-function "$(grep -c 'function_99900 ' calls.txt)" 1
holds runs-afterwards many
holds unload rmmod daybreak
