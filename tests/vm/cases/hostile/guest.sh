# SPDX-License-Identifier: Apache-2.0
holds load insmod /share/in/daybreak.ko
control kills /share/in/clauses.dof
while true; do workload 5; done >/dev/null 2>&1 &
load=$!
for seed in 11 23 47; do
	tally=$(hostile $seed 150 /share/in/plain.dof /share/in/rich.dof)
	echo "$tally"
	at_least "refused-seed-$seed" "$(echo "$tally" | sed 's/hostile: \([0-9]*\) refused.*/\1/')" 50
	equal "unexplained-seed-$seed" "$(echo "$tally" | sed 's/.* \([0-9]*\) unexplained.*/\1/')" 0
done
kill $load
wait
equal nothing-left "$(sed -n 's/^daybreak [0-9]* \([0-9]*\) .*/\1/p' /proc/modules)" 0
holds unload rmmod daybreak
