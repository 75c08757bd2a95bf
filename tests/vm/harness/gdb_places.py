# SPDX-License-Identifier: Apache-2.0
"""For scripts of gdb: where an address lies in a file, and what is on the stack."""

import re
from collections.abc import Iterator

import gdb


def place_of(address: int) -> tuple[str, int]:
    """The name of the mapped file that has the address, and the offset in it."""
    for line in open(f"/proc/{gdb.selected_inferior().pid}/maps"):
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \S+ +(/.*)", line)
        if found and int(found[1], 16) <= address < int(found[2], 16):
            return found[4].split("/")[-1], address - int(found[1], 16) + int(found[3], 16)
    return "?", address


def frames() -> Iterator[tuple[gdb.Frame, str, int]]:
    """Each frame, the innermost first, with its place: neither functions put into others nor calls that ended as jumps, which
    gdb makes up."""
    frame = gdb.newest_frame()
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            yield frame, *place_of(frame.pc())
        frame = frame.older()
