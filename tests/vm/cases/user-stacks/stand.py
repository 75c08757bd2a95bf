# SPDX-License-Identifier: Apache-2.0
"""For gdb: where a program stands at each of its points, as `at WHERE NUMBER`, and a line for each frame: its function,
its file, and the place in it."""

import gdb

from harness.gdb_places import frames

AT_ENTRY = -38  # of a system call rax is -ENOSYS


def say_frames():
    for frame, file, offset in frames():
        line = frame.find_sal()
        where = f"{line.symtab.filename.split('/')[-1]}:{line.line}" if line.symtab else "-"
        print(f"  {file} {offset:#x} {frame.name() or '-'} {where}")


for command in ("pagination off", "confirm off", "debuginfod enabled off", "backtrace past-main on"):
    gdb.execute(f"set {command}")
gdb.execute("handle SIGILL nostop noprint pass")
gdb.execute("break *point")
gdb.execute("catch syscall getpgid")
gdb.execute("run", to_string=True)
while gdb.selected_inferior().pid:
    frame = gdb.newest_frame()
    is_entry = frame.pc() == int(gdb.parse_and_eval("(long)&point"))
    if is_entry or int(frame.read_register("rax")) == AT_ENTRY:
        print(f"at {'entry' if is_entry else 'call'} {int(frame.read_register('rdi'))}")
        say_frames()
    gdb.execute("continue", to_string=True)
