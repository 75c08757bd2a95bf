# SPDX-License-Identifier: Apache-2.0
# Thousands of requests on both CPUs, every hundredth of them slow.
holds load insmod /share/in/tail.ko
server 3 2000 >/share/out/server.txt
holds record daybreak record --claim -o /share/out/tail.dbrk
holds unload rmmod daybreak
