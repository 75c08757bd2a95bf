#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a random program prints live, it prints when it is asked of the recording of another one.

    tests/prop/asked_later.py --daybreak build/test/cmd/daybreak [--rounds 60]

A program of two parts runs on the simulated machine: clauses that only capture(), and questions. The questions alone are then
replayed over the recording, as if they had been thought of afterwards: both must print the same bytes. Questions have predicates, thread-local
variables, associative arrays, strings, stacks, speculations, aggregations of every function, ticks and exit().

Each tick of the questions is recorded, since one that the replay fires itself and a record of the same instant may come in
either order (docs/replay.md); aggregate=engine is used where nothing is printed before the end, since what is printed in between depends on when
the consumer looked; option temporal is not used with commit(), as in same_output.py.
"""

import pathlib
import random
import sys
import tempfile

import prop

PROBES = ["profile-2ms", "profile-3ms", "profile-5ms", "profile-7ms"]
TICKS = ["tick-11ms", "tick-17ms", "tick-40ms"]
# What the machine says where a probe fires; of timestamp enough is in the record.
CAPTURED = ["curcpu->cpu_chip + pid", "pid", "tid + cpu", "arg0 % 1000", "arg1", "uid + timestamp % 7", "(int64_t)(timestamp % 100) - 50", "cpu * 10 + ppid",
           "timestamp % 5", "gid ? 1 : cpu", "strlen(execname) + cpu", "arg0 & timestamp"]
# What each record, or the recording, knows without.
NUMBERS = [*CAPTURED, "curcpu->cpu_id", "curcpu->cpu_pset - 1", "$target + 1", "pid == $target"]
STRINGS = ["execname", "strjoin(execname, probename)", "substr(execname, timestamp % 6)", "lltostr(tid + timestamp % 3)", "probename"]
STACKS = ["stack(2)", "stack()"]


def predicate(rng):
    number = f"({rng.choice(NUMBERS)})"
    return rng.choice(["", "", f"/{number} > {rng.randint(-5, 40)}/ ", f"/n % 3 == 0 && {number} != 2/ ",
                       f'/{rng.choice(STRINGS)} == "swapper/1"/ ', "/self->count > 3/ ", f"/seen[{rng.choice(NUMBERS)}]/ "])


def aggregation(rng, index):
    """(name, statement, how to print it)."""
    keys = [rng.choice([rng.choice(NUMBERS), rng.choice(STRINGS), "n % 4"]) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    if rng.random() < 0.2:
        keys.append(rng.choice(STACKS))
    value = rng.choice([*NUMBERS, "n", "self->count", "timestamp - self->at"])
    kind = rng.choice(["count", "sum", "min", "max", "avg", "stddev", "quantize", "lquantize"])
    function = {"count": "count()", "lquantize": f"lquantize({value}, 0, 100, 7)"}.get(kind, f"{kind}({value})")
    name = f"@a{index}"
    return name, f"{name}{'[' + ', '.join(keys) + ']' if keys else ''} = {function};", f"printa({name});"


def statement(rng, names):
    number, text = rng.choice(NUMBERS), rng.choice(STRINGS)
    return rng.choice([f'printf("%d %s %d\\n", {number}, {text}, n);', f"trace({number});", f"trace({text});", "n++;", "self->count++;",
                       f"seen[{number}]++;", f"total[{text}, cpu] += {number};", f"trace(total[{text}, cpu]);", "self->at = timestamp;",
                       f"self->text = {text};", "trace(self->text);", f"this->x = {number}; trace(this->x * 2);",
                       f"trace(self->count ? {number} : -1);", "stack(2);", f"trace(strjoin({text}, lltostr(seen[{number}])));",
                       *(f"{name};" for name in names)])


def speculating(rng):
    low = rng.randint(0, 10)
    yield f"{rng.choice(PROBES)} /!self->s && self->count > {low}/ {{ self->s = speculation(); }}"
    for probe in rng.sample(PROBES, rng.randint(1, 3)):
        yield f"{probe} /self->s/ {{ speculate(self->s); {statement(rng, [])} }}"
    yield f"{rng.choice(PROBES)} /self->s && ({rng.choice(NUMBERS)}) % 2/ {{ {rng.choice(['commit', 'commit', 'discard'])}(self->s); self->s = 0; }}"


def make_question(rng):
    """(the program's options, its clauses, its ticks)."""
    aggregations = [aggregation(rng, index) for index in range(rng.randint(1, 3))]
    counts = [f"{rng.choice(PROBES)} {predicate(rng)}{{ {text} }}" for _, text, _ in aggregations for _ in range(rng.randint(1, 2))]
    clauses = [f"{rng.choice(PROBES)} {predicate(rng)}{{ {' '.join(statement(rng, []) for _ in range(rng.randint(1, 3)))} }}"
               for _ in range(rng.randint(1, 5))]
    clauses += [f"{rng.choice(PROBES)} {{ n++; self->count++; self->at = timestamp; }}"]
    speculates = rng.random() < 0.5
    if speculates:
        clauses += speculating(rng)
    ticks, engine = [], rng.random() < 0.3
    if not engine:
        for tick in rng.sample(TICKS, rng.randint(0, 2)):
            name, _, printing = rng.choice(aggregations)
            action = rng.choice([printing, f"clear({name});", f"trunc({name}, 2);", f"normalize({name}, 3);", 'printf("tick %d\\n", n);'])
            clauses.append(f"{tick} {{ {action} }}")
            ticks.append(tick)
    rng.shuffle(clauses)
    ends = [f"END {{ {rng.choice(aggregations)[2]} printf(\"%d\\n\", n); }}"] if rng.random() < 0.6 else []
    if rng.random() < 0.2:
        ends.append(f"{rng.choice(PROBES)} /n > {rng.randint(20, 200)}/ {{ exit({rng.randint(0, 9)}); }}")
    options = ["quiet"] if rng.random() < 0.8 else []
    options += ["nspec=64", f"aggregate={'engine' if engine else 'record'}", "bufsize=4m", "specsize=1m", "cleanrate=1ms"]
    if rng.random() < 0.2:
        options.append(rng.choice(["aggsortkey", "aggsortrev", *([] if speculates else ["temporal"])]))
    return options, ["int n;", "self int count, s;", "self uint64_t at;", "self string text;", *counts, *clauses, *ends], ticks


def make_recorder(rng, ticks):
    """Clauses that capture everything a question may ask, in an order and in parts of their own."""
    everything = [*CAPTURED, *STRINGS, *STACKS, "tid", "timestamp"]
    rng.shuffle(everything)
    cut = rng.randint(0, len(everything))
    for probe in PROBES:
        for part in (everything[:cut], everything[cut:]):
            if part:
                yield f"{probe} {{ {' '.join(f'capture({one});' for one in part)} }}"
    for tick in ticks:
        yield f"{tick} {{ capture(pid); }}"


def check(options, number):
    """Returns (characters printed, what is wrong)."""
    rng = random.Random(options.seed + number)
    settings, question, ticks = make_question(rng)
    pragmas = [f"#pragma D option {one}" for one in settings]
    asked = "\n".join([*pragmas, *question]) + "\n"
    recorded = "\n".join([*pragmas, *make_recorder(rng, ticks), *question]) + "\n"
    cpus = rng.choice(["1", "2", "4"])
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "recorded.d").write_text(recorded)
        pathlib.Path(folder, "asked.d").write_text(asked)
        live = prop.run([options.daybreak, "sim", "--target", "611", "--cpus", cpus, "--seed", str(number + 1), "--time", "150ms", "-s", "recorded.d",
                         "-o", "x.dbrk"], folder)
        replay = prop.run([options.daybreak, "replay", "-s", "asked.d", "x.dbrk"], folder)
    if live[2] != replay[2] or live[0] != replay[0]:
        return 0, (f"status {live[2]} and {replay[2]}, {cpus} CPUs\n{recorded}\n--- live\n{live[0]}{live[1]}\n--- replayed\n{replay[0]}{replay[1]}")
    return len(live[0]), ""


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=60)
    characters, wrong = prop.rounds(options, check)
    print(f"{options.rounds - wrong} programs printed the same {characters} characters, {wrong} failed, seed {options.seed}")
    return 1 if wrong or characters < 200 * options.rounds else 0


if __name__ == "__main__":
    sys.exit(main())
