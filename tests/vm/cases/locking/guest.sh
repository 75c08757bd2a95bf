# SPDX-License-Identifier: Apache-2.0
cp /share/in/*.ko /share/in/*.dof /tmp
cd /tmp
case $(uname -r) in
*-debug) functions=some_functions.dof ;;
*) functions=functions.dof ;;
esac
holds load insmod daybreak.ko
while true; do workload 20; done >/dev/null 2>&1 &
load=$!

# Others look, and modules come and go, between the steps of an enabling, not only after it.
control looking $functions >looking &
looking=$!
rounds=0
while [ ! -s looking ] && kill -0 $looking 2>/dev/null; do
	for step in "insmod jbd2.ko" "rmmod jbd2"; do
		$step || fail module-while-patching "$step, round $rounds"
		[ -s looking ] || rounds=$((rounds + 1))
	done
done
wait $looking
cat looking
at_least modules-do-not-wait $rounds 1
control killing $functions

# Clauses that may take long are for few functions, also when those are enabled already.
too_many="more than 5000 probes of fbt for clauses that walk stacks or read memory that may not be there: name fewer"
for clause in '@[stackdepth] = count()' '@[*(int *)arg0] = count()' 'ustack()' 'printf("%s", copyinstr(arg0))'; do
	refuses "heavy-clause-is-refused" "$too_many" daybreak dtrace -qn "fbt:::entry { $clause; }"
done
daybreak dtrace -x switchrate=20hz -qn 'BEGIN { printf("go\n"); } fbt:vmlinux:[a-d]*:entry { @ = count(); }' >light 2>&1 &
tracer=$!
while [ ! -s light ] && kill -0 $tracer; do sleep 0.1; done
refuses heavy-on-enabled-is-refused "$too_many" daybreak dtrace -qn 'fbt:vmlinux:[a-d]*:entry { @[ucaller] = count(); }'
holds light-on-enabled daybreak dtrace -qn 'fbt:vmlinux:[a-d]*:entry { @[((struct task_struct *)curthread)->pid] = count(); } BEGIN { exit(0); }'
holds heavy-on-few daybreak dtrace -qn 'fbt:vmlinux:vfs_*:entry { @[stack()] = count(); } BEGIN { exit(0); }'
kill $tracer
wait $tracer
# Two rings, each with as many as one may have nearly: 2501 to 5000 functions begin with a letter.
many=""
for letter in s p i t c n _; do
	found=$(daybreak dtrace -ln "fbt:vmlinux:$letter*:entry" | grep -c fbt)
	[ $found -gt 2500 ] && [ $found -lt 5000 ] && many="$many $letter"
done
set -- $many
at_least letters-of-many-functions $# 2
daybreak dtrace -x switchrate=20hz -qn "BEGIN { printf(\"go\n\"); } fbt:vmlinux:$1*:entry /pid == -1/ { @[stackdepth] = count(); }" >heavy 2>&1 &
tracer=$!
while [ ! -s heavy ] && kill -0 $tracer; do sleep 0.1; done
refuses heavy-beside-heavy-is-refused "$too_many" daybreak dtrace -qn "fbt:vmlinux:$2*:entry /pid == -1/ { @[stackdepth] = count(); }"
kill $tracer
wait $tracer
holds heavy-alone daybreak dtrace -qn "fbt:vmlinux:$2*:entry /pid == -1/ { @[stackdepth] = count(); } BEGIN { exit(0); }"

# CPUs that come and go do not hold up tracepoints for ever.
while true; do
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
done 2>/dev/null &
hotplug=$!
at_least tracepoints-beside-hotplug "$(control arm 1 tracepoints.dof)" $(daybreak list | awk '$2 == "sdt" && $NF ~ /^[a-h]/' | wc -l)
kill $hotplug $load
wait
echo 1 >/sys/devices/system/cpu/cpu1/online 2>/dev/null
holds unload rmmod daybreak
