#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the mistakes of mistakes.table and reads each message for what a person needs to go on.

A mistake of the table, between blank lines; lines that begin with '#' are comments:

    $ commands, one line: sh runs them in a folder with p.d (a program), p.dof (compiled), t.dbrk (recorded), empty (a folder)
    status N        the exit status that the manual gives for it
    what: TEXT      what is wrong
    where: TEXT     the file, the option, the place in the program
    got: TEXT       what was found, or what it should have been
    do: TEXT        what to do about it

Each TEXT has to be in the message. A part may be named after another ("where, got: TEXT") when the same words say both.
No message may be longer than LINES lines, for one mistake is one error.
"""
import argparse
import os
import sys
import tempfile

import run

PARTS = ("what", "where", "got", "do")
LINES = 8  # a mismatch of types has three lines of its own, and a place four
MISTAKES_MIN = 60

PREPARE = """unset _DTRACE_TESTING
printf 'BEGIN { trace(1); exit(0); }\\n' > p.d
daybreak compile -s p.d -o p.dof && daybreak sim -q -s p.d -o t.dbrk > /dev/null && mkdir empty
"""


def read_mistakes(path):
    """Yields (commands, status, {part: text})."""
    commands, status, parts = None, None, {}
    for line in open(path, encoding="utf-8").read().splitlines() + [""]:
        if line.startswith("$ "):
            commands = line[2:]
        elif line.startswith("status "):
            status = int(line[7:])
        elif line and not line.startswith("#"):
            names, text = line.split(": ", 1)
            parts.update((name.strip(), text) for name in names.split(","))
        elif commands and not line:
            yield commands, status, parts
            commands, status, parts = None, None, {}


def complaints(got, status, parts):
    """What is wrong with an answer, line by line."""
    message = got[got.index("-- stderr --") + 1:] if "-- stderr --" in got else []
    got_status = 0
    if message and message[-1].startswith("status "):
        got_status = int(message.pop()[7:])
    found = ["%s: not there: %s" % (name, parts.get(name, "(the table lacks it)")) for name in PARTS
             if name not in parts or parts[name] not in "\n".join(message)]
    if got_status != status:
        found.append("exit status %d, not %d" % (got_status, status))
    if len(message) > LINES and not any(line.startswith("Usage:") for line in message):
        found.append("%d lines for one mistake" % len(message))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--daybreak", required=True, help="the program")
    parser.add_argument("table")
    arguments = parser.parse_args()
    if os.path.exists("/dev/daybreak"):
        print("SKIP: these mistakes are of a machine without the module, and /dev/daybreak is there")
        return 0
    failed = count = 0
    with tempfile.TemporaryDirectory() as binaries:
        for name in ("dtrace", "daybreak"):
            os.symlink(os.path.abspath(arguments.daybreak), os.path.join(binaries, name))
        for commands, status, parts in read_mistakes(arguments.table):
            with tempfile.TemporaryDirectory() as folder:
                run.run_case(PREPARE, folder, binaries)
                got = run.run_case("unset _DTRACE_TESTING\n" + commands, folder, binaries)
            count += 1
            wrong = complaints(got, status, parts)
            if wrong:
                failed += 1
                print("FAIL $ " + commands)
                for line in wrong + ["+" + line for line in got]:
                    print("  " + line)
    print("%d mistakes, %d with a poor answer" % (count, failed))
    return 1 if failed or count < MISTAKES_MIN else 0


if __name__ == "__main__":
    sys.exit(main())
