#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A replay over several recordings says of each what it says alone, and it does not matter how they come.

    tests/prop/many_recordings.py --daybreak build/test/cmd/daybreak [--seed N] [--rounds 2]

Each round records several boots of several machines, whose programs capture different values. One recording cut into 7 files at random
times prints the same bytes as the file it was cut from, with the files in any order. All recordings in one run print the same bytes in any
order of the paths, files and folders. What a program that names no global state says of each machine is what it says over that machine's
recording alone; with -E and a machine's name only those machines fire; records come in the order of the common time; associative arrays and
exit() are of all together.
"""

import pathlib
import random
import sys
import tempfile

import prop

PARTS = 7
PROBES = ("profile-500us", "profile-700us", "profile-1100us")
VALUES = ("pid", "execname", "arg0", "timestamp / 100 % 7", "stack(1)")
QUESTIONS = (
    "{ @c[vmname, tid] = count(); }",
    "/cpu == 0/ { @s[vmname] = sum(tid); @n[probename] = count(); }",
    "{ printf(\"%s %d %d\\n\", vmname, timestamp, tid); }",
    "/self->at/ { @q[vmname] = quantize(timestamp - self->at); self->at = 0; }",
    "{ self->at = timestamp; n[vmname, tid]++; }",
)
GLOBAL = "int n; profile-500us, profile-700us { all[tid]++; n++; } tick-7ms { printf(\"%d %d %d\\n\", n, all[0], timestamp); } END { printf(\"%d\\n\", n); }"
LINES = "profile-500us, profile-700us { printf(\"%d %s %s %d %d\\n\", walltimestamp, vmname, bootid, timestamp, $target); }"

THREADS = "profile-500us { self->n++; } profile-700us { printf(\"%s %s %d %d\\n\", vmname, bootid, timestamp, self->n); }"


class Round:
    def __init__(self, daybreak, seed, folder):
        self.daybreak, self.folder, self.any = daybreak, folder, random.Random(seed)
        self.failures = []

    def run(self, *words, status=0):
        output, error, got = prop.run([self.daybreak, *map(str, words)], self.folder)
        if got != status:
            self.failures.append(f"{words}: status {got}, not {status}\n{error}")
        return output

    def replay(self, program, paths, *options):
        return self.run("replay", "-q", *options, "-n", program, *paths)

    def same(self, what, one, other):
        if one != other:
            self.failures.append(f"{what}: differ\n--- one\n{one[:3000]}\n--- other\n{other[:3000]}")

    def record(self, host, name, least_ms, most_ms):
        values = ", ".join(["tid", *self.any.sample(VALUES, 2)])
        program = "#pragma D option aggregate=record\n" + "\n".join(f"{probe} {{ capture({values}); }}" for probe in PROBES)
        milliseconds = self.any.randrange(least_ms, most_ms)
        self.run("sim", "-q", "--seed", self.any.randrange(1 << 30), "--host", host, "--target", self.any.randrange(1, 4), "--cpus", self.any.randrange(1, 4), "--time", f"{milliseconds}ms",
                 "-x", "bufsize=4m", "-n", program, "-o", name, *self.any.choice(((), ("--rows",))))
        return milliseconds

    def questions(self):
        clauses = [f"{', '.join(self.any.sample(PROBES, 2))} {question}" for question in self.any.sample(QUESTIONS, 3)]
        return "\n".join(["self uint64_t at; int n[string, int];", *clauses])

    def split(self):
        """One recording in 7 files."""
        milliseconds = self.record("alone", "whole.dbrk", 1500, 3000)
        fractions = [self.any.uniform(0.4, 0.6), *(self.any.random() for _ in range(PARTS - 2))]
        cuts = sorted(1.0 + fraction * milliseconds / 1000 for fraction in fractions)
        bounds = [None, *(f"{cut:.6f}" for cut in cuts), None]
        parts = []
        for number, (since, until) in enumerate(zip(bounds, bounds[1:])):
            parts.append(f"part-{number}.dbrk")
            window = (["--since", since] if since else []) + (["--until", until] if until else [])
            self.run("pack", "-q", *window, "whole.dbrk", "-o", parts[-1])
        whole, largest = (max(pathlib.Path(self.folder, name).stat().st_size for name in names) for names in (["whole.dbrk"], parts))
        if largest > whole * 0.95:
            self.failures.append(f"the file of {whole} bytes was not divided: {largest} of a part")
        self.any.shuffle(parts)
        for program in (self.questions(), GLOBAL, LINES):
            self.same(f"{program} of 7 files", self.replay(program, ["whole.dbrk"]), self.replay(program, parts))

    def several(self):
        hosts = ["web-1", "web-2", "db-1", self.any.choice(("web-1", "db-2"))]
        files = [f"boot-{number}.dbrk" for number in range(len(hosts))]
        for host, file in zip(hosts, files):
            self.record(host, file, 60, 300)
        pathlib.Path(self.folder, "some").mkdir()
        moved = files.pop(self.any.randrange(len(files)))
        pathlib.Path(self.folder, moved).rename(pathlib.Path(self.folder, "some", moved))
        every = [*files, "some"]
        align = self.any.choice(((), ("--align", "profile-1100us")))
        for program in (self.questions(), GLOBAL, LINES):
            outputs = {self.replay(program, self.any.sample(every, len(every)), *align) for _ in range(3)}
            if len(outputs) != 1:
                self.failures.append(f"{program}: the order of the paths makes a difference")
        self.each_alone(every)

    def each_alone(self, every):
        lines = self.replay(LINES, every).split("\n")
        lines = [line for line in lines if line]
        alone = {path: [line for line in self.replay(LINES, [path]).split("\n") if line] for path in every}
        self.same("lines of each", sorted(lines), sorted(sum(alone.values(), [])))
        self.same("order", lines, sorted(lines, key=lambda line: int(line.split()[0]))) # a stable sort
        web = [line for line in lines if line.split()[1].startswith("web-")]
        named = LINES.replace("profile-500us, profile-700us", "web-*:profile:::profile-500us, w*::::profile-700us")
        self.same("-E", web, [line for line in self.replay(named, every, "-E").split("\n") if line])
        lines = sum((self.replay(THREADS, [path]).split("\n") for path in every), [])
        self.same("self->", sorted(filter(None, lines)), sorted(filter(None, self.replay(THREADS, every).split("\n"))))
        count = "profile-500us, profile-700us { @[vmname, bootid, probename] = count(); }"
        counted = sum((self.replay(count, [path]).split("\n") for path in every), [])
        self.same("counts", sorted(filter(None, counted)), sorted(filter(None, self.replay(count, every).split("\n"))))
        program = "int n; profile-500us /++n == 100/ { exit(7); } END { printf(\"%d\", n); }"
        self.same("exit()", "100", self.run("replay", "-q", "-n", program, *every, status=7).strip())


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=2)
    failures = []
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            one = Round(options.daybreak, options.seed + number, folder)
            one.split()
            one.several()
            failures += [f"seed {options.seed + number}: {text}" for text in one.failures]
    for text in failures[:5]:
        print(text)
    print(f"{options.rounds} rounds, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
