#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves from relocations what code of the engine and the kernel module calls.

    probe_ctx.py OBJECT...             code that runs in probes calls only what it may
    probe_ctx.py --imports ARCHIVE     the userspace engine imports only what it may
    probe_ctx.py --self-test

Everything marked __probe_ctx lies in the section .text.dbk_probe.  Each relocation of that section
that names code must lead back into it, or to a name in engine/probe_ctx_allowed.txt.  Data may be
referred to, with one exception: tables of functions are read as calls too, if probe code uses them.
Exit 1 and one line per offender when that does not hold.
"""
import fnmatch
import os
import re
import subprocess
import sys

import object_lint

SECTION = ".text.dbk_probe"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def names_in(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def allowed(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


class Object:
    """Sections, symbols and relocations of one relocatable file, as readelf prints them."""

    def __init__(self, path):
        self.path = path
        self.sections = {}  # index -> (name, flags)
        self.symbols = []  # (value, size, type, section index or None, name)
        self.relocations = {}  # section name -> [(offset, type, symbol, addend)]
        self._read_sections(run("readelf", "-SW", path))
        self._read_symbols(run("readelf", "-sW", path))
        self._read_relocations(run("readelf", "-rW", path))

    def _read_sections(self, text):
        line = re.compile(r"\s*\[\s*(\d+)\] (\S*)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ "
                          r"[0-9a-f]+\s([ A-Za-z]*?)\s+\d+\s+\d+\s+\d+$")
        for row in text.splitlines():
            match = line.match(row)
            if match:
                self.sections[int(match[1])] = (match[2], match[4].strip())

    def _read_symbols(self, text):
        for row in text.splitlines():
            parts = row.split()
            if len(parts) < 7 or not re.fullmatch(r"\d+:", parts[0]):
                continue
            section = int(parts[6]) if parts[6].isdigit() else None
            name = parts[7] if len(parts) > 7 else ""
            if parts[3] == "SECTION" and section is not None:
                name = self.sections.get(section, ("?", ""))[0]
            self.symbols.append((int(parts[1], 16), int(parts[2], 0), parts[3], section, name))

    def _read_relocations(self, text):
        section = None
        for row in text.splitlines():
            match = re.match(r"Relocation section '\.rela?(\S+)'", row)
            if match:
                section = match[1]
                continue
            match = re.match(r"([0-9a-f]{12,16})\s+[0-9a-f]+ (R_\S+)\s*(?:[0-9a-f]+ (\S+)"
                             r"(?: ([+-]) ([0-9a-f]+))?)?", row)
            if match and section:
                addend = int(match[5] or "0", 16) * (-1 if match[4] == "-" else 1)
                self.relocations.setdefault(section, []).append(
                    (int(match[1], 16), match[2], match[3] or "", addend))

    def section_of(self, name):
        """Name and flags of the section that a symbol lies in; None when it is imported."""
        for _, _, _, section, symbol in self.symbols:
            if symbol == name and section is not None:
                return self.sections.get(section)
        return self.sections_by_name().get(name)

    def sections_by_name(self):
        return {name: (name, flags) for name, flags in self.sections.values()}

    def function_at(self, section, offset):
        for value, size, kind, index, name in self.symbols:
            if kind == "FUNC" and index is not None and self.sections[index][0] == section and \
                    value <= offset < value + size:
                return name
        return f"{section}+0x{offset:x}"

    def table_at(self, section, offset):
        """The data object that holds offset, as (name, start, end)."""
        for value, size, kind, index, name in self.symbols:
            if kind == "OBJECT" and index is not None and self.sections[index][0] == section and \
                    value <= offset < value + max(size, 1):
                return name, value, value + size
        return None


# The kernel's own bookkeeping of places in the section is not a call from it.
def is_probe_section(name):
    return name == SECTION or name.startswith(SECTION + ".")


def check_target(obj, where, symbol, addend, patterns, problems):
    """A relocation from probe code at `where` names `symbol`."""
    section = obj.section_of(symbol)
    if section is None:
        # Imported: code or data, the object does not say.  The host's functions are checked where
        # they are defined, in the kernel module's own object.
        if not symbol.startswith("dbk_host_") and not allowed(symbol, patterns):
            problems.append(f"{obj.path}: {where} refers to {symbol}, which is not in "
                            "engine/probe_ctx_allowed.txt")
        return
    name, flags = section
    if symbol == name:  # a section symbol: which function is meant says the addend
        symbol = obj.function_at(name, addend + 4)
    if "X" in flags and not is_probe_section(name) and not allowed(symbol, patterns):
        problems.append(f"{obj.path}: {where} calls {symbol}, which lies in {name}: mark it "
                        "__probe_ctx or do not call it")


def check_object(path, patterns):
    obj = Object(path)
    problems = []
    sections = [name for name, _ in obj.sections.values() if is_probe_section(name)]
    if not sections:
        return [], 0
    count = 0
    for section in sections:
        for offset, _, symbol, addend in obj.relocations.get(section, []):
            count += 1
            where = obj.function_at(section, offset)
            check_target(obj, where, symbol, addend, patterns, problems)
            check_tables(obj, where, symbol, addend, patterns, problems)
    return sorted(set(problems)), count


def check_tables(obj, where, symbol, addend, patterns, problems):
    """A data object that probe code refers to: functions in it may be called through it."""
    section = obj.section_of(symbol)
    if section is None or "X" in section[1]:
        return
    start = next((value for value, _, kind, index, name in obj.symbols
                  if name == symbol and kind == "OBJECT"), None)
    # PC-relative addends are 4 short of the object.
    at = start if start is not None else addend + 4
    table = obj.table_at(section[0], at)
    if table is None:
        return
    name, begin, end = table
    for offset, _, target, _ in obj.relocations.get(section[0], []):
        if begin <= offset < end:
            held = obj.section_of(target)
            if held is not None and "X" in held[1] and not is_probe_section(held[0]):
                problems.append(f"{obj.path}: {where} uses table {name}, which holds {target} of "
                                f"{held[0]}")


def check_imports(path, patterns):
    defined, undefined = set(), set()
    for row in run("nm", "-A", path).splitlines():
        match = re.match(r".*?:(?:[0-9a-f]{16})?\s+(\w) (\S+)$", row)
        if match:
            (undefined if match[1] in "Uw" else defined).add(match[2])
    return [f"{path}: imports {name}, which is not in engine/userspace_imports.txt"
            for name in sorted(undefined - defined) if not allowed(name, patterns)], \
        len(undefined - defined)


SELF_TEST = r"""
#define PROBE __attribute__((section(".text.dbk_probe"), noinline))
int outside(int);
static int __attribute__((noinline)) plain(int x) { __asm__(""); return x + 1; }
PROBE int fine(int x) { __asm__(""); return x; }
PROBE int good(int x) { return fine(x) + 1; }
#ifdef BAD_STATIC
PROBE int bad(int x) { return plain(x) + 1; }
#elif defined(BAD_IMPORT)
PROBE int bad(int x) { return outside(x) + 1; }
#elif defined(BAD_TABLE)
static int (*const table[])(int) = {fine, plain};
PROBE int bad(int i) { return table[i](i) + 1; }
#endif
int use(int x) { return plain(x) + outside(x); }
"""


def self_test():
    flags = "-fno-pic"
    cases = (("-DGOOD", None), ("-DBAD_STATIC", "plain"), ("-DBAD_IMPORT", "outside"), ("-DBAD_TABLE", "table"))
    return object_lint.self_test(SELF_TEST, flags, cases, lambda out, _: check_object(str(out), [])) or \
        object_lint.self_test(SELF_TEST, flags, (("-DGOOD", "outside"),), lambda out, _: check_imports(str(out), []))


def check(arguments):
    if not arguments:
        return None
    one, names = (check_imports, "userspace_imports.txt") if arguments[0] == "--imports" else (check_object, "probe_ctx_allowed.txt")
    patterns = names_in(os.path.join(ROOT, "engine", names))
    found = [one(path, patterns) for path in arguments if path != "--imports"]
    return [problem for problems, _ in found for problem in problems], f"{sum(count for _, count in found)} references are what they may be"


if __name__ == "__main__":
    sys.exit(object_lint.main(__doc__, check, self_test))
