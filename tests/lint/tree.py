#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tree against the house rules that a program can check.

  spdx       every source file names its licence in its first three lines, the right one for its folder
  size       no source file over 800 lines
  function   no function over 70 lines
  arrow      #include lines follow the arrows of ARCHITECTURE.md
  table      which are those in this file
  part       and those between the sub-folders of analyze/, engine/ and kmod/ too
  arch       what knows the processor is in kmod/arch, whose headers are "arch/...", and engine/arch: its name, registers, instructions,
             numbers of system calls, headers of its own; in comments, too
  circle     nor do those between the sub-folders of a folder lead back to where they began
  declared   a header of engine/ or kmod/ declares only functions that its own sub-folder defines, but for what is made for others (api, include)
  todo       nothing is left marked to be done at once
  sorted     texts that bsearch() looks in are in the order that it expects
  test       each file of tests is named in its folder's CMakeLists.txt, or found there by a pattern

Prints one line per finding, `file:line: rule: text`, then a count. Exit status 1 if any was found.
`--self-test` feeds each rule something wrong and fails if it is not found.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
# The interpreter's dispatch: one case per opcode, each at most three lines.
LONG_FUNCTIONS = {("engine/run/exec.c", "dbk_dif_exec")}

SOURCES = {".c", ".h", ".cpp", ".hpp", ".S", ".py", ".sh", ".cmake", ".capnp", ".d"}
CODE = {".c", ".h", ".cpp", ".hpp"}
NAMED_SOURCES = {"CMakeLists.txt", "Kbuild", "Makefile", "quickstart", "run-tests", "run"}

# folder -> folders its files may include from (its own is always allowed).  A sub-folder with a row of its own is not
# meant by the folder around it, but for formats/abi.
ARROWS = {
    "formats/abi": [],
    "base": ["engine/api"],
    "formats": ["base", "formats/abi"],
    "engine/api": ["formats/abi"],
    "engine/arch": ["engine/api", "formats/abi"],
    "engine/shared": ["engine/api", "engine/arch", "formats/abi"],
    "engine": ["engine/api", "engine/arch", "engine/shared", "formats/abi"],
    "live": ["base", "formats"],
    "analyze/replay": ["base", "formats", "analyze", "live", "engine/sim"],
    "live/process": ["base", "formats", "analyze", "engine/sim"],
    "live/session": ["base", "formats", "live", "live/process", "engine/sim", "recorder"],
    "engine/sim": ["engine/api", "formats/abi", "base", "formats", "live"],
    "engine/translate": ["engine", "engine/api", "formats/abi", "base", "formats"],
    "kmod": ["engine/api", "formats/abi"],
    "compiler": ["base", "formats/dof", "formats/kallsyms", "formats/abi"],
    "recorder": ["base", "formats", "live"],
    "analyze": ["base", "formats", "engine/shared"],
    "cmd": ["base", "formats", "live", "live/process", "live/session", "engine/sim", "engine/translate", "compiler", "recorder", "analyze",
            "analyze/replay", "bootloader-hooks/install"],
    "bootloader-hooks": ["formats/abi"],
    "bootloader-hooks/install": ["base", "formats"],
}
# Of a folder's sub-folders: which others of it each may include, and which files beside them.  Files beside them may
# include all.
PART_ARROWS = {
    "analyze": {
        "values": [],
        "symbols": [],
        "aggregate": ["values"],
        "decode": ["values", "aggregate"],
        "print": ["values", "symbols", "aggregate"],
        "session": ["values", "symbols", "aggregate", "decode", "print"],
        "diff": ["values", "symbols", "aggregate", "print", "session"],
        "replay": ["values", "aggregate", "symbols", "decode", "session", "live_report.hpp"],
    },
    "engine": {
        "api": [],
        "arch": ["api"],
        "types": ["api"],
        "shared": ["api", "arch"],
        "memory": ["api", "types", "shared"],
        "run": ["api", "arch", "types", "memory"],
        "lower": ["api", "types", "memory", "run"],
        "load": ["api", "arch", "types", "run", "lower"],
        "control": ["api", "types", "memory", "run", "lower", "load"],
        "sim": ["api"],
        "translate": ["api", "types", "run"],
    },
    "kmod": {
        "compat": [],
        "include": [],
        "arch": ["frame.h"],
        "kernel": ["frame.h", "arch"],
        "triggers": ["state.h", "arch", "kernel"],
        "bank": ["state.h", "arch", "triggers"],
        "host": ["state.h", "bank", "arch"],
        "maps": ["state.h", "arch", "kernel", "bank"],
        "providers": ["state.h", "frame.h", "include", "arch", "compat", "kernel"],
        "core": ["state.h", "kernel", "triggers", "bank", "maps", "providers"],
        "control": ["triggers", "bank", "providers", "core"],
    },
}
# Of one processor, in kmod and engine outside of arch/; <asm/irq_regs.h> all of them have.  The simulator is a machine with one of its own.
ARCH_TEXT = re.compile(r"""\bf?regs(->|\.)\w | ->(orig_)?([abcd]x|[sd]i|bp|r(8|9|1\d))\b | <asm/(?!irq_regs\.h) | \b__NR_
                           | "kmod/arch/ | \b__asm__\b | \basm\b\s*(volatile)?\s*\( | \brdtsc | \b(rd|wr)msr
                           | \b[re]([abcd]x|[sd]i|[sbi]p)\b | \b(__)?x86 | \b(i386|x32|amd64)\b | __(x64|ia32)_ | \bendbr | (\b|_)(X86|X32|I386|IA32)(?![A-Z0-9])
                           """, re.VERBOSE)
