#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bounds the kernel stack that a firing takes, by the compiler's own figures.

    probe_stack.py OBJECT FOLDER     the linked module, and the .su files of its objects (gcc -fstack-usage), anywhere below
    probe_stack.py --native OBJECT   translated programs, with FILE.su beside, which are linked to a module that was checked before
    probe_stack.py --self-test

Adds the frames, return addresses included, on each way through the section .text.dbk_probe: calls, jumps, addresses of
functions, functions in tables.  For each call through a pointer INDIRECT below says what it may reach.  The deepest way
must stay within BYTES_MAX, and in an NMI, whose stack is looked at first, within what kmod/arch/x86/include/arch/stack.h says; none may lead
back to where it was, and no frame may have a size that is known only when it runs.
What the kernel takes, above the probe and in functions of its own that are called, is not counted.
"""
import fnmatch
import pathlib
import re
import sys

import object_lint
import panic_path
from probe_ctx import ROOT, SECTION, Object, run

BYTES_MAX = 2816  # of the 16 KiB of a thread or an interrupt
# What may be called where dbk_stack_is_cramped() says that an NMI's stack has room; who asks that counts a firing as MISSED otherwise.
NMI_BYTES_MAX = int(re.search(r"#define DBK_NMI_FIRING_BYTES (\d+)ul\n",
                              pathlib.Path(ROOT, "kmod/arch/x86/include/arch/stack.h").read_text())[1])
NMI_MISSES = "dbk_probe_missed"
# Translated programs: the frame of each function at most, which is looked at when they are compiled; what engine/native.h has them call.
NATIVE_BYTES_MAX = 256
CLAUSE_CALLS = ("dbk_dif_exec_rest", "dbk_builtin*", "dbk_argument*", "dbk_host_arg", "dbk_aggregate*", "dbk_thread_*", "dbk_locals_clear",
                "dbk_work*", "dbk_spend*")
NATIVE = {"(value)": CLAUSE_CALLS, "(clause)": CLAUSE_CALLS, "(firing)": CLAUSE_CALLS + ("dbk_fire",)}

# Who calls through a pointer, and what that may be: functions by name, those in a data object ("=NAME"), one of NATIVE, or the kernel's (none).
INDIRECT = {
    "dbk_expr_rest": ["(value)"], "run_other_tier": ["(clause)"], "dbk_probe_fire": ["(firing)"], "fire_if_*": ["(firing)"],
    "dbk_subr": ["=subrs"],
    "fbt_fire_other_entry": ["stable_on_function"], "fire_other*": ["stable_on_function"], "on_call": ["stable_on_function"],
    "on_return": ["stable_on_function", "=sites"], "on_entry": ["=sites"],
    "stable_on_function": ["=stable_rows"],
    "on_timer": [],
}


def read_frames(files):
    """Bytes of each function of the .su files, the most where several have a name; those of unknown size."""
    frames, unbounded = {}, set()
    for path in files:
        for line in path.read_text().splitlines():
            place, size, kind = line.split("\t")
            name = plain(place.split(":")[-1])
            frames[name] = max(frames.get(name, 0), int(size))
            if kind == "dynamic":
                unbounded.add(name)
    return frames, unbounded


def plain(name):
    """As the compiler has it in .su files: without the suffixes of copies."""
    return re.sub(r"(\.(isra|constprop|part|cold)(\.\d+)?)+$", "", name.split("@")[0])


def callers_through_pointers(graph, path):
    found, function = set(), None
    for row in run("objdump", "-dr", "--no-show-raw-insn", "-j", SECTION, path).splitlines():
        match = re.match(r"([0-9a-f]{16}) <\S+>:$", row)
        if match:
            function = graph.at(int(match[1], 16))
        elif "__x86_indirect_thunk" in row or re.search(r"\t(call|jmp)\s+\*%", row):
            found.add(function)
    return found


def held_in(obj, graph, table):
    """Functions of the section whose addresses are in data objects of that name."""
    found = set()
    for section, relocations in obj.relocations.items():
        for offset, _, symbol, addend in relocations:
            at = obj.table_at(section, offset) if symbol == SECTION or symbol in graph.functions else None
            if at and at[0] == table:
                found.add(graph.at(addend) if symbol == SECTION else symbol)
    return found


def add_indirect(graph, path, problems):
    obj = Object(path)
    for name, calls in NATIVE.items():
        graph.leads_to[name] = {one for one in graph.functions if any(fnmatch.fnmatchcase(one, call) for call in calls)}
    for caller in sorted(callers_through_pointers(graph, path)):
        known = next((targets for pattern, targets in INDIRECT.items() if fnmatch.fnmatchcase(plain(caller), pattern)), None)
        if known is None:
            problems.append(f"{caller} calls through a pointer: say in tests/lint/probe_stack.py what that may be")
        for target in known or []:
            graph.leads_to[caller] |= held_in(obj, graph, target[1:]) if target[0] == "=" else {target} & graph.leads_to.keys()


def deepest(graph, frames, problems):
    """The deepest way, and the deepest that an NMI goes: their bytes and functions."""
    known = {}

    def visit(name, way):
        if name in way:
            problems.append(f"{' -> '.join(way[way.index(name):] + [name])}: recursion, which has no bound")
            return 0, []
        if name not in known:
            below = max((visit(target, way + [name]) for target in sorted(graph.leads_to[name])), default=(0, []))
            own = frames.get(plain(name), NATIVE_BYTES_MAX if name in NATIVE else 0)
            known[name] = (own + below[0], [f"{name} {own}"] + below[1])
        return known[name]

    whole = max(visit(name, []) for name in graph.functions)
    called = {target for targets in graph.leads_to.values() if NMI_MISSES in targets for target in targets}
    if not called:
        problems.append(f"{NMI_MISSES}() is not called: what an NMI does is looked for in the wrong place")
    return whole, max((visit(name, []) for name in called), default=(0, []))


def check(path, files):
    problems = []
    graph = panic_path.Graph(path)
    frames, unbounded = read_frames(files)
    add_indirect(graph, path, problems)
    for name in graph.functions:
        if plain(name) not in frames:
            problems.append(f"{name}: no .su file has its frame")
        elif plain(name) in unbounded:
            problems.append(f"{name}: the size of its frame is known only when it runs")
    (size, way), (nmi_size, nmi_way) = deepest(graph, frames, problems)
    if size > BYTES_MAX:
        problems.append(f"a firing takes {size} bytes of stack, at most {BYTES_MAX}: {', '.join(way)}")
    if nmi_size > NMI_BYTES_MAX:
        problems.append(f"in an NMI a firing takes {nmi_size} bytes of stack, at most {NMI_BYTES_MAX} "
                        f"(kmod/arch/x86/include/arch/stack.h): {', '.join(nmi_way)}")
    return problems, f"a firing takes at most {size} bytes of stack, in an NMI {nmi_size}: {', '.join(way)}"


def check_native(path):
    frames, unbounded = read_frames([path.with_suffix(".su")])
    # Calls alone: not the module's data.
    called = {row.split()[-1] for row in run("objdump", "-r", path).splitlines() if "R_X86_64_PLT32" in row}
    called = {re.sub(r"[-+]0x[0-9a-f]+$", "", name) for name in called}
    problems = [f"{name}: its frame has {size} bytes, at most {NATIVE_BYTES_MAX}" for name, size in sorted(frames.items())
                if size > NATIVE_BYTES_MAX or name in unbounded]
    problems += [f"{name}() is called: CLAUSE_CALLS in tests/lint/probe_stack.py does not have it" for name in sorted(called)
                 if name.startswith("dbk_") and not any(fnmatch.fnmatchcase(name, call) for call in NATIVE["(firing)"])]
    return problems, f"{len(frames)} functions of at most {max(frames.values(), default=0)} bytes of stack"


SELF_TEST = r"""
#define PROBE __attribute__((section(".text.dbk_probe"), noinline))
PROBE int leaf(int x) { volatile char room[LEAF]; room[x] = 1; return room[0] + x; }
PROBE int on_timer(int (*way)(int), int x) { return way(x) + 1; }
#ifdef LOOP
PROBE int other(int x);
PROBE int deep(int x) { __asm__(""); return x > 0 ? other(x - 1) + 1 : 0; }
PROBE int other(int x) { __asm__(""); return deep(x) + 2; }
#elif defined(POINTER)
PROBE int unknown(int (*way)(int), int x) { return way(x) + 1; }
#elif defined(SIZED)
PROBE int sized(int x) { volatile char room[x]; room[x / 2] = 1; return room[0]; }
#endif
PROBE int root(int x) { return leaf(x) + 1; }
PROBE int nested(int x) { volatile char room[NMI]; room[x] = 2; return room[1] + x; }
PROBE void dbk_probe_missed(void) { __asm__(""); }
PROBE int cramped(int x) { if (x == 1) dbk_probe_missed(); else return nested(x) + 1; return 0; }
"""


def self_test():
    cases = (("-DLEAF=1000 -DNMI=8", None), (f"-DLEAF={2 * BYTES_MAX} -DNMI=8", "bytes of stack"), ("-DLEAF=8 -DNMI=8 -DLOOP", "recursion"),
             ("-DLEAF=8 -DNMI=8 -DPOINTER", "through a pointer"), ("-DLEAF=8 -DNMI=8 -DSIZED", "only when it runs"),
             (f"-DLEAF=8 -DNMI={NMI_BYTES_MAX - 64}", None), (f"-DLEAF=8 -DNMI={NMI_BYTES_MAX + 256}", "in an NMI"))
    return object_lint.self_test(SELF_TEST, "-fno-pic -fno-optimize-sibling-calls -fno-stack-protector -fstack-usage", cases,
                           lambda out, _: check(str(out), [out.with_suffix(".su")]))


def check_arguments(arguments):
    if len(arguments) != 2:
        return None
    if arguments[0] == "--native":
        return check_native(pathlib.Path(arguments[1]))
    return check(arguments[0], sorted(pathlib.Path(arguments[1]).rglob("*.su")))


if __name__ == "__main__":
    sys.exit(object_lint.main(__doc__, check_arguments, self_test))
