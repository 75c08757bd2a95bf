#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random aggregating programs print the same bytes with aggregate=record and with aggregate=engine.

And a trace file of such a run, read again, prints the same once more.

The programs aggregate with every function, over tuples of every type, on several CPUs, and print, clear, truncate and
normalize in between. Runs that dropped anything are not compared, and there must be few of them.
"""

import random
import sys

import prop

KEYS = {
    "int": ["i % 5", "i % 3 - 1", "(i * 7) % 11"],
    "string": ['i % 2 ? "odd" : "even"', "lltostr(i % 4)", 'strjoin("key", lltostr(i % 3))', "probename", "execname"],
    "int8_t": ["(int8_t)(i % 6 - 3)"],
    "uint64_t": ["(uint64_t)(i % 4) << 40", "(uint64_t)i % 2"],
    "stack": ["stack(2)"],  # one depth: it is part of the key's type
    "cpu": ["cpu"],
}
VALUES = ["i", "i - 40", "-i", "i * i", "i * 1000003", "i % 7", "1", "0", "i << 33", "(i % 2) ? i : -i"]


def function(rng):
    value = rng.choice(VALUES)
    kind = rng.choice(["count", "sum", "min", "max", "avg", "stddev", "quantize", "lquantize", "llquantize"])
    if kind == "count":
        return "count()"
    if kind == "quantize" and rng.random() < 0.3:
        return f"quantize({value}, i % 4)"
    if kind == "lquantize":
        return f"lquantize({value}, {rng.choice(['-20, 60, 10', '0, 100', '-5, 5, 1', '0, 1000, 100'])})"
    if kind == "llquantize":
        return f"llquantize({value}, {rng.choice(['10, 0, 3, 10', '10, 0, 4, 20', '2, 0, 6, 4'])})"
    return f"{kind}({value})"


class Aggregation:
    def __init__(self, rng, index):
        self.name = f"@a{index}"
        self.types = [rng.choice(list(KEYS)) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))]
        self.function = function(rng)

    def statement(self, rng):
        keys = [rng.choice(KEYS[t]) for t in self.types]
        key = f"[{', '.join(keys)}]" if keys else ""
        return f"{self.name}{key} = {self.function};"

    def printa(self, rng):
        if rng.random() < 0.4 or "stack" in self.types:
            return f"printa({self.name});"
        keys = " ".join({"string": "%s"}.get(t, "%d") for t in self.types)
        return f'printa("{keys} %@d\\n", {self.name});'


def action(rng, aggregation):
    name = aggregation.name
    return rng.choice([aggregation.printa(rng), aggregation.printa(rng), f"clear({name});", f"trunc({name});",
                       f"trunc({name}, {rng.choice([1, 2, -1])});", f"normalize({name}, {rng.choice([2, 3, 1000])});",
                       f"denormalize({name});"])


def make_program(rng):
    aggregations = [Aggregation(rng, index) for index in range(rng.randint(1, 4))]
    lines = ["int i;"]
    for aggregation in aggregations:
        for _ in range(rng.randint(1, 3)):
            probe = rng.choice(["tick-1ms", "tick-3ms", "profile-2ms", "profile-5ms"])
            predicate = rng.choice(["", "", "/i % 3 == 0/ ", "/i < 50/ "])
            lines.append(f"{probe} {predicate}{{ {aggregation.statement(rng)} }}")
    lines.append("tick-1ms { i++; }")
    for _ in range(rng.randint(0, 4)):
        actions = " ".join(action(rng, rng.choice(aggregations)) for _ in range(rng.randint(1, 3)))
        lines.append(f"{rng.choice(['tick-10ms', 'tick-17ms', 'tick-40ms'])} {{ {actions} }}")
    if rng.random() < 0.5:
        lines.append(f"END {{ {action(rng, rng.choice(aggregations))} }}")
    lines.append("tick-100ms { exit(0); }")
    return "\n".join(lines) + "\n"


def same_from_file(options, program, more, mode):
    """Whether the trace file says what the run said; complains when not."""
    printed, reported = prop.simulate_and_report(options.daybreak, program, *more, "-x", f"aggregate={mode}")
    if printed[0] == reported[0]:
        return True
    print(f"{' '.join(more)} aggregate={mode}: the trace file prints otherwise\n{program}\n--- sim\n{printed[0]}{printed[1]}"
          f"\n--- report\n{reported[0]}{reported[1]}")
    return False


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=60)
    failed = lossy = compared = characters = 0
    for round_number in range(options.rounds):
        rng = random.Random(options.seed + round_number)
        program = make_program(rng)
        more = ["--cpus", str(rng.choice([1, 1, 2, 4])), "--seed", str(round_number + 1)]
        results = [prop.simulate(options.daybreak, program, *more, "-x", f"aggregate={mode}")
                   for mode in ("record", "engine")]
        if any(status != 0 for _, _, status in results):
            print(f"round {round_number}: status {[r[2] for r in results]}\n{results[0][1]}{results[1][1]}\n{program}")
            failed += 1
        elif any("drop" in stderr for _, stderr, _ in results):
            lossy += 1
        elif results[0] != results[1]:
            failed += 1
            print(f"round {round_number} {' '.join(more)}: the modes differ\n{program}\n--- record\n{results[0][0]}"
                  f"{results[0][1]}\n--- engine\n{results[1][0]}{results[1][1]}")
        elif not same_from_file(options, program, more, rng.choice(["record", "engine"])):
            failed += 1
        else:
            compared += 1
            characters += len(results[0][0])
    print(f"{compared} programs printed the same {characters} characters, {lossy} dropped data, {failed} failed, "
          f"seed {options.seed}")
    return 1 if failed or compared < options.rounds * 3 // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