ARCH_FOLDERS = ("kmod/arch/", "engine/arch/", "engine/sim/")
LICENCES = {
    "kmod": "GPL-2.0-only",
    "tests/perf/kernel": "GPL-2.0-only",
    "tests/vm/crashes/kernel": "GPL-2.0-only",
    "tests/vm/trust": "GPL-2.0-only",
    "tests/vm/misuse": "GPL-2.0-only",
    "engine": "GPL-2.0-only OR MIT",
    "kmod/include": "GPL-2.0-only OR MIT",
    "examples/provider": "GPL-2.0-only OR MIT",
    "formats/abi": "GPL-2.0-only OR MIT",
}


def longest_prefix(path, table):
    """The entry of `table` for the deepest folder that holds `path`, or None."""
    best = max((f for f in table if path.startswith(f + "/")), key=len, default=None)
    return best


def is_source(path):
    p = pathlib.PurePosixPath(path)
    return p.suffix in SOURCES or p.name in NAMED_SOURCES


def check_spdx(path, lines):
    found = next((m for m in (re.search(r"SPDX-License-Identifier: (.+?)\s*(\*/|-->)?$", line)
                              for line in lines[:3]) if m), None)
    if not found:
        yield 1, "spdx", "no SPDX-License-Identifier in the first three lines"
        return
    folder = longest_prefix(path, LICENCES)
    expected = LICENCES[folder] if folder else "Apache-2.0"
    if path.startswith("engine/sim/") or pathlib.PurePosixPath(path).name == "CMakeLists.txt":
        expected = "Apache-2.0"
    if pathlib.PurePosixPath(path).suffix in CODE and found[1] != expected:
        yield 1, "spdx", f"licence is {found[1]}, this folder's is {expected}"


def check_size(path, lines):
    if len(lines) > FILE_LINES_MAX:
        yield len(lines), "size", f"{len(lines)} lines, at most {FILE_LINES_MAX}"


