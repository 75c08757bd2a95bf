# SPDX-License-Identifier: Apache-2.0
"""What the property tests share: the seed, running a program on the simulated host, the verdict."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import subprocess
import tempfile

TIMEOUT_S = 1800


def arguments(description, rounds, more=()):
    """The parsed command line, with `more` options that are required; prints the seed, which --seed or DAYBREAK_SEED repeats."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--daybreak", required=True, help="the program")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=rounds)
    for name in more:
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    options.daybreak = os.path.abspath(options.daybreak)
    if options.seed is None:
        options.seed = int(os.environ.get("DAYBREAK_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {options.seed}")
    return options


def rounds(options, check):
    """Runs check(options, number) for each round, which returns (how much it saw, what is wrong); prints the first three that are wrong.
    Returns how much all saw, and how many rounds are wrong."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda number: check(options, number), range(options.rounds)))
    wrong = [(number, text) for number, (_, text) in enumerate(results) if text]
    for number, text in wrong[:3]:
        print(f"round {number}: {text}")
    return sum(seen for seen, _ in results), len(wrong)


def run(command, folder):
    """Returns (stdout, stderr, status)."""
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode


def simulate(daybreak, program, *more):
    """Returns (stdout, stderr, status) of `daybreak sim` on that program."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "prop.d").write_text(program)
        return run([daybreak, "sim", "-q", *more, "-s", "prop.d"], folder)


def simulate_and_report(daybreak, program, *more):
    """Returns what `daybreak sim` prints, and what `daybreak report` prints of the trace file it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "prop.d").write_text(program)
        printed = run([daybreak, "sim", "-q", "-o", "x.dbrk", *more, "-s", "prop.d"], folder)
        return printed, run([daybreak, "report", "-q", "x.dbrk"], folder)
