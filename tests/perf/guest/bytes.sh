# SPDX-License-Identifier: Apache-2.0
# Runs in the guest of tests/perf/bytes: the load, and what was recorded of it.
insmod /perf/load.ko
load $(sed -n 's/.*\<perf\.load=\([0-9]*\),\([0-9]*\).*/\1 \2/p' /proc/cmdline) && echo "LOAD done"
daybreak record --claim -q -o /share/out/load.dbrk
