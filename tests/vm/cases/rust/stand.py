# SPDX-License-Identifier: Apache-2.0
"""For gdb: where the compiler stands when it writes a line, as `at`, and a line for each frame: its file, the place in
it, and, with its function's offset, the function."""

import re

import gdb

from harness.gdb_places import place_of

AT_ENTRY = -38  # of a system call rax is -ENOSYS

for command in ("pagination off", "confirm off", "debuginfod enabled off", "backtrace past-main on", "startup-with-shell off"):
    gdb.execute(f"set {command}")
gdb.execute("catch syscall write")
gdb.execute("run -vV", to_string=True)
while gdb.selected_inferior().pid:
    frame = gdb.newest_frame()
    if int(frame.read_register("rax")) == AT_ENTRY and int(frame.read_register("rdi")) == 1:
        print("at")
        while frame:
            file, offset = place_of(frame.pc())
            function = re.match(r"(.*) \+ (\d+) in section", gdb.execute(f"info symbol {frame.pc()}", to_string=True))
            print(f"  {file} {offset:#x} {f'{int(function[2]):#x} {function[1]}' if function else ''}")
            frame = frame.older()
    gdb.execute("continue", to_string=True)
