# SPDX-License-Identifier: Apache-2.0
# Timers follow the CPUs, and waiting probes follow the modules.
holds load insmod /share/in/hotplug.ko
probes_before=$(daybreak list | wc -l)
for round in 1 2 3; do
	echo 0 >/sys/devices/system/cpu/cpu1/online
	sleep 0.3
	echo 1 >/sys/devices/system/cpu/cpu1/online
	sleep 0.3
done
equal cpu-is-back "$(cat /sys/devices/system/cpu/cpu1/online)" 1
holds later-module-loads insmod /share/in/jbd2.ko
at_least later-module-brings-probes "$(daybreak list | wc -l)" $((probes_before + 50))
holds later-module-unloads rmmod jbd2
equal later-module-takes-its-probes "$(daybreak list | grep -c jbd2)" 0
holds later-module-loads-again insmod /share/in/jbd2.ko
# Status 3: on a busy host timers come late, and firings missed are drops.
holds record sh -c 'daybreak record --claim -o /share/out/hotplug.dbrk || [ $? = 3 ]'
rmmod jbd2
holds unload rmmod daybreak

# A module that is there when we come, and goes while its probes are enabled.
holds module-before-us insmod /share/in/jbd2.ko
holds load-after-it insmod /share/in/hotplug.ko
# The tracepoints of one (9pnet) have the types of their arguments all the same: what they do not have is 0, not a register.
equal types-of-an-earlier-module "$(daybreak dtrace -Zqn 'sdt:::9p_client_req { @all = count(); @raw = sum(arg3 != 0 || arg4 != 0 || arg5 != 0); }
	END { printa("FIRED %@d RAW %@d\n", @all, @raw); }' -c 'ls /share/in' 2>&1 | awk '$1 == "FIRED" && $2 > 0 { print $3, $4 }')" "RAW 0"
holds module-goes-under-us rmmod jbd2
holds unload-after-it rmmod daybreak

# Probes of other modules.
holds load-for-others insmod /share/in/hotplug.ko

# Each call is its own table's, and no other's by its number: semget() is natively what getppid() is on i386, iopl() the other way.
equal calls-by-table "$(daybreak dtrace -qx aggsortkey -n 'syscall::getppid:, syscall::semget:, syscall::iopl: /pid == $target/ {
	@[probemod, probefunc, probename, probename == "entry" ? arg0 : 0] = count(); }
	END { printa("%s %s %s %d %@d\n", @); }' -c 'tables 3 5 7' 2>&1 | tr -s ' \n' ' ')" \
	"i386 getppid entry 86 5 i386 getppid return 0 5 vmlinux getppid entry 64 3 vmlinux getppid return 0 3 x32 getppid entry 32 7 x32 getppid return 0 7 "
equal calls-of-one-table "$(for table in vmlinux i386 x32; do
	daybreak dtrace -qn "syscall:$table:getppid:entry /pid == \$target/ { @ = count(); } END { printa(\"%@d \", @); }" -c 'tables 3 5 7' 2>&1
done | tr -d '\n')" "3 5 7 "
equal tables-listed "$(daybreak list | awk '$2 == "syscall" && ($4 == "read" || $4 == "syscalls") { printf "%s %s ", $3, $4 }')" \
	"vmlinux read vmlinux read i386 read i386 read x32 read x32 read "
# What a probe itself calls has none, nor has a part of it that the compiler made: orc_find.part.0.
equal own-path-listed "$(daybreak dtrace -ln 'fbt:vmlinux:*orc_find*:, fbt:vmlinux:ktime_get_mono_fast_ns:' 2>/dev/null | grep -c ' fbt ')" 0

holds load-sample insmod /share/in/sample.ko
equal kept-by-it "$(rmmod daybreak 2>&1 | grep -c 'in use\|temporarily unavailable')" 1
equal own-probes "$(daybreak dtrace -ln 'sample:::' | awk '$2 == "sample" { print $3, $4, $5 }' | tr '\n' ' ')" "sample work start sample work done "
cat >/tmp/own.d <<EOF
provider sample { probe done(unsigned int rounds, unsigned long all); };
sample::work:start { printf("%d ", arg0); }
sample::work:done { printf("%d %d ", args[0], args[1]); stack(1); }
EOF
for rounds in 3 4; do echo "echo $rounds >/sys/module/sample/parameters/work"; done >/tmp/rounds
equal own-probes-fire "$(daybreak dtrace -qs /tmp/own.d -c 'sh /tmp/rounds' 2>&1 | tr -s ' \n' ' ' | sed 's/+0x[0-9a-f]*//g')" \
	"3 3 3 sample\`work 4 4 7 sample\`work "
holds load-misuse insmod /share/in/misuse.ko
equal names-that-cannot-be "$(dmesg | sed -n 's/.*misuse: names //p')" "-22 -22 -22 -22 -22 -22"
equal providers-that-cannot-be "$(dmesg | sed -n 's/.*misuse: providers //p')" "-22 -22 -17 -17 -17"
equal names-of-the-engine "$(dmesg | sed -n 's/.*misuse: of the engine //p')" "-22 -22 -22"
equal arguments-that-cannot-be "$(dmesg | sed -n 's/.*misuse: arguments //p') $(dmesg | sed -n 's/.*misuse: twice //p')" "-22 -17"
equal a-module-has-1024-at-most "$(dmesg | sed -n 's/.*misuse: too many //p')" -28
# All after one wait: each by itself took 105 s.
ms=$(dmesg | sed -n 's/.*misuse: many //p')
at_least many-go-together $((20000 - ms)) 0
at_least in-some-time "$ms" 0
equal but-the-one-with-a-wrong-number "$(daybreak dtrace -ln 'misuse_many:::' 2>/dev/null | grep -c n1)" 1
echo 'echo 1 >/sys/module/misuse/parameters/fire' >/tmp/fires
equal fired-wrongly "$(daybreak dtrace -qn 'misuse:::kept { @[arg0, arg1] = count(); } END { printa("%d %d %@d ", @); }' \
	-c 'sh /tmp/fires' 2>/dev/null | tr -s ' \n' ' ')" "0 0 2 1 2 2 "
equal not-where-none-may-sleep "$(dmesg | sed -n 's/.*misuse: atomic //p')" "-11 -11"
holds misuse-goes rmmod misuse
equal its-probes-went "$(daybreak dtrace -ln 'misuse:::' 2>/dev/null | grep -c kept)" 0
equal others-stay "$(daybreak dtrace -ln 'sample:::' | grep -c work)" 2
holds sample-goes rmmod sample
holds unload-after-them rmmod daybreak

# Everything, again and again, under load.
while true; do workload 20; done >/dev/null 2>&1 &
load=$!
round=0
while [ $round -lt 5 ] && insmod /share/in/everything.ko && rmmod daybreak; do
	round=$((round + 1))
done
equal everything-5-times $round 5
kill $load
wait
