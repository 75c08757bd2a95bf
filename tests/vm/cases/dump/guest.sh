# SPDX-License-Identifier: Apache-2.0
# Counts on both CPUs, then the machine panics and stays; the host saves its memory.
counter 0x12000000 &
sleep 1
killall counter
wait
# What a load before left in memory is not taken for what is of this one, whose ring has the same number.
holds unload rmmod daybreak
holds load insmod /share/in/again.ko
counter 0x12000000 &
sleep 1
echo c >/proc/sysrq-trigger
sleep 60
fail crash "the machine is still alive"
