#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a D program can ask for or meet is in a D program of tests/d: tags, drops, faults, actions, aggregating
functions, subroutines, variables, options.

    tests/d/coverage.py ROOT
    tests/d/coverage.py --mutations ROOT

Run with the root of the tree. Reads tags, drops, faults and names out of the tables of compiler/ and formats/, and
the cases of tests/d. What counts:

    a tag      a case err.TAG.*: run.py fails it unless the compiler raises that tag
    a drop     a case drp.CAUSE.*: run.py fails it unless that drop is reported
    a fault    its text in the expected standard error of a case, in "error on enabled probe ..."
    the rest   its use, outside comments and texts, in a program that is expected to compile and run

untested.txt has lines `NAME: REASON` for what can not be met. A line there for something that is tested, or does not
exist, is an error too.

With --mutations the gate itself is tested: without the cases that meet it, each name of each table must be missed; so
must a name that is added to a table.
"""

import pathlib
import re
import sys

import run

FAULT = r"error on enabled probe ID .*: {}( \((0x\w+|ADDR)\))? in (predicate|action #\d)"
# A library-level fault is worded by what failed when the record was carried out.
LIBRARY_FAULT = r"error on enabled probe ID .*: couldn't \w+"


class Tables:
    """The tables of the tree. `added` is a name that each of them has besides, for --mutations."""

    def __init__(self, root, added=None):
        self.root, self.added = root, added

    def rows(self, path, begin, pattern, end="};"):
        """The names that `pattern` finds between the line with `begin` and the next `end`."""
        text = (self.root / path).read_text()
        start = text.index(begin)
        found = set(re.findall(pattern, text[start:text.index(end, start)]))
        if not found:
            raise SystemExit(f"{path}: nothing found after {begin!r}: coverage.py looks in the wrong place")
        return found | ({self.added} if self.added else set())

    def all(self):
        """Every kind with its names; of faults with their texts."""
        builtins, options = "compiler/sema/builtins.cpp", "formats/dof/options.cpp"
        listed = self.rows("compiler/diagnostics/tags.hpp", "#define DBK_ERROR_TAGS", r"X\((D_\w+),", "\n\n")
        faults = self.rows("formats/abi/faults.h", "#define DBK_FAULTS", r"X\((DTRACEFLT_\w+), \d+, \"[^\"]+\"", "\n\n")
        return {
            "tags": listed,
            "drops": self.rows("formats/abi/drops.h", "#define DBK_DROPS", r"X\((\w+), \d+, \"", "\n\n"),
            "faults": faults,
            "actions": self.rows(builtins, "kActions[] =", r"\{\s*\"(\w+)\","),
            "aggregating functions": self.rows("formats/abi/dof.h", "#define DBK_DTRACE_AGGS",
                                               r"X\(\w+,\s*\w+,\s*\"(\w+)\"", "\n\n"),
            "subroutines": self.rows(builtins, "subroutines() {", r"\{\s*\"(\w+)\","),
            "variables": self.rows(builtins, "builtin_variables() {", r"\{\s*\"(\w+)\","),
            "options": self.rows("formats/abi/dof.h", "#define DBK_DTRACE_OPTIONS", r"X\(\w+, \d+, \"(\w+)\"", "\n\n")
            | self.rows(options, "kCompileTimeOptions[] =", r"\{\s*\"(\w+)\",")
            | self.rows(options, "kRuntimeOptions[] = {\n#define DBK_OPTION", r"\{\s*\"(\w+)\","),
        }

    def fault_texts(self):
        text = (self.root / "formats/abi/faults.h").read_text()
        return dict(re.findall(r"X\((DTRACEFLT_\w+), \d+, \"([^\"]+)\"", text))

    def raised_tags(self):
        raised = set()
        for source in (self.root / "compiler").rglob("*.cpp"):
            raised |= set(re.findall(r"\bTag::(D_\w+)", source.read_text()))
        return raised


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def code_of(program):
    """A program without comments and texts."""
    return re.sub(r"\"(\\.|[^\"\\\n])*\"", '""', without_comments(program))


class Use:
    """What one case meets."""

    def __init__(self, case):
        self.kind, self.tag = case.kind, case.tag
        expected = case.expected or ""
        self.said = expected.split("--2\n", 1)[1] if "--2\n" in expected else ""
        # -n programs of `## command:` lines stand in quotes there.
        line = " ".join([*case.options, *(case.command or [])])
        text = without_comments(case.program)
        runs = case.kind != "err" and "failed to compile" not in self.said and case.expected is not None
        code = code_of(case.program) + " " + " ".join(code_of(word) for word in case.command or [])
        self.called = set(re.findall(r"\b(\w+)\s*\(", code)) if runs else set()
        self.words = set(re.findall(r"\b\w+\b", code)) if runs else set()
        given = re.findall(r"-x\s*(\w+)|--\w+ -x\s*(\w+)", line) + re.findall(r"#pragma\s+D\s+option\s+(\w+)()", text)
        given += re.findall(r"setopt\(\"(\w+)()", text)
        self.options = {name for pair in given for name in pair if name}


def all_uses(root):
    uses = []
    for source in sorted([*(root / "tests/d").rglob("*.cases"), *(root / "tests/d").rglob("*.d")]):
        cases = run.bundle_cases(source) if source.suffix == ".cases" else [run.file_case(source)]
        uses += [Use(case) for case in cases if not case.lacks]
    return uses


def meets(use, kind, name, texts):
    if kind == "tags":
        return use.kind == "err" and use.tag == name
    if kind == "drops":
        return use.kind == "drp" and use.tag == name
    if kind == "faults":
        if name == "DTRACEFLT_LIBRARY" and re.search(LIBRARY_FAULT, use.said):
            return True
        return name in texts and re.search(FAULT.format(re.escape(texts[name])), use.said) is not None
    if kind == "options":
        return name in use.options
    return name in (use.words if kind == "variables" else use.called)


def read_excuses(root):
    excused = {}
    for line in (root / "tests/d/untested.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            name, reason = line.split(": ", 1)
            excused[name] = reason
    return excused


def check_kind(kind, names, texts, uses, excused):
    """Returns what of a kind is met, and what is wrong."""
    met = {name for name in names if any(meets(use, kind, name, texts) for use in uses)}
    findings = [f"{name}: no case meets it" for name in sorted(names - met - set(excused))]
    return met, findings + [f"{name}: excused, but there is a case" for name in sorted(set(excused) & met)]


def check(tables, uses, excused):
    """Returns what is wrong, and a line for each kind."""
    findings, reported, known = [], [], set()
    for kind, names in tables.all().items():
        met, wrong = check_kind(kind, names, tables.fault_texts(), uses, excused)
        findings += wrong
        reported.append(f"{len(met)} of {len(names)} {kind}")
        known |= names
    tags, raised = tables.all()["tags"], tables.raised_tags()
    findings += [f"{name}: nothing in compiler/ raises it" for name in sorted(tags - raised)]
    findings += [f"{name}: raised, but not in tags.hpp" for name in sorted(raised - tags)]
    findings += [f"{name}: excused, but there is no such thing" for name in sorted(set(excused) - known)]
    return findings, reported


def mutations(root, uses, excused):
    """Returns what the gate overlooks, and how many mutations there were."""
    overlooked, count = [], 0
    tables, added = Tables(root), "made_up_for_the_gate"
    texts = tables.fault_texts()
    for kind, names in tables.all().items():
        for name in sorted(names - set(excused)):
            count += 1
            rest = [use for use in uses if not meets(use, kind, name, texts)]
            if f"{name}: no case meets it" not in check_kind(kind, names, texts, rest, excused)[1]:
                overlooked.append(f"{kind}: {name} is not missed without its cases")
    for kind, names in Tables(root, added).all().items():
        count += 1
        if f"{added}: no case meets it" not in check_kind(kind, names, texts, uses, excused)[1]:
            overlooked.append(f"{kind}: a name added to the table is not missed")
    return overlooked, count


def main():
    arguments = [word for word in sys.argv[1:] if word != "--mutations"]
    root = pathlib.Path(arguments[0] if arguments else ".")
    uses, excused = all_uses(root), read_excuses(root)
    if "--mutations" in sys.argv:
        findings, count = mutations(root, uses, excused)
        reported = [f"{count} mutations of {len(uses)} cases"]
    else:
        findings, reported = check(Tables(root), uses, excused)
        reported[-1] += f" are met by {len(uses)} cases"
    for finding in findings:
        print(finding)
    for name, reason in excused.items():
        print(f"excused: {name}: {reason}")
    print(f"{', '.join(reported)}; {len(excused)} excused, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
