# SPDX-License-Identifier: Apache-2.0
# The first boot panics, the second is reset without a word, the third ends the test.
boot=$(($(cat /share/out/boot 2>/dev/null || echo 0) + 1))
echo "$boot" >/share/out/boot
bank=$(sed -n 's/.*daybreak\.bank=\([^ ]*\).*/\1/p' /proc/cmdline)
sync

# taken HALF GENERATION: what the module said about the half that it took
taken() {
	at_least "boot-$boot-takes-half-$1" \
		"$(kernel_log "daybreak: bank of 4096 KiB at 0x[0-9a-f]*: recording into half $1, generation $2$")" 1
}

# recovers NAME ENDING: the boot before becomes out/NAME.dbrk and ended as said; 3: firmware took a page
recovers() {
	daybreak recover -o "/tmp/$1.dbrk" >"/share/out/$1.txt" 2>&1
	status=$?
	cp "/tmp/$1.dbrk" /share/out/
	if [ $status = 0 ] || [ $status = 3 ]; then pass "$1-recovered" "$status"; else fail "$1-recovered" "$status"; fi
	at_least "$1-ending" "$(grep -c -e "$2" "/share/out/$1.txt")" 1
}

refuse() {
	insmod /share/in/bank.ko "bank=$2"
	refuses "refused-$1" "$3" daybreak recover -o /tmp/none.dbrk
	rmmod daybreak
}

case $boot in
1)
	taken 0 1
	refuses nothing-there "nothing is there" daybreak recover -o /tmp/none.dbrk
	holds nothing-there-is-fine daybreak recover --if-any -o /tmp/none.dbrk
	daybreak recover --list
	equal ring-is-inside "$(daybreak recover --list | grep -c 'half 0: this boot.* and 0 KiB in ordinary memory')" 1
	counter 0x12000000 2000
	echo "GUEST panics"
	echo c >/proc/sysrq-trigger
	;;
2)
	taken 1 2
	counter 0x12000000 3000 &
	recovers panic "half 0: "
	recovers panic-again "half 0: "
	daybreak postmortem >/share/out/postmortem.txt 2>&1
	at_least postmortem-says-how-it-died "$(grep -c 'the kernel panicked: sysrq triggered crash' /share/out/postmortem.txt)" 1
	at_least postmortem-has-what-was-last "$(grep -A 4 '^what each CPU recorded last' /share/out/postmortem.txt | grep -c '^ *[0-9]*  [01]  [a-z]')" 1
	at_least postmortem-has-the-console "$(grep -A 15 '^log ' /share/out/postmortem.txt | grep -c '</TASK>\|Kernel Offset')" 1
	wait
	daybreak record --keep -o /tmp/now.dbrk 2>/dev/null
	cp /tmp/now.dbrk /share/out/
	echo "GUEST is reset"
	echo b >/proc/sysrq-trigger
	;;
3)
	taken 0 3
	recovers reset "died without a word"
	counter 0x12000000 4000
	holds unload rmmod daybreak
	address=$(dmesg | sed -n 's/.*daybreak: bank of .* at 0x\([0-9a-f]*\): .*/\1/p' | head -n 1)
	skip=$((0x$address >> 20))
	holds load insmod /share/in/large.ko "bank=$bank"
	taken 1 4
	at_least buffers-are-halved "$(kernel_log 'large: buffer size lowered to')" 1
	equal large-is-inside "$(daybreak recover --list | grep -c ' and 0 KiB in ordinary memory')" 1
	recovers unloaded "the module was unloaded"
	equal unloaded-names-the-boot "$(sed -n 's/.*half 0: boot \([^,]*\),.*/\1/p' /share/out/unloaded.txt)" \
		"$(cut -c 1-18 /proc/sys/kernel/random/boot_id)"
	holds unload-again rmmod daybreak
	case $bank in
	*@*)
		dd if=/dev/mem of=/share/out/bank.raw bs=1M skip=$skip count=4 2>/dev/null
		holds salvage-load insmod /share/in/bank.ko "bank=$bank" salvage=1
		equal salvage-shows-both "$(daybreak recover --list | grep -c 'half [01]: boot')" 2
		equal salvage-records-nothing "$(daybreak recover --list | grep -c "this boot's")" 0
		holds salvage-recovers daybreak recover --half 0 -o /tmp/salvage.dbrk
		holds salvage-unload rmmod daybreak
		dd if=/dev/mem of=/tmp/after.raw bs=1M skip=$skip count=4 2>/dev/null
		holds salvage-writes-nothing cmp /share/out/bank.raw /tmp/after.raw
		dd if=/dev/urandom of=/dev/mem bs=1M seek=$skip count=4 conv=notrunc 2>/dev/null
		holds garbage-load insmod /share/in/bank.ko "bank=$bank"
		taken 0 1
		refuses garbage-holds-nothing "nothing is there" daybreak recover -o /tmp/none.dbrk
		holds garbage-unload rmmod daybreak
		refuse kernels-memory 4M@0x8000000 "memory that the kernel uses"
		refuse no-memory 4M@0xfd000000 "is not all memory"
		refuse uneven 3M@0x10000100 "begin and end with a page"
		refuse nonsense 16Mb "is neither SIZE@ADDRESS"
		;;
	esac
	insmod /share/in/bank.ko bank=nothing
	equal refused-records-elsewhere "$(daybreak record --keep -q -o /tmp/elsewhere.dbrk && echo yes)" yes
	rmmod daybreak
	refuse no-such-name no-such "no-such"
	;;
esac
