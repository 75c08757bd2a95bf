# SPDX-License-Identifier: Apache-2.0
# Which methods wrote, of a program that is gone: it leaves its map when it ends.
holds load insmod /share/in/daybreak.ko
cp -r /share/in/root/* /
export LD_LIBRARY_PATH=/lib
cd /tmp
cat >shop.d <<'END'
#pragma D option quiet
#pragma D option segmentsize=64k
#pragma D option ustackbytes=16k
#pragma D option bufsize=32m
syscall::write:entry /execname == "java" && arg2 == 5 && strstr(copyinstr(arg1, 5), "shop") != NULL/ { printf("at\n"); jstack(40); }
END
holds starts daybreak start shop.d
# What is compiled keeps frame pointers, and a method is compiled when it was called two hundred times; the others are the interpreter's.
holds runs java -Xshare:auto -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
	-Xbatch -XX:TieredStopAtLevel=1 -XX:-Inline -XX:CompileCommand=quiet '-XX:CompileCommand=compileonly,Shop::*' -cp /share/in Shop 800
holds stops daybreak stop shop -o /share/out/shop.dbrk
daybreak report /share/out/shop.dbrk >/share/out/recorded.txt
equal all "$(grep -c '^ *at$' /share/out/recorded.txt)" 800
# Each method is in its caller once both are compiled; of those before, the stacks have the interpreter.
cat >methods.awk <<'END'
$1 == "at" { stacks++; last = "" }
/perf-[0-9]*[.]map`/ {
	method = /Shop[.]leafOfShop\(/ ? "leaf" : /Shop[.]middleOfShop\(/ ? "middle" : "other"
	if (method == "middle" && last == "leaf") both[stacks] = 1
	if (method == "leaf") leaf[stacks] = 1
	if (/Interpreter/) interpreted[stacks] = 1
	last = method
}
END {
	for (n = 1; n <= stacks; n++) {
		counts["both"] += n in both
		counts["leaf"] += n in leaf
		counts["interpreted"] += n in interpreted
		if (n in both && !first) first = n
	}
	print counts["both"], counts["leaf"], counts["interpreted"], first, stacks - first + 1
}
END
read -r both leaf interpreted first rest <<END
$(awk -f methods.awk /share/out/recorded.txt)
END
at_least compiled "$both" 500
equal each-in-its-caller "$both" "$rest"
at_least interpreted-before "$first" 100
at_least interpreted "$interpreted" 700
holds unload rmmod daybreak
