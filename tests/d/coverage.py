#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every error tag that the compiler raises, every cause of a drop, and every name that D has by itself (actions,
subroutines, variables) has a D program that meets it.

Run with the root of the tree. Reads the tags out of compiler/, the causes out of formats/abi/drops.h, the names out of
compiler/sema/builtins.cpp, the cases out of tests/d, and untested.txt: lines `NAME: REASON` for what no program can meet
yet. A line there for something that is tested, or is not raised, is an error too.
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


def unused_builtins(root):
    """Names of builtins.cpp that no program uses: called, but for variables."""
    table = (root / "compiler/sema/builtins.cpp").read_text()
    called = re.findall(r"\{\"(\w+)\", (?:DIF_SUBR_|ActionName::)", table)
    variables = re.findall(r"\{\"(\w+)\", DIF_VAR_", table)
    programs = "\n".join(path.read_text() for kind in ("*.cases", "*.d") for path in (root / "tests/d").rglob(kind))
    return [name for name in called if not re.search(rf"\b{name}\(", programs)] + \
           [name for name in variables if not re.search(rf"\b{name}\b", programs)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    names = case_names(root)
    raised = set()
    for source in (root / "compiler").rglob("*.cpp"):
        raised |= set(re.findall(r"\bTag::(D_\w+)", source.read_text()))
    causes = set(re.findall(r"(?m)^\s*X\((\w+), \d+, \"", (root / "formats/abi/drops.h").read_text()))
    tested = {name.split(".")[1] for name in names if name.startswith(("err.", "drp."))}
    excused = {}
    for line in (root / "tests/d/untested.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            name, reason = line.split(": ", 1)
            excused[name] = reason
    findings = [f"{name}: no case meets it" for name in sorted((raised | causes) - tested - set(excused))]
    findings += [f"{name}: excused, but there is a case" for name in sorted(set(excused) & tested)]
    findings += [f"{name}: excused, but nothing raises it" for name in sorted(set(excused) - raised - causes)]
    findings += [f"{name}: no case uses it" for name in unused_builtins(root)]
    for finding in findings:
        print(finding)
    print(f"{len(raised & tested)} of {len(raised)} tags and {len(causes & tested)} of {len(causes)} drops are met by "
          f"{len(names)} cases, {len(excused)} excused, {len(findings)} findings")
    return 1 if findings or not raised or not causes else 0


if __name__ == "__main__":
    sys.exit(main())
