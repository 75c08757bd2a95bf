#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replaying what was recorded prints what the program printed.

    tests/prop/replayed.py --daybreak build/test/cmd/daybreak [--rounds 5]

Cases of tests/d that the simulated machine can run are recorded there, every fifth of them in a round, and the recorded program
is run again over its recording: `daybreak replay FILE` must print what `daybreak report FILE` does, to the byte. A program that asks what it
did not record must be refused, by a message that says what is missing. How many do either is counted: fewer fail.
"""

import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import prop

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "d"
sys.path.insert(0, str(FOLDER))
import run as programs

TIMEOUT_S = 600
PARTS = 5  # of all cases, a round has one: by the seed
SAME_MIN, REFUSED_MIN = 60, 4  # of a round; measured were 388 and 49 of all
REASONS = ("was not recorded at", "does not match any probes", "macro variable")  # $uid was another process's
# What a recording does not have: when the consumer read and the cleaner ran.
OTHERS = {
    "tst.empty-of-a-pragma": "records nothing",
    "tst.rates-at-once": "exits when the consumer, which takes time to read, has seen it",
    "tst.many-cpus": "a cleaner on another beat",
}


def outcome(daybreak, case):
    """Returns "same", "refused", "nothing" (recorded), or what is wrong."""
    if case.command or case.btf or case.dof or case.lacks or case.args:
        return "nothing"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.d").write_text(case.program)
        keep = [word for word in case.options if word in ("-q", "-w", "-F", "-Z")]
        prop.run([daybreak, "sim", "--seed", "1", "--cpus", "2", "--time", "2s", *keep, "-s", "p.d", "-o", "t.dbrk"], folder)
        file = pathlib.Path(folder, "t.dbrk")
        if not file.exists() or file.stat().st_size == 0:
            return "nothing"
        report = prop.run([daybreak, "report", "t.dbrk"], folder)
        replay = prop.run([daybreak, "replay", "t.dbrk"], folder)
    if replay[0] == report[0]:
        return "same"
    if replay[2] == 1 and any(reason in replay[1] for reason in REASONS):
        return "refused"
    return f"status {replay[2]}\n{case.program}\n--- report\n{report[0]}--- replay\n{replay[0]}{replay[1]}"


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=1)
    parts = {(options.seed + number) % PARTS for number in range(options.rounds)}
    os.environ.pop("_DTRACE_TESTING", None)
    cases = [case for path in sorted(FOLDER.glob("*/*.cases")) if path.parent.name != "errors"
             for case in programs.bundle_cases(path)]
    cases = [case for number, case in enumerate(cases) if number % PARTS in parts]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda case: outcome(options.daybreak, case), cases))
    wrong = [(case.name, text) for case, text in zip(cases, outcomes)
             if text not in ("same", "refused", "nothing") and case.name not in OTHERS]
    for name, text in wrong[:5]:
        print(f"{name}: {text}")
    same, refused = outcomes.count("same"), outcomes.count("refused")
    print(f"{same} programs printed the same when they were replayed, {refused} were refused, {len(wrong)} failed, "
          f"{len(OTHERS)} left out")
    return 1 if wrong or same < SAME_MIN * len(parts) or refused < REFUSED_MIN * len(parts) else 0


if __name__ == "__main__":
    sys.exit(main())
