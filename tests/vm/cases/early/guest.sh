# SPDX-License-Identifier: Apache-2.0
# A busy end of the boot on both CPUs, then both recordings are taken.
if [ -e /share/in/ring.dof ]; then
	workload 300 &
	workload 300
	wait
	/bin/busybox true
fi
equal device-mode "$(stat -c %a /dev/daybreak)" 400
number=0
# Status 3: on a busy host timers come late, and firings missed are drops.
while daybreak record --claim -o "/tmp/$number.dbrk" 2>/tmp/claim || [ $? = 3 ]; do
	cp "/tmp/$number.dbrk" /share/out/
	number=$((number + 1))
done
refuses nothing-left-to-claim "daybreak: " daybreak record --claim -o /tmp/none.dbrk
equal recordings "$number" "$(ls /share/in/*.dof | wc -l)"
holds unload rmmod daybreak
