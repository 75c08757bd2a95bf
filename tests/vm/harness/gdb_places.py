# SPDX-License-Identifier: Apache-2.0
"""For scripts of gdb: where an address lies in a file."""

import re

import gdb


def place_of(address: int) -> tuple[str, int]:
    """The name of the mapped file that has the address, and the offset in it."""
    for line in open(f"/proc/{gdb.selected_inferior().pid}/maps"):
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \S+ +(/.*)", line)
        if found and int(found[1], 16) <= address < int(found[2], 16):
            return found[4].split("/")[-1], address - int(found[1], 16) + int(found[3], 16)
    return "?", address