def check_functions(path, lines):
    """A function starts at a line in column 0 and ends at a `}` in column 0: the formatter sees to it."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None:
            opens = line == "{" or (line.endswith("{") and line[0] not in " \t#/*}@")
            if opens and not re.match(r"(namespace|extern \"C\"|struct|class|union|enum|typedef)\b", line):
                start = number
                while line == "{" and start > 1 and lines[start - 2].strip() and lines[start - 2][0] in " \t":
                    start -= 1
        elif line.startswith("}"):
            length = number - start + 1
            name = re.search(r"(\w+)\(", " ".join(lines[max(0, start - 2):start + 1]))
            if "=" not in lines[start - 1] and length > FUNCTION_LINES_MAX \
                    and (path, name and name[1]) not in LONG_FUNCTIONS:
                yield start, "function", f"{length} lines, at most {FUNCTION_LINES_MAX}"
            start = None


def check_arrows(path, lines):
    folder = longest_prefix(path, ARROWS)
    if folder is None:
        return
    for number, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include "([^"]+)"', line)
        if not m or "/" not in m[1] or m[1].startswith(".."):
            continue
        target = longest_prefix(m[1], ARROWS)
        if target is None or target == folder:
            continue
        if not any(m[1].startswith(a + "/") for a in ARROWS[folder]
                   if target in (a, "formats/abi") or a.startswith(target + "/")):
            yield number, "arrow", f"{folder} must not include {m[1]}"


def check_table(path, lines):
    """The table of ARCHITECTURE.md; of what a row names only folders count, and cmd's is all of user space."""
    if path != "ARCHITECTURE.md":
        return
    known, seen = set(ARROWS).union(*ARROWS.values()), set()
    for number, line in enumerate(lines, 1):
        m = re.match(r"\| ([a-z/-]+?)(?:/\*)? \| (.+) \|$", line)
        if not m or m[1] not in ARROWS:
            continue
        seen.add(m[1])
        named = {name for name in re.split(r", | and ", m[2]) if name in known}
        if m[1] != "cmd" and named != set(ARROWS[m[1]]):
            yield number, "table", f"{m[1]} may include {', '.join(sorted(ARROWS[m[1]])) or 'nothing'}"
    if seen != set(ARROWS):
        yield 1, "table", f"no row for {', '.join(sorted(set(ARROWS) - seen))}"


def check_part_arrows(path, lines):
    folder, *rest = path.split("/")
    if folder not in PART_ARROWS or len(rest) < 2:
        return
    allowed = PART_ARROWS[folder].get(rest[0])
    for number, line in enumerate(lines, 1):
        m = re.match(rf'\s*#\s*include "(?:{folder}/|(?=arch/))([^"]+)"', line)
        if m and m[1].split("/")[0] not in [rest[0], *(allowed or [])]:
            yield number, "part", f"{folder}/{rest[0]} must not include {folder}/{m[1]}"
    if allowed is None:
        yield 1, "part", f"{folder}/{rest[0]} has no arrows in PART_ARROWS"


def check_arch(path, lines):
    if not path.startswith(("kmod/", "engine/")) or path.startswith(ARCH_FOLDERS):
        return
    for number, line in enumerate(lines, 1):
        if m := ARCH_TEXT.search(line):
            yield number, "arch", f"'{m[0]}' belongs into {path.split('/')[0]}/arch"


# Of engine/, what no firing enters: it keeps the kernel's hardening (kmod/Kbuild).
CONTROL_FOLDERS = ("engine/control/", "engine/load/", "engine/lower/")


def check_control(path, lines):
    if not path.startswith(CONTROL_FOLDERS) or not path.endswith(".c"):
        return
    for number, line in enumerate(lines, 1):
        if "__probe_ctx" in line:
            yield number, "control", "a function of probe context belongs into engine/run or engine/memory"


def check_todo(path, lines):
    for number, line in enumerate(lines, 1):
        if "TODO(" + "now)" in line:
            yield number, "todo", "marked to be done at once"


def check_sorted(path, lines):
    text = "\n".join(lines)
    for name in re.findall(r"\bbsearch\([^,]*, (\w+),", text):
        table = re.search(rf"\b{name}\[\] = {{(.*?)}};", text, re.DOTALL)
        texts = re.findall(r'"([^"]*)"', table[1]) if table else []
        if texts != sorted(set(texts)):
            yield text[:table.start()].count("\n") + 1, "sorted", f"{name} is not sorted, or has a text twice"


def check_tests_named(path, lines):
    """Of a CMakeLists.txt: the files of tests beside it that it does not name."""
    if pathlib.PurePosixPath(path).name != "CMakeLists.txt":
        return
    text = "\n".join(lines)
    if re.search(r"GLOB .*\*_test\.cpp", text):
        return
    named = set(re.split(r"[\s()]+", text))
    folder = (ROOT / path).parent
    for test in sorted(folder.rglob("*_test.cpp")):
        name = str(test.relative_to(folder))
        nearest = next(f for f in test.parents if (f / "CMakeLists.txt").is_file())
        if nearest == folder and name not in named:
            yield 1, "test", f"{name} is not named, so it is not built"


CHECKS = [check_spdx, check_size, check_functions, check_arrows, check_table, check_part_arrows, check_arch, check_control, check_todo, check_sorted, check_tests_named]


def findings(path, text):
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    code = pathlib.PurePosixPath(path).suffix in CODE
    for check in CHECKS:
        if check in (check_functions, check_arrows, check_part_arrows, check_arch) and not code:
            continue
        for number, rule, message in check(path, lines):
            yield f"{path}:{number}: {rule}: {message}", rule


