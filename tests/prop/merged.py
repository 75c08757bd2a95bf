#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merging partial states prints what one replay over everything prints.

    tests/prop/merged.py --daybreak build/test/cmd/daybreak --divide build/test/tests/prop/divide_trace
        --record build/test/tests/prop/record_calls [--rounds 2]

A round records a made-up load on the simulated machine and asks it a made-up question (aggregations of every function, under keys of every
kind, that END normalizes, truncates and prints). The recording is divided into 7 parts, at random: once into windows of time, once into
files that each have some of its segments. `daybreak merge` of the parts' states, shuffled and some of them twice, must print what `daybreak
replay` of the whole prints, to the byte, and exit as it does. With one part left out it must say so and exit with 3.

Then three boots are asked, whose processes make system calls and have files at made-up places: by stacks and addresses of the kernel and of
processes. What the parts of one boot, or of all, print is what one replay of it, or of all, prints.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

import prop

PARTS = 7
LOAD = "x" * 100  # fills segments, so that there are some to divide

OPTIONS = """#pragma D option quiet
#pragma D option bufsize=64m
#pragma D option aggregate=record
"""
# One clause for each probe, or several, whose records are one firing's.
RECORDED = OPTIONS + """
profile-1ms { capture(pid, execname, cpu, "%s", this->v = timestamp %% 1000 - 500, stack(3)); }
profile-1300us { capture(probename, tid); }
""" % LOAD
CLAUSES = OPTIONS + """
profile-1ms { capture(pid, execname); }
profile-1ms /cpu != 1/ { capture(execname, "%s"); }
profile-1ms { capture(cpu, stack(3)); capture(execname); }
profile-1ms /timestamp %% 3/ { capture(pid, timestamp %% 7); }
profile-1300us { capture(probename); }
profile-1300us { capture(tid); }
""" % LOAD
# What a speculation held of a firing comes into the ring with a later one's records.
HELD = "#pragma D option nspec=16\n" + CLAUSES + """profile-1ms /!self->held/ { self->held = speculation(); }
profile-1ms { speculate(self->held); capture(tid, execname); }
profile-1ms /timestamp % 5 == 0/ { commit(self->held); self->held = 0; }
"""
KEYS = ["execname", "pid", "probename", "cpu", "stack(3)", "execname, pid", "cpu, execname", "(int64_t)cpu - 1", None]
VALUES = ["cpu", "pid", "(timestamp % 1000003) * (timestamp % 7) - 1000000", "timestamp % 97 - 48",
          "0x4000000000000000 + timestamp", "cpu == 0 ? 7 : -7"]
FUNCTIONS = ["count()", "sum({v})", "min({v})", "max({v})", "avg({v})", "stddev({v})", "quantize({v})",
             "lquantize({v}, -50, 50, 10)", "llquantize({v}, 10, 0, 6, 10)"]


def question(chance):
    """Returns a program whose clauses aggregate."""
    names = "abc"[:chance.randint(1, 3)]
    keys = {name: chance.choice(KEYS) for name in names}
    if chance.random() < 0.5:
        keys = dict.fromkeys(names, chance.choice(KEYS))  # printa() of several needs one sort of key
    functions = {name: chance.choice(FUNCTIONS) for name in names}
    text = chance.choice(["", "#pragma D option aggsortkey\n", "#pragma D option aggsortrev\n"])
    begun = functions["a"].format(v="5")
    text += chance.choice(["", f"BEGIN {{ @a = {begun}; }}\n" if not keys["a"] else "", 'BEGIN { printf("begin\\n"); }\n'])
    for name in names:
        probe = "profile-1300us" if keys[name] == "probename" else "profile-1ms"
        value = "timestamp % 1009" if probe == "profile-1300us" else chance.choice(VALUES)
        predicate = chance.choice(["", "/cpu == 1/ ", "/timestamp % 3/ "])
        key = f"[{keys[name]}]" if keys[name] else ""
        text += f"{probe} {predicate}{{ @{name}{key} = {functions[name].format(v=value)}; }}\n"
    end = []
    for name in names:
        end.append(chance.choice(["", f"normalize(@{name}, 7);", f"trunc(@{name}, 2);", f"trunc(@{name}, -1);",
                                  f"clear(@{name});", f"normalize(@{name}, 3); denormalize(@{name});"]))
    if len(set(keys.values())) == 1:
        form = "|".join(["%@d"] * len(names))
        end.append(chance.choice(["", 'printa("%s\\n", %s);' % (form, ", ".join("@" + name for name in names))]))
    end.append(chance.choice(["", f"printa(@{names[0]});", 'printf("%d\\n", 42);', "exit(5);"]))
    return text + "END { %s }\n" % " ".join(end)


CALLS = """#pragma D option quiet
#pragma D option bufsize=64m
#pragma D option aggregate=record
syscall::read:entry, syscall::write:entry, syscall::openat:entry { capture(pid, tid, stack(3), ustack(3), ustack(1), caller, ucaller); }
"""
ADDRESSES = ["stack(3)", "ustack(3)", "ustack(1)", "sym(caller)", "func(caller + 1)", "mod(caller)", "usym(ucaller)", "ufunc(ucaller)",
             "umod(ucaller)", "uaddr(ucaller)", "pid",
             "ufunc(ucaller + 4)", "uaddr(ucaller - 4)", "func(caller + 0x1000)", "sym(caller - 0x10000000)",
             # Computed: of one machine, wherever its kernel and its processes' files lie.
             "func(tid & 1 ? caller : caller + 0x1000)", "sym(caller & ~0xf)", "usym(pid & 1 ? ucaller : ucaller + 4)",
             "ufunc(this->from)", "sym(self->caller)"]


def question_of_addresses(chance):
    lines = []
    for name in "abc":
        keys = ", ".join(chance.sample(ADDRESSES, chance.randint(1, 3)))
        lines.append(f"syscall::{chance.choice(['read', 'write', '*'])}:entry {{ this->from = ucaller; self->caller = caller; @{name}[{keys}] = {chance.choice(['count()', 'sum(tid)'])}; }}\n")
    return chance.choice(["", "#pragma D option aggsortkey\n", "#pragma D option aggsortrev\n"]) + "".join(lines)


class Round:
    def __init__(self, options, folder, seed):
        self.daybreak, self.divide, self.record = options.daybreak, os.path.abspath(options.divide), os.path.abspath(options.record)
        self.folder, self.chance = folder, random.Random(seed)
        self.wrong = []

    def run(self, *arguments):
        done = subprocess.run([self.daybreak, *arguments], cwd=self.folder, capture_output=True, timeout=600, check=False)
        return done.stdout, done.stderr.decode(errors="replace"), done.returncode

    def states(self, name, *arguments):
        """Replays a part; it may lack what the others have."""
        _, errors, status = self.run("replay", "-s", "q.d", "--partial", name, *arguments)
        if status not in (0, 3):
            self.wrong.append(f"{name}: status {status}\n{errors}")
        return name

    def compare(self, what, expected, names, left_out):
        """Merges all, shuffled and some twice, then all but one."""
        again = names + self.chance.sample(names, 2)
        self.chance.shuffle(again)
        output, errors, status = self.run("merge", *again)
        if (output, status) != expected:
            self.wrong.append(f"{what}: status {status}, expected {expected[1]}\n{errors}--- replay\n{expected[0].decode(errors='replace')}"
                              f"--- merge\n{output.decode(errors='replace')}")
        if "2 parts came again" not in errors:
            self.wrong.append(f"{what}: nothing is said of the parts that came again\n{errors}")
        _, errors, status = self.run("merge", *[name for name in names if name != left_out])
        if "no part" not in errors or status not in (3, 5):
            self.wrong.append(f"{what}: without {left_out}: status {status}\n{errors}")

    def go(self):
        recorded = self.chance.choice([RECORDED, CLAUSES, CLAUSES, HELD])
        pathlib.Path(self.folder, "r.d").write_text(recorded)
        program = question(self.chance)
        pathlib.Path(self.folder, "q.d").write_text(program)
        self.run("sim", "--seed", str(self.chance.randrange(1000)), "--cpus", "3", "--time", "2s", "-s", "r.d", "-o", "t.dbrk")
        output, errors, status = self.run("replay", "-s", "q.d", "t.dbrk")
        if status not in (0, 5):
            self.wrong.append(f"replay: status {status}\n{errors}")
            return program
        expected = (output, status)
        windows = sorted(self.chance.sample(range(1, 1999), PARTS - 1))
        bounds = [None, *windows, None]
        names = []
        for i in range(PARTS):
            window = [word for option, at in (("--since", bounds[i]), ("--until", bounds[i + 1])) if at
                      for word in (option, f"+{at}ms")]
            names.append(self.states(f"w{i}.states", *window, "t.dbrk"))
        self.compare("windows", expected, names, self.chance.choice(names[1:-1]))
        names = []
        files = [f"f{i}.dbrk" for i in range(PARTS)]
        subprocess.run([self.divide, str(self.chance.randrange(1 << 32)), "t.dbrk", *files], cwd=self.folder, check=True)
        for i, file in enumerate(files):
            names.append(self.states(f"f{i}.states", file))
        if recorded is HELD:
            self.says_held(names)
        else:
            self.compare("files", expected, names, self.chance.choice(names))
        return recorded + program + self.ask_boots()

    def says_held(self, names):
        _, errors, status = self.run("merge", *names)
        if status not in (3, 5) or "speculations held records of firings" not in errors:
            self.wrong.append(f"held: status {status}\n{errors}")

    def ask_boots(self):
        pathlib.Path(self.folder, "calls.d").write_text(CALLS)
        program = question_of_addresses(self.chance)
        pathlib.Path(self.folder, "q.d").write_text(program)
        self.run("compile", "-s", "calls.d", "-o", "calls.dof")
        parts = []
        for boot in "abc":
            seed, images = str(self.chance.randrange(1 << 32)), self.chance.choice("12")
            subprocess.run([self.record, seed, boot, images, "calls.dof", boot + ".dbrk"], cwd=self.folder, check=True)
            parts += [self.states(f"{boot}.{i}.states", option, "+100ms", boot + ".dbrk") for i, option in enumerate(("--until", "--since"))]
        self.merges_to("one boot", parts[:2], "a.dbrk")
        self.chance.shuffle(parts)
        self.merges_to("boots", parts, "b.dbrk", "a.dbrk", "c.dbrk")
        self.prints_names("a.dbrk", "b.dbrk", "c.dbrk")
        return program

    def prints_names(self, *recordings):
        """What %a prints of all boots is what it prints of each."""
        def printed(*names):
            output, errors, status = self.run("replay", "-q", "-n", 'syscall:::entry { printf("%a\\n", pid & 1 ? caller : caller + 1); }', *names)
            return sorted(output.split()) if status == 0 else [errors.encode()]
        alone = sorted(line for name in recordings for line in printed(name))
        if printed(*recordings) != alone or not any(b"vmlinux`" in line for line in alone):
            self.wrong.append(f"%a: {printed(*recordings)[:3]} {alone[:3]}")

    def merges_to(self, what, states, *recordings):
        expected, errors, status = self.run("replay", "-s", "q.d", *recordings)
        output, _, merged = self.run("merge", *states)
        if status == 0 and "sym(self->" in pathlib.Path(self.folder, "q.d").read_text():
            status = 3  # of what a part's threads had kept
        if (output, merged) != (expected, status) or len(expected.splitlines()) < 4:
            self.wrong.append(f"{what}: status {merged}, expected {status}\n{errors}--- replay\n{expected.decode(errors='replace')}"
                              f"--- merge\n{output.decode(errors='replace')}")


