# SPDX-License-Identifier: Apache-2.0
pass boots-on
equal not-loaded "$(grep -c '^daybreak ' /proc/modules)" 0
equal no-device "$(ls /dev/daybreak 2>/dev/null)" ""
refuses record-without-module "daybreak: " daybreak record --claim -o /tmp/none.dbrk
equal nothing-half-written "$(ls /tmp/none.dbrk* 2>/dev/null)" ""
