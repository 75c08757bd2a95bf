# SPDX-License-Identifier: Apache-2.0
# Which JavaScript functions wrote: while the program runs and when it is gone.
holds load insmod /share/in/daybreak.ko
cp -r /share/in/root/* /
ln -s "$(command -v daybreak)" /bin/dtrace
cd /tmp
# Node's own code has no frame pointers, that which it makes has.  Functions that are not inlined are compiled each.
command='node --perf-basic-prof --interpreted-frames-native-stack --no-turbo-inlining /share/in/shop.js'
cat >shop.d <<'END'
#pragma D option quiet
#pragma D option segmentsize=64k
#pragma D option ustackbytes=16k
#pragma D option bufsize=16m
syscall::write:entry /execname == "node" && arg2 <= 11 && strstr(copyinstr(arg1, 11), "shop") == copyinstr(arg1, 11)/ { printf("at\n"); jstack(40); }
END
holds live dtrace -s shop.d -o /share/out/live.txt -c "$command" 2>said
equal no-drops "$(cat said)" ""
holds starts daybreak start shop.d
holds runs $command
holds stops daybreak stop shop -o shop.dbrk
daybreak report shop.dbrk >/share/out/recorded.txt
# The same by a jitdump, which Node writes into the folder that it works in.
rm /tmp/perf-*.map
holds starts-again daybreak start shop.d
holds runs-with-a-dump node --perf-prof --interpreted-frames-native-stack --no-turbo-inlining /share/in/shop.js
equal dumps "$(ls | grep -c '^jit-[0-9]*[.]dump$') $(ls /tmp | grep -c '^perf-')" "1 0"
holds stops-again daybreak stop shop --replace -o shop.dbrk
daybreak report shop.dbrk >/share/out/jitdump.txt
for how in live recorded jitdump; do
	equal $how-all "$(grep -c '^ *at$' /share/out/$how.txt)" 300
	# Each is in its caller, whether it is interpreted or compiled.
	equal $how-functions "$(grep -o 'leafOfShop\|middleOfShop' /share/out/$how.txt | paste -d ' ' - - | sort | uniq -c | tr -s ' ')" " 300 leafOfShop middleOfShop"
done
holds unload rmmod daybreak