def part_of(path):
    """The sub-folder that a file lies in; one beside them stands for itself, header and source as one."""
    folder, name, *deeper = path.split("/")
    return f"{folder}/{name}" if deeper else f"{folder}/{name.split('.')[0]}"


def circles(texts):
    """Of {path: text}: the includes between parts of a folder that some way of includes leads back over."""
    lines = {}  # (from, to) -> where
    for path, text in texts.items():
        for number, line in enumerate(text.split("\n"), 1):
            m = re.match(r'\s*#\s*include "([^"/]+)(/[^"]+)"', re.sub(r'"(?=arch/)', '"kmod/', line))
            if m and m[1] == path.split("/")[0] and part_of(path) != part_of(m[1] + m[2]):
                lines.setdefault((part_of(path), part_of(m[1] + m[2])), []).append((path, number, m[1] + m[2]))

    def reached(start):
        found, waiting = set(), [start]
        while waiting:
            new = {b for a, b in lines if a == waiting[-1]} - found
            waiting.pop()
            found |= new
            waiting += new
        return found

    folders = {path.rsplit("/", 1)[0] for path in texts}
    for (a, b), places in sorted(lines.items()):
        if a in reached(b) and {a, b} & folders:
            for path, number, target in places:
                yield f"{path}:{number}: circle: {target} leads back to {a}"


FUNCTION = r"^(?!static\b|typedef\b|return\b|else\b|[#}])[a-z_][\w\s*]*?\b(\w+)\(([^;{}]*)\)[\w\s]*"


def declared_elsewhere(texts):
    """Of {path: text}: where a header declares a function that its sub-folder does not define."""
    def functions(path, end):
        text = re.sub(r"/\*.*?\*/|//[^\n]*|__attribute__\(\(.*?\)\)", lambda m: re.sub(r"[^\n]", "", m[0]), texts[path], flags=re.DOTALL)
        return [(text.count("\n", 0, m.start(1)) + 1, m[1]) for m in re.finditer(FUNCTION + end, text, re.MULTILINE)]

    mine = [path for path in texts if path.startswith(("engine/", "kmod/"))]
    defined = {(part_of(path), name) for path in mine if path.endswith((".c", ".cpp")) for _, name in functions(path, r"\{")}
    for path in mine:
        if path.endswith(".h") and part_of(path) not in ("engine/api", "kmod/include"):
            for number, name in functions(path, ";"):
                if (part_of(path), name) not in defined:
                    yield f"{path}:{number}: declared: {name}() is not defined in {part_of(path)}"


