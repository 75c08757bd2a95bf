#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs D programs on the simulated host and compares what they print with what they should.

    tests/d/run.py --daybreak build/dev/cmd/daybreak tests/d/aggs [more folders, files or case names]

A test is a D file with its expectation beside it (`tst.sum.d`, `tst.sum.out`), or a case in a bundle of small ones
(`*.cases`). The name says what must happen:

    tst.WHAT         exits 0 and prints exactly the expectation
    err.TAG.WHAT     is refused with that tag, status 1
    drp.REASON.WHAT  reports that drop

An expectation is standard output; after a line `--2` standard error; after `--status N` the exit status when it is not
what the kind of test implies. A case in a bundle:

    == tst.sum -q            name, then the options for `daybreak sim`
    BEGIN { exit(0); }       program text, up to the line `--`
    --
    expectation, up to the next case

Lines `## ...` in a program's head say more: `## args: ...` script arguments, `## env: A=B`, `## filter: cpu addr time`
what to blank out before comparing, `## command: ...` the whole command line after `daybreak` instead of the one made
from the case, `## btf: whole` compiled with the types of kernel_btf.py (`damaged`: with a file that cannot be read),
`## dof: NAME` that the program is one of dof_images.py, `## lacks: REASON` that the test is not run and why.

--native N runs every Nth of the programs only, translated to C and compiled: they must print the same.

