#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs print the same bytes by `sim`, by `report` of what sim recorded, and live.

Live is `dtrace --simulate=virtual`, which reads the same simulated machine as a consumer of a running ring does: look by
look, at the rates that the program asks for. The programs aggregate on two CPUs, speculate, commit and discard,
print, clear, truncate and normalize in between, with every combination of aggregate=, aggrate, switchrate, temporal.

What is left out, because live cannot know it:
- a commit() with option temporal: what it releases was made before what earlier looks have printed (docs/design/0004);
- records that are read between two looks at the engine's aggregations: the snapshot that report merges before them is not
  taken yet, so with aggregate=engine switchrate is a multiple of aggrate (docs/design/0004);
- flowindent: the arrow of a return depends on the record after it, which the next look brings;
- setopt() with a buffer policy that is read at the end only: a rate holds from when its record was read;
- times: each look reads the simulated clock, which takes time.
"""

import concurrent.futures
import os
import pathlib
import random
import sys
import tempfile

import aggregates
import prop

RATES = [1, 5, 13, 20, 50, 400]  # ms
PERIODS = ["3ms", "7ms", "11ms", "20ms", "31ms"]


def options_of(rng):
    """The program's #pragma lines, by name."""
    options = {"aggregate": rng.choice(["engine", "engine", "record"]), "nspec": "4", "cleanrate": "10ms"}
    for rate in ("aggrate", "switchrate", "statusrate"):
        if rng.random() < 0.5:
            options[rate] = f"{rng.choice(RATES)}ms"
    if options["aggregate"] == "engine" and "aggrate" in options and "switchrate" in options:
        options["switchrate"] = f"{int(options['aggrate'][:-2]) * rng.randint(1, 4)}ms"
    for option, chance in (("quiet", 0.6), ("temporal", 0.3), ("aggsortkey", 0.2), ("aggsortrev", 0.2), ("rawbytes", 0.1)):
        if rng.random() < chance:
            options[option] = ""
    if rng.random() < 0.3:
        options["context"] = rng.choice(["pid", "tid,execname,stack(2)"])
    if rng.random() < 0.2:
        options["bufpolicy"] = rng.choice(["fill", "ring"])
    return options


def counting(rng, aggregations):
    for aggregation in aggregations:
        for _ in range(rng.randint(1, 3)):
            probe = rng.choice(["tick-1ms", "tick-3ms", "profile-2ms", "profile-5ms"])
            predicate = rng.choice(["", "", "/i % 3 == 0/ ", "/i < 90/ "])
            yield f"{probe} {predicate}{{ {aggregation.statement(rng)} }}"


def speculating(rng, aggregations, commits):
    """Clauses that speculate in `s`, begin speculations and end them."""
    for _ in range(rng.randint(1, 3)):
        actions = [rng.choice(['printf("speculated at %d\\n", i);', "trace(i);", 'trace("held");', "capture(i, execname);",
                               rng.choice(aggregations).printa(rng)]) for _ in range(rng.randint(1, 3))]
        low = rng.randint(0, 80)
        yield (f"{rng.choice(['tick-', 'tick-', 'profile-'])}{rng.choice(PERIODS)} /i > {low} && i < {low + 40}/ "
               f"{{ speculate(s); {' '.join(actions)} }}")
    for _ in range(rng.randint(1, 3)):
        end = "commit" if commits and rng.random() < 0.7 else "discard"
        yield f"tick-{rng.choice(['17ms', '29ms', '61ms', '97ms'])} /s/ {{ {end}(s); s = 0; }}"
    yield f"tick-{rng.choice(['5ms', '19ms', '43ms'])} /!s/ {{ s = speculation(); }}"


def printing(rng, aggregations):
    for _ in range(rng.randint(1, 4)):
        actions = [rng.choice([aggregates.action(rng, rng.choice(aggregations)), 'printf("at %d\\n", i);', "trace(i);",
                               "capture(i);", "capture();"])
                   for _ in range(rng.randint(1, 3))]
        yield f"{rng.choice(['tick-', 'tick-', 'profile-'])}{rng.choice(['10ms', '17ms', '40ms'])} {{ {' '.join(actions)} }}"
    if rng.random() < 0.5:
        yield f"BEGIN {{ {aggregates.action(rng, rng.choice(aggregations))} }}"
    if rng.random() < 0.7:
        yield f"END {{ {aggregates.action(rng, rng.choice(aggregations))} printf(\"end\\n\"); }}"


def make_program(rng):
    options = options_of(rng)
    aggregations = [aggregates.Aggregation(rng, index) for index in range(rng.randint(1, 3))]
    lines = [f"#pragma D option {name}{'=' if value else ''}{value}" for name, value in options.items()]
    clauses = [*printing(rng, aggregations), "tick-1ms { i++; }"]
    if rng.random() < 0.8:
        clauses += speculating(rng, aggregations, commits="temporal" not in options)
    rates = ["switchrate"] if options["aggregate"] == "engine" else ["aggrate", "switchrate"]
    if rng.random() < 0.2 and "bufpolicy" not in options and not (len(rates) == 1 and "aggrate" in options):
        setting = f'setopt("{rng.choice(rates)}", "{rng.choice(RATES)}ms");'
        clauses.append(f"tick-{rng.choice(PERIODS)} /i == {rng.randint(5, 60)}/ {{ {setting} }}")
    rng.shuffle(clauses)
    counts = list(counting(rng, aggregations))  # first: an aggregation has to be known where it is used
    return "\n".join([*lines, "int i, s;", *counts, *clauses, f"tick-{rng.choice([60, 150, 400])}ms {{ exit(0); }}"]) + "\n"


def run_one(daybreak, program):
    """Returns (stdout, stderr, status) of sim, report and live."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "prop.d").write_text(program)
        return [prop.run([daybreak, *words], folder) for words in (
            ["sim", "--cpus", "2", "--seed", "1", "-o", "x.dbrk", "-s", "prop.d"],
            ["report", "x.dbrk"],
            ["dtrace", "--simulate=virtual", "-s", "prop.d"])]


def check(options, round_number):
    """Returns (characters printed, what is wrong)."""
    program = make_program(random.Random(options.seed + round_number))
    sim, report, live = run_one(options.daybreak, program)
    if sim[2] != 0 or live[2] != 0 or report[2] not in (0, 3):
        return 0, f"status {sim[2]}, {report[2]}, {live[2]}\n{sim[1]}{report[1]}{live[1]}\n{program}"
    for name, other in (("report", report), ("live", live)):
        if other[0] != sim[0]:
            return 0, (f"sim and {name} differ\n{program}\n--- sim\n{sim[0]}{sim[1]}"
                       f"\n--- {name}\n{other[0]}{other[1]}")
    return len(sim[0]), ""


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=100)
    os.environ["_DTRACE_TESTING"] = "t"  # no IDs of probes: the machine of dtrace has more of them than sim's
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda number: check(options, number), range(options.rounds)))
    wrong = [(number, text) for number, (_, text) in enumerate(results) if text]
    for number, text in wrong[:3]:
        print(f"round {number}: {text}")
    print(f"{options.rounds - len(wrong)} programs printed the same {sum(size for size, _ in results)} characters, "
          f"{len(wrong)} failed, seed {options.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
