# SPDX-License-Identifier: Apache-2.0
# quickstart's first act in the guest: the system is up, so the boot's recording is taken.
daybreak record --claim -o /run/boot.dbrk
status=$?
case $status in
0 | 3) pass recorded ;; # 3: recorded, with losses that `daybreak info` names
*) fail recorded "daybreak record ended with $status" ;;
esac
