# SPDX-License-Identifier: Apache-2.0
"""Boots Debian's kernels in QEMU with an enabling and a guest script, and judges what happened.

    paths    where the tree's parts lie          kernels  a kernel's files and its modules
    cpio     initramfs archives                  guest    what a guest is made of
    qemu     the running machine                 console  what its log says
    case     one boot that serves many checks
"""


class HarnessError(Exception):
    """Something outside the test is missing or broken; the message is one line for a person."""
