# SPDX-License-Identifier: Apache-2.0
"""For gdb: the first two calls of the C library's malloc(), each with its size and its stack, as far as it is in files."""

import subprocess

import gdb

from harness.gdb_places import frames


def address_of(symbol, library):
    """Where a mapped library has a symbol."""
    for line in open(f"/proc/{gdb.selected_inferior().pid}/maps"):
        words = line.split()
        if words[-1].endswith(f"/{library}"):
            symbols = subprocess.run(["nm", "-D", words[-1]], check=True, stdout=subprocess.PIPE, text=True).stdout
            value = next(one.split()[0] for one in symbols.splitlines() if one.split()[-1].split("@")[0] == symbol)
            return int(words[0].split("-")[0], 16) + int(value, 16)
    raise gdb.GdbError(f"{library} is not mapped")


for command in ("pagination off", "confirm off", "debuginfod enabled off", "startup-with-shell off", "auto-solib-add off"):
    gdb.execute(f"set {command}")
gdb.execute("catch load libc\\.so")
gdb.execute("run", to_string=True)
gdb.execute("sharedlibrary", to_string=True)
gdb.execute(f"break *{address_of('malloc', 'libc.so.6'):#x}")
for _ in range(2):
    gdb.execute("continue", to_string=True)
    print(f"malloc {int(gdb.parse_and_eval('(unsigned long)$rdi'))}")
    for _, file, offset in frames():
        if file == "?":
            break
        print(f"  {file} {offset:#x}")
