#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a D program can ask for or meet is in a D program of tests/d: tags, drops, faults, actions, subroutines,
variables, options.

Run with the root of the tree. Reads the tags and the names of actions, subroutines, variables and options out of compiler/, causes
and faults out of formats/abi, the cases out of tests/d, and untested.txt: lines `NAME: REASON` for what no program can
meet yet. A line there for something that is tested, or does not exist, is an error too.
"""

import pathlib
import re
import sys


def case_names(root):
    names = set()
    for bundle in (root / "tests/d").rglob("*.cases"):
        names |= set(re.findall(r"(?m)^== (\S+)", bundle.read_text()))
    names |= {path.name[:-2] for path in (root / "tests/d").rglob("*.d")}
    return names


def programs(root):
    texts = [path.read_text() for path in (root / "tests/d").rglob("*.cases")]
    texts += [path.read_text() for path in (root / "tests/d").rglob("*.d")]
    return "\n".join(texts)


def kinds(root, names, text):
    """Yields kind, all of that kind, those of them that a case meets."""
    raised = set()
    for source in (root / "compiler").rglob("*.cpp"):
        raised |= set(re.findall(r"\bTag::(D_\w+)", source.read_text()))
    listed = set(re.findall(r"X\((D_\w+),", (root / "compiler/diagnostics/tags.hpp").read_text()))
    raised |= listed
    tested = {name.split(".")[1] for name in names if name.startswith(("err.", "drp."))}
    yield "tags", raised, raised & tested
    drops = set(re.findall(r"(?m)^\s*X\((\w+), \d+, \"", (root / "formats/abi/drops.h").read_text()))
    yield "drops", drops, drops & tested
    # A fault is met where its text is printed, or its name asked for.
    faults = dict(re.findall(r"X\((DTRACEFLT_\w+), \d+, \"([^\"]+)\"", (root / "formats/abi/faults.h").read_text()))
    yield "faults", set(faults), {name for name, said in faults.items() if said in text or name in text}
    builtins = (root / "compiler/sema/builtins.cpp").read_text()
    called = {
        "actions": set(re.findall(r"\{\"(\w+)\", ActionName::", builtins)),
        "subroutines": set(re.findall(r"\{\"(\w+)\", DIF_SUBR_", builtins)),
    }
    for kind, all_of_them in called.items():
        yield kind, all_of_them, {name for name in all_of_them if re.search(rf"\b{name}\(", text)}
    variables = set(re.findall(r"\{\"(\w+)\", DIF_VAR_", builtins))
    yield "variables", variables, {name for name in variables if re.search(rf"\b{name}\b", text)}
    options = set(re.findall(r"X\(DTRACEOPT_\w+, \d+, \"(\w+)\"\)", (root / "formats/abi/dof.h").read_text()))
    sema = (root / "compiler/sema/options.cpp").read_text()
    options |= set(re.findall(r"\{\"(\w+)\", (?:Takes::|DBK_OPT_)", sema))
    met = {name for name in options if re.search(rf"(-x |option |setopt\(\"){name}\b", text)}
    yield "options", options, met


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    names = case_names(root)
    excused = {}
    for line in (root / "tests/d/untested.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            name, reason = line.split(": ", 1)
            excused[name] = reason
    findings, told, known = [], [], set()
    for kind, every, met in kinds(root, names, programs(root)):
        findings += [f"{name}: no case meets it" for name in sorted(every - met - set(excused))]
        findings += [f"{name}: excused, but there is a case" for name in sorted(set(excused) & met)]
        if not every:
            findings.append(f"no {kind} found: coverage.py looks in the wrong place")
        told.append(f"{len(met)} of {len(every)} {kind}")
        known |= every
    findings += [f"{name}: excused, but there is no such thing" for name in sorted(set(excused) - known)]
    for finding in findings:
        print(finding)
    print(f"{', '.join(told)} are met by {len(names)} cases, {len(excused)} excused, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
