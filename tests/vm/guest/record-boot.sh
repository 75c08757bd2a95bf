# SPDX-License-Identifier: Apache-2.0
# The guest script of quickstart: the system is up, so the boot's recording is taken and handed over.
daybreak record --claim -o /share/out/boot.dbrk
status=$?
case $status in
0 | 3) pass recorded ;; # 3: recorded, with losses that `daybreak info` tells
*) fail recorded "daybreak record ended with $status" ;;
esac
