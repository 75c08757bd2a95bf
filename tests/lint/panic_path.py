#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves what the module does while the machine dies: everything that dbk_dying_*() leads to.

    panic_path.py OBJECT     the linked module, before modpost
    panic_path.py --self-test

Follows calls, jumps and addresses of functions through the section .text.dbk_probe, from the functions whose names begin
with dbk_dying_. Of what lies outside of the module, only the names in kmod/triggers/panic_allowed.txt may be met; and no
function may lead back to itself, since recursion has no bound. Exit 1 and one line per offender when that does not hold.
"""
import os
import re
import sys

import object_lint
from probe_ctx import ROOT, SECTION, allowed, names_in, run

ALLOWED = os.path.join(ROOT, "kmod", "triggers", "panic_allowed.txt")
PREFIX = "dbk_dying_"


def functions_of(path):
    """The functions of the section: name -> first byte, sorted by it.  The second of a name is NAME@OFFSET."""
    found = {}
    for row in run("objdump", "-t", path).splitlines():
        match = re.match(rf"([0-9a-f]{{16}}) .{{7}} {re.escape(SECTION)}\t[0-9a-f]+ (?:\.hidden )?(\S+)$", row)
        if match and match[2] != SECTION and not match[2].startswith("__pfx_"):  # padding before a function
            name = match[2] if match[2] not in found else f"{match[2]}@{int(match[1], 16):x}"
            found[name] = int(match[1], 16)
    return dict(sorted(found.items(), key=lambda item: item[1]))


def defined_in(path):
    return {row.split()[-1] for row in run("nm", "--defined-only", path).splitlines()}


class Graph:
    """Who leads to whom inside of the section, and who refers to what outside of the object."""

    def __init__(self, path):
        self.functions = functions_of(path)
        self.leads_to = {name: set() for name in self.functions}
        self.imports = {name: set() for name in self.functions}
        self._starts = list(self.functions.items())
        self._defined = defined_in(path)
        self._read(run("objdump", "-dr", "--no-show-raw-insn", "-j", SECTION, path))

    def at(self, offset):
        """The function that holds an offset of the section."""
        best = None
        for name, start in self._starts:
            if start > offset:
                break
            best = name
        return best

    def _read(self, text):
        function = jump = None
        for row in text.splitlines():
            # A jump that a relocation is for has nowhere to go yet: what is printed is the instruction after it.
            relocated = re.search(r"[0-9a-f]: R_X86_64_", row) is not None
            if jump is not None and not relocated:
                self._edge(function, self.at(jump))
            jump = None
            match = re.match(r"([0-9a-f]{16}) <\S+>:$", row)
            if match:
                function = self.at(int(match[1], 16))
                continue
            match = re.search(r"\t(?:call|jmp|j[a-z]+)\s+([0-9a-f]+) <", row)
            if match and function:
                jump = int(match[1], 16)
            match = re.search(r"[0-9a-f]: R_X86_64_(?!NONE)(\S+)\s+(\S+?)([-+]0x[0-9a-f]+)?$", row)
            if match and function and (match[2] != function or match[1] == "PLT32"):
                self._relocation(function, match[2], int(match[3] or "0", 16))

    def _edge(self, function, target):
        if target and target != function:
            self.leads_to[function].add(target)

    def _relocation(self, function, symbol, addend):
        if symbol in self.functions:
            # A call to itself by name is recursion; a jump within it has no relocation.
            self.leads_to[function].add(symbol)
        elif symbol == SECTION:
            self._edge(function, self.at(addend + 4))
        elif symbol not in self._defined and not symbol.startswith("."):
            self.imports[function].add(symbol)


def cycles(graph, roots):
    """A line for each function on the way from the roots that leads back to itself."""
    state, found = {}, []

    def visit(name, way):
        state[name] = "open"
        for target in sorted(graph.leads_to[name]):
            if state.get(target) == "open":
                found.append(f"{' -> '.join(way + [target])}: recursion, which has no bound")
            elif target not in state:
                visit(target, way + [target])
        state[name] = "done"

    for root in roots:
        if root not in state:
            visit(root, [root])
    return found, set(state)


def check(path, patterns):
    graph = Graph(path)
    roots = [name for name in graph.functions if name.startswith(PREFIX)]
    problems, reached = cycles(graph, roots)
    for name in sorted(reached):
        problems += [f"{name} refers to {symbol}, which is not in kmod/triggers/panic_allowed.txt"
                     for symbol in sorted(graph.imports[name]) if not allowed(symbol, patterns)]
    if not roots:
        problems.append(f"no function {PREFIX}*: this looks in the wrong place")
    return problems, f"{len(reached)} functions do only what they may"


SELF_TEST = r"""
#define PROBE __attribute__((section(".text.dbk_probe"), noinline))
void fine(void), evil(void);
PROBE static int leaf(int x) { __asm__(""); fine(); return x; }
#ifdef DEEP
PROBE static int deep(int x) { __asm__(""); evil(); return x + 1; }
#elif defined(LOOP)
PROBE int other(int x);
PROBE int deep(int x) { __asm__(""); return x > 0 ? other(x - 1) + 1 : 0; }
PROBE int other(int x) { __asm__(""); return deep(x) + 2; }
#else
PROBE static int deep(int x) { __asm__(""); return leaf(x) + 1; }
#endif
PROBE int dbk_dying_root(int x) { return deep(x) + leaf(x); }
PROBE int alive(int x) { evil(); return x; }
"""


def self_test():
    return object_lint.self_test(SELF_TEST, "-fno-pic -fno-optimize-sibling-calls",
                           (("-DGOOD", None), ("-DDEEP", "evil"), ("-DLOOP", "recursion")), lambda out, _: check(str(out), ["fine"]))


def check_arguments(arguments):
    return check(arguments[0], names_in(ALLOWED)) if len(arguments) == 1 else None


if __name__ == "__main__":
    sys.exit(object_lint.main(__doc__, check_arguments, self_test))