def tracked(root):
    """Git's files below `root`; where there is no git or no repository, all but git's own and what is made."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    if shutil.which(command[0]):
        out = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if out.returncode == 0:
            return sorted(set(out.stdout.split("\n")) - {""})
    paths = [p.relative_to(root) for p in pathlib.Path(root).rglob("*") if p.is_file()]
    return sorted(str(p) for p in paths if p.parts[0] != ".git" and not p.parts[0].startswith("build")
                  and "__pycache__" not in p.parts)


def self_test():
    spdx = "// SPDX-License-Identifier: Apache-2.0\n"
    wrong = {
        "spdx": ("base/a.cpp", "int x;\n"),
        "size": ("base/a.cpp", spdx + "int x;\n" * 800),
        "function": ("base/a.cpp", spdx + "int f() {\n" + "    g();\n" * 70 + "}\n"),
        "arrow": ("base/a.cpp", spdx + '#include "formats/trace/reader.hpp"\n'),
        "part": ("analyze/decode/a.cpp", spdx + '#include "analyze/print/text.hpp"\n'),
        "arch": ("kmod/providers/a.c", spdx + "f(regs->ip);\n"),
        "table": ("ARCHITECTURE.md", spdx + "| base | formats |\n"),
        "todo": ("base/a.cpp", spdx + "// TODO(" + "now): x\n"),
        "sorted": ("kmod/a.c", spdx + 'char *t[] = {\n\t"b",\n\t"a",\n};\nbsearch(x, t, 2, 8, f);\n'),
        "test": ("tests/unit/analyze/CMakeLists.txt", "# SPDX-License-Identifier: Apache-2.0\n"),
    }
    bad = [rule for rule, (path, text) in wrong.items()
           if rule not in {r for _, r in findings(path, text)}]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("base/a.cpp", ".git/objects/pack", "build/a.o", "tests/__pycache__/a.pyc"):
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.touch()
        if tracked(folder) != ["base/a.cpp"]:
            bad.append("tracked")
    one_way = {"base/a/x.hpp": '#include "base/b/y.hpp"\n', "base/b/y.hpp": '#include "base/c.hpp"\n', "base/c.hpp": ""}
    if list(circles(one_way)) or len(list(circles({**one_way, "base/c.hpp": '#include "base/a/x.hpp"\n'}))) != 3:
        bad.append("circle")
    rooms = {"engine/run/x.h": "/* f(); */\nbool\ndbk_f(int a,\n      int b);\n", "engine/api/x.h": "void dbk_f(void);\n",
             "engine/run/x.c": "static int g(void)\n{\n\tdbk_f(1, 2);\n}\n"}
    there = "__probe_ctx __attribute__((__cold__)) bool dbk_f(int a, int b)\n{\n"
    if list(declared_elsewhere({**rooms, "engine/run/y.c": there})) or len(list(declared_elsewhere({**rooms, "engine/memory/x.c": there}))) != 1:
        bad.append("declared")
    if not any("must not" in line for line, _ in findings(
            "engine/sim/a.cpp", spdx + '#include "live/process/target.hpp"\n')):
        bad.append("arrow to a sub-folder")
    of_arch = ["#include <asm/tsc.h>", "case __NR_read:", "frame->regs->ip", "state->orig_ax", "rdtsc()", "asm volatile(", '#include "kmod/arch/x86/a.h"']
    of_arch += ["#ifdef CONFIG_X86_64", "{ \"rax\", \"eax\" },", "/* of %rip */", "* On x86-64", "as __x64_sys_read", "DBK_CALL_I386", "i386 or x32"]
    of_all = ["#include <asm/irq_regs.h>", ".regs = regs", "frame->sp", "f(regs);", '#include "arch/a.h"', "regs[insn->r1]", "0x86e18aa3, 0xeax32"]
    if [[bool(list(check_arch(path, [text]))) for text in of_arch + of_all] for path in ("kmod/host/a.c", "engine/load/a.c")] \
            != [[True] * len(of_arch) + [False] * len(of_all)] * 2 \
            or any(list(check_arch(path, of_arch)) for path in ("kmod/arch/x86/a.c", "engine/arch/a_x86_64.c", "engine/sim/a.cpp")):
        bad.append("arch")
    if not list(check_control("engine/control/a.c", ["__probe_ctx void f(void)"])) or list(check_control("engine/run/a.c", ["__probe_ctx"])):
        bad.append("control")
    if not any("must not" in line for line, _ in findings("kmod/a.c", spdx + '#include "engine/run/fire.h"\n')):
        bad.append("arrow past a folder's own api")
    # Both would be a circle: the table itself has none.
    graph = {a: set(to) & set(ARROWS) for a, to in ARROWS.items()}
    while done := {a for a, to in graph.items() if not to}:
        graph = {a: to - done for a, to in graph.items() if a not in done}
    if graph:
        bad.append(f"circle in ARROWS: {sorted(graph)}")
    right = [line for line, _ in findings(
        "base/a.cpp", spdx + "int f() {\n" + "    g();\n" * 68 + "}\n" + '#include "base/b.hpp"\n')]
    if not any("must not" in line for line, _ in findings("kmod/include/a.h", spdx + '#include "arch/a.h"\n')):
        bad.append("arrow to the processor's headers")
    for rule in bad:
        print(f"self-test: rule {rule} found nothing wrong in something wrong")
    for line in right:
        print(f"self-test: found something wrong in something right: {line}")
    return 1 if bad or right else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", nargs="?", default=".")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    count = files = 0
    texts = {}
    for path in tracked(options.root):
        full = pathlib.Path(options.root, path)
        if not (is_source(path) or path == "ARCHITECTURE.md") or not full.is_file():
            continue
        files += 1
        text = full.read_text(errors="replace")
        if full.suffix in CODE and longest_prefix(path, ARROWS):
            texts[path] = text
        for line, _ in findings(path, text):
            print(line)
            count += 1
    for line in [*circles(texts), *declared_elsewhere(texts)]:
        print(line)
        count += 1
    print(f"lint: {files} files, {count} findings")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
