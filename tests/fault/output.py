#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Output that cannot be written: status 1, one line that says what and where, nothing half-written left.

Run with --daybreak PROGRAM. Covers `daybreak sim -o` on full disks, folders, places that are not there or not
writable, and standard output on a full disk.
"""

import argparse
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

PROGRAM = "tick-1ms { trace(timestamp); @[probename] = count(); } tick-200ms { exit(0); }\n"


def limit_file_size(limit_bytes):
    """Before exec: files may not grow beyond that, as on a full disk."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    return limit


class Checker:
    def __init__(self, daybreak, folder):
        self.daybreak, self.folder = daybreak, folder
        self.failed = self.passed = 0
        pathlib.Path(folder, "x.d").write_text(PROGRAM)
        pathlib.Path(folder, "folder").mkdir()

    def left(self):
        return sorted(p.name for p in pathlib.Path(self.folder).iterdir())

    def run(self, *arguments, stdout=subprocess.PIPE, before=None):
        return subprocess.run([self.daybreak, "sim", "-q", "-s", "x.d", *arguments], cwd=self.folder, stdout=stdout,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=1800, preexec_fn=before)

    def expect_failure(self, what, *arguments, text, **how):
        before = self.left()
        done = self.run(*arguments, **how)
        message = done.stderr.decode()
        complaints = []
        if done.returncode != 1:
            complaints.append(f"status is {done.returncode}, not 1")
        if self.left() != before:
            complaints.append(f"left over: {set(self.left()) - set(before)}")
        if message.count("\n") != 1 or not message.startswith("daybreak: "):
            complaints.append("not one line of daybreak's")
        if text not in message:
            complaints.append(f"does not say {text!r}")
        self.verdict(what, complaints, message)

    def verdict(self, what, complaints, message):
        if complaints:
            self.failed += 1
            print(f"FAIL {what}: {'; '.join(complaints)}\n{message}")
        else:
            self.passed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--daybreak", required=True)
    daybreak = os.path.abspath(parser.parse_args().daybreak)
    with tempfile.TemporaryDirectory() as folder:
        c = Checker(daybreak, folder)
        c.expect_failure("trace on a full device", "-o", "/dev/full", text="/dev/full")
        c.expect_failure("trace into a folder", "-o", "folder", text="folder")
        c.expect_failure("trace in a folder that is not there", "-o", "nosuch/x.dbrk", text="nosuch")
        for limit_bytes in (0, 100, 4096):
            c.expect_failure(f"disk full after {limit_bytes} bytes", "-o", "x.dbrk", text="x.dbrk",
                             before=limit_file_size(limit_bytes))
        with open("/dev/full", "w") as full:
            c.expect_failure("standard output on a full device", text="cannot write the output", stdout=full)
        done = c.run("-o", "x.dbrk")
        written = pathlib.Path(folder, "x.dbrk")
        c.verdict("the same with room", [] if done.returncode == 0 and written.exists() else ["failed"],
                  done.stderr.decode())
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