DAYBREAK_UPDATE_GOLDEN=1 writes what was printed as the new expectation. Exit status 1 if anything failed.
"""

import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import dof_images
import kernel_btf

TIMEOUT_S = 1800

FILTERS = {
    "cpu": lambda text: re.sub(r"(?m)^ {0,2}\d+ (?= *\d+ )", "CPU ", text),
    "addr": lambda text: re.sub(r"0x[0-9a-f]{6,16}", "ADDR", text),
    "time": lambda text: re.sub(r"\b\d{9,}\b", "TIME", text),
}


class Case:
    """One program, its options, and what it should print."""

    def __init__(self, name, options, program, expected, place):
        self.name = name
        self.program = program
        self.expected = expected  # text, or None when there is no expectation yet
        self.place = place
        self.options = list(options)
        self.args, self.env, self.filters, self.lacks, self.command = [], {}, [], None, None
        self.btf = self.dof = None
        for line in program.split("\n"):
            head = re.match(r"(?://|#)?\s*## (\w+):\s*(.*)", line)
            if head:
                self.head(head[1], head[2])
        # A head line is not D unless it hides in a comment; blank keeps the line numbers.
        self.program = re.sub(r"(?m)^##.*$", "", program)

    def head(self, key, value):
        if key == "args":
            self.args = shlex.split(value)
        elif key == "opts":
            self.options += shlex.split(value)
        elif key == "env":
            self.env.update(pair.split("=", 1) for pair in shlex.split(value))
        elif key == "filter":
            self.filters += value.split()
        elif key == "command":
            self.command = shlex.split(value)
        elif key == "btf":
            self.btf = value
            self.options += ["--btf", "kernel.btf"]
        elif key == "dof":
            self.dof = value
        elif key == "lacks":
            self.lacks = value
        else:
            raise SystemExit(f"{self.place}: unknown head `## {key}:`")

    @property
    def kind(self):
        return self.name.split(".")[0]

    @property
    def tag(self):
        return self.name.split(".")[1]

    def normal_status(self):
        return 1 if self.kind == "err" else 0


def read_bundle(path):
    """The cases of a bundle, and the lines in front of the first."""
    head, cases = [], []
    current = part = None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("== "):
            words = shlex.split(line[3:])
            current = {"name": words[0], "options": words[1:], "line": number, "program": [], "expected": []}
            cases.append(current)
            part = "program"
        elif current is None:
            head.append(line)
        elif part == "program" and line == "--":
            part = "expected"
        else:
            current[part].append(line)
    for case in cases:
        while case["expected"] and case["expected"][-1] == "":
            case["expected"].pop()
    return head, cases


def bundle_cases(path):
    for case in read_bundle(path)[1]:
        yield Case(case["name"], case["options"], "\n".join(case["program"]) + "\n",
                   "\n".join(case["expected"]), f"{path}:{case['line']}")


def write_bundle(path, actual):
    """Writes the bundle again with new expectations for the cases in `actual`."""
    head, cases = read_bundle(path)
    lines = head
    for case in cases:
        expected = actual.get(case["name"])
        lines.append("== " + shlex.join([case["name"], *case["options"]]))
        lines += case["program"] + ["--"]
        lines += (expected.split("\n") if expected is not None else case["expected"])
        if lines[-1] != "":
            lines.append("")
    path.write_text("\n".join(lines).rstrip("\n") + "\n")


def file_case(path):
    expectation = path.with_suffix(".out")
    expected = expectation.read_text().rstrip("\n") if expectation.exists() else None
    return Case(path.name[:-2], [], path.read_text(), expected, str(path))


def strip_end(text):
    return text.rstrip("\n")


def render(case, stdout, stderr, status):
    """What was printed, in the form of an expectation."""
    text = stdout
    if stderr:
        text += ("" if not text or text.endswith("\n") else "\n\\\n") + "--2\n" + stderr
    if status != case.normal_status():
        text += ("" if not text or text.endswith("\n") else "\n\\\n") + f"--status {status}\n"
    for name in case.filters:
        text = FILTERS[name](text)
    return strip_end(text)


def can_be_native(case):
    """Whether the case runs a program on the simulated machine."""
    return case.kind != "err" and "-e" not in case.options and (case.command is None or case.command[0] == "sim")


def run_case(case, daybreak, native=False):
    """Returns (what was printed, complaint or None)."""
    command = [daybreak, "sim"]
    if case.kind == "err":
        command += ["-x", "errtags"]
    if case.kind == "drp":
        command += ["-x", "droptags"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DTRACE_", "_DTRACE"))}
    environment.update({"LC_ALL": "C", "TZ": "UTC"} | case.env)
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, case.name + ".d")
        script.write_text(case.program)
        if case.btf:
            images = {"whole": kernel_btf.image, "damaged": kernel_btf.damaged}
            pathlib.Path(folder, "kernel.btf").write_bytes(images[case.btf]())
        command += [*case.options]
        if case.dof:
            pathlib.Path(folder, "image.dof").write_bytes(dof_images.IMAGES[case.dof]())
            command += ["--dof", "image.dof"]
        else:
            command += ["-s", script.name, *case.args]
        if case.command is not None:
            command = [daybreak, *case.command]
        if native:
            command.insert(2, "--native")
        try:
            done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return "", f"no end after {TIMEOUT_S} s"
    stdout, stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    printed = render(case, stdout, stderr, done.returncode)
    if done.returncode < 0 or "Sanitizer" in stderr or "runtime error" in stderr:
        return printed, f"crashed, status {done.returncode}:\n{stderr}"
    tag = f"[DTRACEDROP_{case.tag}]" if case.kind == "drp" else f"[{case.tag}]"
    if case.kind in ("err", "drp") and tag not in stderr:
        return printed, f"no {tag} on standard error:\n{stderr}"
    if case.kind == "err" and done.returncode != 1:
        return printed, f"status is {done.returncode}, not 1"
    return printed, None


def judge(case, printed, complaint):
    """Returns the complaint of a failed case, None for a good one."""
    if complaint:
        return complaint
    if case.kind == "err" and not case.expected:
        return None  # the tag is the test
    if case.expected is None:
        return "no expectation; DAYBREAK_UPDATE_GOLDEN=1 writes one"
    if strip_end(case.expected) == printed:
        return None
    return "\n".join(difflib.unified_diff(case.expected.split("\n"), printed.split("\n"), "expected", "printed",
                                          lineterm=""))


def find_sources(arguments):
    """Splits the arguments into bundles and D files on one side, names of cases on the other."""
    sources, names = [], []
    for argument in arguments:
        path = pathlib.Path(argument)
        if path.is_dir():
            sources += sorted([*path.rglob("*.cases"), *path.rglob("*.d")])
        elif path.is_file():
            sources.append(path)
        else:
            names.append(argument)
    return sources, names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--daybreak", required=True, help="the program")
    parser.add_argument("what", nargs="+", help="folders, bundles, D files; other words select cases by name")
    parser.add_argument("--native", type=int, metavar="N", help="every Nth program only, and translated to C")
    options = parser.parse_args()
    daybreak = os.path.abspath(options.daybreak)
    update = os.environ.get("DAYBREAK_UPDATE_GOLDEN") == "1"
    sources, names = find_sources(options.what)
    passed = failed = skipped = runnable = 0
    for source in sources:
        cases = bundle_cases(source) if source.suffix == ".cases" else [file_case(source)]
        actual = {}
        for case in cases:
            if names and not any(name in case.name for name in names):
                continue
            if options.native:
                runnable += can_be_native(case)
                if not can_be_native(case) or runnable % options.native:
                    continue
            if case.lacks:
                skipped += 1
                print(f"SKIP {case.name}: {case.lacks}")
                continue
            printed, complaint = run_case(case, daybreak, bool(options.native))
            if update and not complaint and (case.kind != "err" or case.expected):
                actual[case.name] = printed
            else:
                complaint = judge(case, printed, complaint)
            if complaint:
                failed += 1
                print(f"FAIL {case.name} ({case.place})\n{complaint}\n")
            else:
                passed += 1
        if update and source.suffix == ".cases":
            write_bundle(source, actual)
        elif update and actual:
            source.with_suffix(".out").write_text(next(iter(actual.values())) + "\n")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed + skipped == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
