# SPDX-License-Identifier: Apache-2.0
# A nanosecond is an instruction here, of all CPUs together.
holds load insmod /share/in/daybreak.ko
export ICOUNT=1
control snapshots /share/in/counts.dof
control looking /share/in/functions.dof
holds unload rmmod daybreak
