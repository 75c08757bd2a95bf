#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs shell commands with `dtrace` in PATH and compares what they print with what they should.

A bundle holds cases:

    == name
    $ commands, one or more lines: sh runs them in an empty folder
    --
    what they print on standard output, then, after a line "-- stderr --", on standard error;
    the last line is "status N" unless N is 0

Lines of the expectation that begin with "re:" are regular expressions for the whole line.
$SOURCE is the top of the source tree. `on-terminal COMMAND` gives a command a terminal for its standard output.
A case whose first line of output is "skipped: WHY" is counted as such.
_DTRACE_TESTING is set unless the commands unset it; a case that needs a module skips where
/dev/daybreak is absent, and the others where it is there: they are of the simulated machine.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 1800


def read_cases(path):
    """Yields (name, commands, expected lines)."""
    name, commands, expected, part = None, [], [], None
    for line in open(path, encoding="utf-8").read().splitlines() + ["== "]:
        if line.startswith("== "):
            if name:
                while expected and not expected[-1]:
                    expected.pop()
                yield name, "\n".join(commands), expected
            name, commands, expected, part = line[3:].strip(), [], [], "commands"
        elif line == "--" and part == "commands":
            part = "expected"
        elif part == "commands":
            commands.append(line[2:] if line.startswith("$ ") else line)
        elif part == "expected":
            expected.append(line)


def run_case(commands, folder, binaries):
    """Returns the lines that the commands print, as an expectation has them."""
    environment = dict(os.environ, _DTRACE_TESTING="t", LC_ALL="C", TZ="UTC",
                       SOURCE=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       PATH=binaries + ":" + os.environ["PATH"])
    ran = subprocess.run(["sh", "-c", commands], cwd=folder, env=environment, text=True,
                         errors="backslashreplace", stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
    lines = ran.stdout.splitlines()
    while lines and not lines[-1]:
        lines.pop()
    if ran.stderr:
        lines += ["-- stderr --"] + ran.stderr.splitlines()
    if ran.returncode:
        lines.append("status %d" % ran.returncode)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def agrees(line, expected):
    if expected.startswith("re:"):
        return re.fullmatch(expected[3:], line) is not None
    return line == expected


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--daybreak", required=True, help="the program")
    parser.add_argument("bundles", nargs="+")
    arguments = parser.parse_args()
    if os.path.exists("/dev/daybreak"):
        print("SKIP: these cases are of the simulated machine, and /dev/daybreak is there")
        return 0
    failed = passed = skipped = 0
    with tempfile.TemporaryDirectory() as binaries:
        for name in ("dtrace", "daybreak"):
            os.symlink(os.path.abspath(arguments.daybreak), os.path.join(binaries, name))
        os.symlink(os.path.join(os.path.dirname(os.path.abspath(__file__)), "on_terminal.py"),
                   os.path.join(binaries, "on-terminal"))
        for bundle in arguments.bundles:
            for name, commands, expected in read_cases(bundle):
                with tempfile.TemporaryDirectory() as folder:
                    got = run_case(commands, folder, binaries)
                if got and got[0].startswith("skipped: "):
                    skipped += 1
                    print("%s: %s" % (name, got[0]))
                    continue
                if len(got) == len(expected) and all(map(agrees, got, expected)):
                    passed += 1
                    continue
                failed += 1
                print("FAIL %s" % name)
                for line in expected:
                    print("  -" + line)
                for line in got:
                    print("  +" + line)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
