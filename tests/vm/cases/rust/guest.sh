# SPDX-License-Identifier: Apache-2.0
# What the compiler's functions are called, while it runs and when it is gone.
holds load insmod /share/in/daybreak.ko
cp -r /share/in/root/* /
ln -s "$(command -v daybreak)" /bin/dtrace

# One function by a part of its mangled name, in a file that the program maps later.
driver=$(cd /lib && echo librustc_driver-*.so)
equal calls "$(dtrace -qn 'pid$target:'"$driver"':*12rustc_driver7version:entry { printf("%s %s", probemod, probefunc); }' -c 'rustc -vV' -o called >/dev/null 2>&1; cat called)" \
	"$driver $(cat /share/in/version)"
cat >/tmp/lines.d <<'END'
#pragma D option quiet
#pragma D option segmentsize=64k
#pragma D option ustackbytes=20k
syscall::write:entry /execname == "rustc" && arg0 == 1/ { printf("at\n"); ustack(30); }
END
holds live dtrace -s /tmp/lines.d -o /share/out/live.txt -c 'rustc -vV'
holds start daybreak start /tmp/lines.d
holds runs rustc -vV
holds stop daybreak stop lines -o /share/out/lines.dbrk
