#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the kernel's hardening in all code of the module that is not probe context.

    hardening.py FOLDER      below which the module's objects lie, each with what kbuild keeps beside it (.NAME.o.cmd)
    hardening.py --self-test

What the kernel compiles with (stack protector, variables that begin as zeros, fortified string functions) may be off in a file only
if each of its functions lies in .text.dbk_probe. What of it a function there has, does not matter here: if that panics
and logs, probe_ctx.py finds it. Exit 1 and a line for each function that is without.
"""
import pathlib
import re
import sys

import object_lint
from probe_ctx import Object, is_probe_section

# What switches an option, and to what: the last one counts, where the kernel switched it on before.  It asks nothing for fortified
# functions: those are on unless a file says otherwise.
OPTIONS = {
    "the stack protector": (r"-f(no-)?stack-protector\S*", r"-fno-stack-protector"),
    "zeros in its variables": (r"-ftrivial-auto-var-init=\S*", r"-ftrivial-auto-var-init=uninitialized"),
    "fortified string functions": (r"-[DU]__NO_FORTIFY\S*", r"-D__NO_FORTIFY\S*"),
}

# Padding before a function; KASAN's constructors.
MADE_BY_COMPILER = re.compile(r"__pfx_|_sub_[DI]_\d+_\d+$")


def options_off(command):
    found = []
    for name, (either, off) in OPTIONS.items():
        said = [match[0] for match in re.finditer(rf"(?<!\S){either}(?!\S)", command)]
        is_off = [re.fullmatch(off, one) is not None for one in said]
        if said and is_off[-1] and (not all(is_off) or "FORTIFY" in off):
            found.append(name)
    return found


def functions_outside(path):
    obj = Object(str(path))
    return sorted(name for _, size, kind, index, name in obj.symbols if kind == "FUNC" and size != 0 and index is not None and
                  not is_probe_section(obj.sections[index][0]) and not MADE_BY_COMPILER.match(name))


def check(folder):
    problems, files, count = [], 0, 0
    for beside in sorted(folder.rglob(".*.o.cmd")):
        path = beside.parent / beside.name[1:-len(".cmd")]
        command = beside.read_text().split("\n", 1)[0]
        if not path.exists() or not re.search(r"\s-c\s", command) or "/compat/" in str(path):
            continue
        off, outside = options_off(command), functions_outside(path)
        files += 1
        count += len(outside)
        if off:
            problems += [f"{path.relative_to(folder)}: {name}() is not probe context, and has not {' nor '.join(off)} (kmod/Kbuild)"
                         for name in outside]
    if files == 0:
        problems.append(f"{folder} has no objects: this looks in the wrong place")
    return problems, f"{count} functions that are not probe context have the kernel's hardening"


SELF_TEST = """
__attribute__((section(".text.dbk_probe"))) int probe(int x) { return x + 1; }
#ifdef MIXED
int control(int x) { return x + 2; }
#endif
"""


def check_compiled(out, command):
    pathlib.Path(out.parent, f".{out.name}.cmd").write_text(f"savedcmd_{out.name} := {' '.join(command)}\n")
    return check(out.parent)


def self_test():
    cases = (("-fno-stack-protector", None), ("-DMIXED -fno-stack-protector", None), ("-DMIXED", None), ("-DMIXED -fno-stack-protector -fstack-protector-strong", None),
             ("-DMIXED -fstack-protector-strong -fno-stack-protector", "stack protector"),
             ("-DMIXED -ftrivial-auto-var-init=zero -ftrivial-auto-var-init=uninitialized", "zeros"), ("-DMIXED -D__NO_FORTIFY", "fortified"))
    return object_lint.self_test(SELF_TEST, "", cases, check_compiled)


def check_arguments(arguments):
    return check(pathlib.Path(arguments[0])) if len(arguments) == 1 else None


if __name__ == "__main__":
    sys.exit(object_lint.main(__doc__, check_arguments, self_test))
