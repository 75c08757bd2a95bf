# SPDX-License-Identifier: Apache-2.0
# quickstart's second act: the recording goes to the host.
cp /run/boot.dbrk /share/out/
