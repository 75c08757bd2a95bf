#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small hostile trace files: info, report and list take bounded memory and time, and report says what is wrong.

What a file of make_bombs holds: a million EPIDs, probes, segments, CPUs; all rings that there can be; blocks that unpack to gigabytes;
findings, symbols, indexes without end; messages that are small and say that they have much; segments in an order for which every
block is wanted again and again.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

# Measured with the release: at most 523 MiB and 3.4 s. tests/nightly bombs allows more with sanitizers.
MIB_MAX, SECONDS_MAX = 640, 120
STATUSES = (0, 1, 3)
# What report says of some, so that they are known to be refused for what they are.
SAYS = {"empty-structs": "3000 blocks lost", "far-pointers": "16 damaged pieces"}


def measure(command):
    """Returns (status, standard error, MiB at most, seconds of processors)."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX)))
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, said, usage.ru_maxrss >> 10, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--daybreak", required=True)
    parser.add_argument("--make", required=True, metavar="MAKE_BOMBS")
    parser.add_argument("--mib", type=int, default=MIB_MAX, help=f"more is a failure ({MIB_MAX})")
    options = parser.parse_args()
    wrong = 0
    print(f"{'file':20} {'KB':>6}   {'command':7} {'MiB':>5} {'CPU s':>6}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.make, folder], check=True, stdout=subprocess.DEVNULL)
        for path in sorted(pathlib.Path(folder).iterdir()):
            for command in ("info", "report", "list"):
                status, said, mib, seconds = measure([options.daybreak, command, path])
                problem = ("" if status in STATUSES else f"status {status}: {said[-2000:]}") or (
                    f"more than {options.mib} MiB" if mib > options.mib else "")
                if command == "report" and SAYS.get(path.stem, "daybreak: ") not in said:
                    problem = problem or f"report does not say what is wrong: {said[-2000:]}"
                print(f"{path.stem:20} {path.stat().st_size // 1000:6}   {command:7} {mib:5} {seconds:6.1f}   {problem}", flush=True)
                wrong += bool(problem)
    print(f"{wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
