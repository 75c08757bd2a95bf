# SPDX-License-Identifier: Apache-2.0
# In the crash kernel: the hook first, then the dump, as kdump-tools would.
dd if=/dev/mem of=/share/out/witness bs=4096 skip=$((0x12000)) count=2 2>/dev/null
started=$(cut -d. -f1 /proc/uptime)
# Its own minute is not enough for a gigabyte on a debug kernel beside other guests.
DAYBREAK_TIMEOUT_S=1500 holds hook daybreak-extract /share/out
pass hook-seconds "$(($(cut -d. -f1 /proc/uptime) - started))"
DAYBREAK=/nowhere/daybreak holds hook-without-daybreak daybreak-extract /share/out
DAYBREAK_VMCORE=/proc/version holds hook-with-a-bad-vmcore daybreak-extract /tmp
DAYBREAK_TIMEOUT_S=0.01 holds hook-in-no-time daybreak-extract /tmp
# Debian's kdump packs by zlib (-c), others by LZO (-l).
case $(uname -r) in
6.1.*) packing=-c ;;
*) packing=-l ;;
esac
holds "makedumpfile$packing" /share/in/programs/makedumpfile -d 31 $packing /proc/vmcore /share/out/dump
