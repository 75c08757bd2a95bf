#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of a page print what the page shows below them.

    tests/cli/walk.py --daybreak build/test/cmd/daybreak --recording examples/late.dbrk docs/replay.md

A command is an indented line that begins with "$ ", and goes on until its quotes are closed; what it prints follows. Those that name
the recording are run beside it, and standard output and standard error together must be as shown, to the byte.
"""

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

INDENT = "    "
TIMEOUT_S = 600


def blocks_of(text):
    """Yields the indented blocks of a page, without their indent; blank lines within a block belong to it."""
    block = []
    for line in [*text.split("\n"), "end"]:
        if line.startswith(INDENT) or (not line and block):
            block.append(line[len(INDENT):])
        elif block:
            yield "\n".join(block).rstrip("\n").split("\n")
            block = []


def commands_of(block):
    """Yields (command, the lines shown below it)."""
    command, shown = None, []
    for line in block:
        if command is not None and command.count("'") % 2:
            command += "\n" + line
        elif line.startswith("$ "):
            if command is not None:
                yield command, shown
            command, shown = line[2:], []
        elif command is not None:
            shown.append(line)
    if command is not None:
        yield command, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--daybreak", required=True, type=Path)
    parser.add_argument("--recording", required=True, type=Path)
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    environment = os.environ | {"PATH": f"{options.daybreak.resolve().parent}:{os.environ['PATH']}"}
    ran = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, options.recording.name).symlink_to(options.recording.resolve())
        for block in blocks_of(options.page.read_text()):
            for command, shown in commands_of(block):
                if options.recording.name not in command:
                    continue
                done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, timeout=TIMEOUT_S)
                printed = [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")]
                ran += 1
                if printed != "\n".join(shown).rstrip("\n").split("\n"):
                    wrong += 1
                    print(f"$ {command}\n" + "\n".join(difflib.unified_diff(shown, printed, "shown", "printed", lineterm="")))
    print(f"{ran} commands of {options.page}, {wrong} print something else")
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
