# SPDX-License-Identifier: Apache-2.0
# Loads the crash kernel, counts, and panics; crash.sh goes on in the crash kernel.
holds crash-kernel-loaded /share/in/programs/kexec -p /share/in/vmlinuz --initrd=/share/in/crash.initrd \
	--append="console=ttyS0,115200 loglevel=4 nr_cpus=1 reset_devices irqpoll panic=-1"
counter 0x12000000 &
sleep 1
[ "$(cat /sys/kernel/kexec_crash_loaded)" = 1 ] && echo c >/proc/sysrq-trigger
sleep 60
fail crash "the machine is still alive"
