#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A replay fires as often as firings left a record, in the ring or committed from a speculation.

    tests/prop/firings.py --daybreak build/test/cmd/daybreak [--rounds 60]

Each clause of a random program prints the number of its firing, under a predicate or held by a speculation of its thread that a later firing
commits or discards; some fault. What report prints of the recording says which firings there are; a replay has to count as many, probe by probe.
"""

import pathlib
import random
import re
import sys
import tempfile

import prop

PROBES = ["profile-2ms", "profile-3ms", "profile-7ms"]


def some(rng):
    """A condition that holds in some firings."""
    divisor = rng.randint(1, 4)
    return f"n % {divisor} == {rng.randrange(divisor)}"


def make_clauses(rng, probe):
    for _ in range(rng.randint(1, 4)):
        fault = rng.choice(["", "", "capture(1 / (n % 3));"])  # then ERROR has a record, and the clause none
        yield f'{probe} /{some(rng)}/ {{ printf("{probe} %d\\n", n); {fault} }}'
    for held in range(rng.randint(0, 2)):
        name = f"self->s{held}"
        yield f"{probe} /!{name} && {some(rng)}/ {{ {name} = speculation(); }}"
        for _ in range(rng.randint(1, 2)):
            yield f'{probe} /{name} && {some(rng)}/ {{ speculate({name}); printf("{probe} %d\\n", n); }}'
        for action in rng.choice([["commit"], ["commit", "discard"]]):
            yield f"{rng.choice(PROBES)} /{name} && {some(rng)}/ {{ {action}({name}); {name} = 0; }}"


def check(options, number):
    """Returns (firings counted, what is wrong)."""
    rng = random.Random(options.seed + number)
    clauses = [clause for probe in PROBES for clause in make_clauses(rng, probe)]
    rng.shuffle(clauses)
    program = "\n".join(["#pragma D option quiet", "#pragma D option bufsize=4m", "#pragma D option nspec=64", "int n;", "self int s0, s1;",
                         f"{', '.join(PROBES)} {{ n++; }}", *clauses]) + "\n"
    question = " ".join(f"{probe} {{ @[probename] = count(); }}" for probe in PROBES)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "recorded.d").write_text(program)
        prop.run([options.daybreak, "sim", "--cpus", "1", "--seed", str(number + 1), "--time", "150ms", "-s", "recorded.d", "-o", "x.dbrk"], folder)
        report = prop.run([options.daybreak, "report", "x.dbrk"], folder)
        replay = prop.run([options.daybreak, "replay", "--where-possible", "-qn", question, "x.dbrk"], folder)
    left = {probe: len(set(re.findall(rf"^{probe} (\d+)$", report[0], re.M))) for probe in PROBES}
    fired = {probe: 0 for probe in PROBES} | {probe: int(count) for probe, count in re.findall(r"(profile-\d+ms) +(\d+)", replay[0])}
    wrong = "" if left == fired and sum(left.values()) else f"left records: {left}, fired: {fired}\n{program}{report[1]}{replay[1]}"
    return sum(left.values()), wrong


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=60)
    fired, wrong = prop.rounds(options, check)
    print(f"{fired} firings of {options.rounds - wrong} programs, {wrong} failed, seed {options.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