FILES = {"liba.so": "03" * 20, "libb.so": "02" * 20, "libc.so": "01" * 20}  # of record_calls
WORK = ".text\n.globl work\n.type work,@function\nwork: .skip 8192, 0x90\n.size work, . - work\n"


def wrong_names(options):
    """What is wrong with names of files that are in a folder only, and with what is said where they are nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        one = Round(options, folder, options.seed)
        pathlib.Path(folder, "calls.d").write_text(CALLS)
        pathlib.Path(folder, "q.d").write_text("syscall:::entry { @[ufunc(ucaller)] = count(); }")
        pathlib.Path(folder, "work.S").write_text(WORK)
        os.mkdir(f"{folder}/files")
        for name, build_id in FILES.items():
            subprocess.run(["cc", "-shared", "-nostdlib", f"-Wl,--build-id=0x{build_id}", "-o", f"files/{name}", "work.S"], cwd=folder, check=True)
        one.run("compile", "-s", "calls.d", "-o", "calls.dof")
        for boot, seed in (("a", "1"), ("b", "2")):  # by which some address lies in work()
            subprocess.run([one.record, seed, boot, "1", "calls.dof", boot + ".dbrk"], cwd=folder, check=True)
        given = ["--symbols", "files"]
        for boots in (["a.dbrk"], ["a.dbrk", "b.dbrk"]):
            unnamed, said, _ = one.run("replay", "-s", "q.d", *boots)
            named, silent, _ = one.run("replay", "-s", "q.d", *boots, *given)
            if b"`work" in unnamed or b"`work" not in named:
                one.wrong.append(f"names of {boots}: {unnamed} {named}")
            if "are not named" not in said or said.count("libb.so (build id 0202") != 1 or "not named" in silent:
                one.wrong.append(f"said of {boots}: {said} {silent}")
        for more in ([], given):
            expected, _, _ = one.run("replay", "-s", "q.d", "a.dbrk", "b.dbrk", *more)
            parts = [one.states(boot + ".states", boot + ".dbrk", *more) for boot in "ab"]
            merged, said, _ = one.run("merge", *parts)
            if merged != expected or (not more and "are not named" not in said):
                one.wrong.append(f"merged with {more}: {merged} {expected} {said}")
            named, silent, _ = one.run("merge", *given, *parts)
            if named.replace(b" ", b"").count(b"`work") == 0 or "not named" in silent:
                one.wrong.append(f"named by the merge: {named} {silent}")
        return one.wrong


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=2, more=("--divide", "--record"))
    failed = 0
    for text in wrong_names(options):
        failed = 1
        print(text)
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            one = Round(options, folder, options.seed + number)
            program = one.go()
            for text in one.wrong[:3]:
                print(f"seed {options.seed + number}: {text}\n{program}")
            failed += bool(one.wrong)
    print(f"{options.rounds} recordings were asked in parts, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
