# SPDX-License-Identifier: Apache-2.0
holds load insmod /share/in/daybreak.ko
equal device-mode "$(stat -c %a /dev/daybreak)" 400
device /share/in/plain.dof /share/in/counts.dof
naming /share/in/named.dof
holds unload rmmod daybreak
equal device-is-gone "$(ls /dev/daybreak 2>/dev/null)" ""
