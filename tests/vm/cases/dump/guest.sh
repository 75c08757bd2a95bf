# SPDX-License-Identifier: Apache-2.0
# Counts on both CPUs, then the machine panics and stays; the host saves its memory.
counter 0x12000000 &
sleep 1
echo c >/proc/sysrq-trigger
sleep 60
fail crash "the machine is still alive"
