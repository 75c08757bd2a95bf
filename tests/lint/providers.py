#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/providers.md is what the tables of the stable providers say.

    tests/lint/providers.py ROOT            checks
    tests/lint/providers.py --write ROOT    writes it
    tests/lint/providers.py --self-test     changes a table and fails if that is not found

The tables are formats/abi/probes/*.h; args[] are those of the declarations in compiler/dlib/*.d, costs the targets of
tests/perf/cost_rows.py.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "perf"))
from cost_rows import ROWS

# What stands on a tracepoint, on a function, and with a translator.
COSTS = ("send-sdt", "send-udp", "send-udp-port", "listen-tcp", "read-io", "wake-sched", "wake-off-cpu")
TABLES, LIBRARIES, PAGE = "formats/abi/probes", "compiler/dlib", "docs/providers.md"
COUNTERS = "formats/abi/counters.h"
KERNELS = ("6.1", "6.12")
KINDS = {"TRACEPOINT": "tracepoint", "ENTRY": "call of", "RETURN": "return of"}


@dataclass
class Probe:
    places: list[str] = field(default_factory=list)
    kernels: set[str] = field(default_factory=set)
    reason: str = ""


def calls(text, names):
    """Macro, arguments: of each use of a macro, its arguments divided at the commas of its own level."""
    for match in re.finditer(rf"\b({'|'.join(names)})\(", text):
        depth, quoted, parts, start = 1, False, [], match.end()
        for at in range(match.end(), len(text)):
            c = text[at]
            quoted ^= c == '"'
            if quoted:
                continue
            depth += (c == "(") - (c == ")")
            if depth == 0 or (depth == 1 and c == ","):
                parts.append(" ".join(text[start:at].split()))
                start = at + 1
            if depth == 0:
                break
        yield match[1], parts


def kernels_of(since):
    if not since.endswith("+"):
        return {since}
    return set(KERNELS[KERNELS.index(since[:-1]):])


def read_table(text):
    """Function, with its module if that is not vmlinux, and name of each probe, in order; what is known of it."""
    probes = {}
    for macro, parts in calls(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), ("DBK_PLACE", "DBK_CODED", "DBK_ABSENT")):
        quoted = [part.strip('"') for part in parts]
        if macro == "DBK_ABSENT":
            probes.setdefault(("", quoted[1]), Probe()).reason = "".join(re.findall(r'"([^"]*)"', parts[2]))
            continue
        module, function, name, since, kind, where = quoted[1:7] if macro == "DBK_PLACE" else ["vmlinux", "", *quoted[1:5]]
        for one in where.split():
            named = one if function == "*" else function
            probe = probes.setdefault((named if module == "vmlinux" else f"{module}:{named}", name), Probe())
            place = f"{KINDS[kind]} `{one}`"
            if place not in probe.places:
                probe.places.append(place)
            probe.kernels |= kernels_of(since)
    return probes


def declared(libraries, provider):
    """Probe's name -> types of its args[], as its declaration has them."""
    types = {}
    for text in libraries:
        for body in re.findall(rf"^provider {provider} {{(.*?)^}};", text, re.DOTALL | re.MULTILINE):
            for name, own, translated in re.findall(r"probe (\w+)\(([^;]*?)\)(?:\s*:\s*\(([^;]*)\))?;", body):
                types[name.replace("__", "-")] = [typed(part) for part in split(translated or own)]
    return types


def split(parameters):
    return [] if parameters.strip() in ("", "void") else re.split(r",\s*(?![^()]*\))", parameters)


def typed(parameter):
    """Without the parameter's name, if that is a letter."""
    return re.sub(r"(?<=[\s*])[A-Z]$", "", " ".join(parameter.split())).rstrip()


def about(text, provider):
    """What the comment that begins a table says: of the provider in a line, and its other paragraphs."""
    comment = re.search(rf"provider {provider}: (.*?)\s*\*/", text, re.DOTALL)
    lines = [re.sub(r"^ \* ?", "", line) for line in comment[1].split("\n")]
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n")]


def types_of(libraries):
    """Name, members of each type that args[] and the like have; a member is its declaration and its comment."""
    for text in libraries:
        for body, name in re.findall(r"^typedef struct \w+ {\n(.*?)^} (\w+);", text, re.DOTALL | re.MULTILINE):
            if not name.startswith("dbk_"):
                yield name, re.findall(r"^\t(.*?);[ \t]*(?:/\* (.*?) \*/)?$", body, re.MULTILINE)


def plain(text):
    """What would be a tag of HTML is code."""
    return re.sub(r"<(\w+)>", r"`<\1>`", text)


def counters(text):
    """Event, the least N, whether it happens in user mode."""
    return re.findall(r"X\((\w+), PERF_\w+, PERF_\w+, (\d+), DBK_COUNTED_(ANY|NOT_USER)\)", text)


def page(files):
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# The stable providers", "",
             "Made by `tests/lint/providers.py` of the tables in `formats/abi/probes/` and the declarations in `compiler/dlib/`;",
             "how they work is in `docs/design/0083-providers-as-tables.md`, what the other providers have in `docs/probes.md`.", "",
             "The module is `vmlinux` where no other is said. Stability is Evolving/Evolving/Common, where module and function are not named (they are the kernel's: Private), of arguments Evolving/Evolving/ISA. A probe that is off costs",
             "nothing; one that is on costs what its place does (a tracepoint, or a function hooked by ftrace), a condition, and what the",
             "clause reads. Instructions of a firing with its record, on 6.1, over the same work untraced: what `tests/perf/record-cost` allows, 2 % above",
             "what was measured:", "", "| clause | instructions |", "|---|---|"]
    for row in ROWS:
        if row.name in COSTS:
            lines.append(f"| `{row.program}` | {row.target / row.fires:.0f} |")
    lines.append("")
    libraries = [text for path, text in sorted(files.items()) if path.startswith(LIBRARIES) and path.endswith(".d")]
    nowhere = []
    for path, text in sorted(files.items()):
        if not path.startswith(TABLES + "/") or path.endswith(("/all.h", "/end.h")):
            continue
        provider = Path(path).stem
        if not re.search(r"DBK_(PLACE|CODED)\(\w", text):
            nowhere += [f"- `{provider}{':' + name if name else ''}`: {probe.reason}."
                        for (_, name), probe in read_table(text).items()]
            continue
        probes, types = read_table(text), declared(libraries, provider)
        first, *others = about(text, provider)
        lines += [f"## {provider}", "", first[0].upper() + first[1:].removesuffix(".") + ".", ""]
        for paragraph in others:
            lines += [plain(paragraph), ""]
        lines += ["| probe | kernels | args[] | fires at |", "|---|---|---|---|"]
        for (function, name), probe in probes.items():
            if not probe.places:
                continue
            shown = f"`{function}:{name}`" if function else f"`{name}`"
            arguments = ", ".join(f"`{one}`" for one in types.get(name, [])) or "none"
            kernels = ", ".join(kernel for kernel in KERNELS if kernel in probe.kernels)
            lines.append(f"| {shown} | {kernels} | {arguments} | {', '.join(probe.places)} |")
        lines.append("")
        absent = [f"- `{name}`: {probe.reason}." for (_, name), probe in probes.items() if probe.reason]
        lines += ["Not there:", "", *absent, ""] if absent else []
    lines += ["## cpc", "", "`cpc:::EVENT-MODE-N` fires at each N-th EVENT on a CPU; MODE is where it happens. Hardware's are as the machine has them.",
              "", "| EVENT | MODE | least N |", "|---|---|---|"]
    for event, least, modes in counters(files[COUNTERS]):
        lines.append(f"| `{event}` | `kernel`, {'`user`, ' if modes == 'ANY' else ''}`all` | {least} |")
    lines += ["", "## Types", "", "What `args[]`, `curpsinfo`, `curlwpsinfo`, `curcpu` and `fds[]` are, or point to.", ""]
    for name, members in types_of(libraries):
        lines += [f"### {name}", "", "| member | is |", "|---|---|"]
        lines += [f"| `{member}` | {plain(meaning)} |" for member, meaning in members]
        lines.append("")
    lines += ["## Not there", "", *nowhere, ""] if nowhere else []
    return "\n".join(lines[:-1]) + "\n"


def read(root):
    paths = [*root.glob(TABLES + "/*.h"), *root.glob(LIBRARIES + "/*.d"), root / PAGE, root / COUNTERS]
    return {str(path.relative_to(root)): path.read_text() for path in paths if path.exists()}


def self_test(root):
    files = read(root)
    table = f"{TABLES}/sched.h"
    changed = dict(files)
    changed[table] = files[table].replace('"surrender"', '"yield"')
    if page(changed) == files[PAGE]:
        print("providers.py: a renamed probe was not found", file=sys.stderr)
        return 1
    return 0


def main():
    root = Path(sys.argv[-1]) if Path(sys.argv[-1]).is_dir() else Path(__file__).resolve().parents[2]
    if "--self-test" in sys.argv:
        return self_test(root)
    files = read(root)
    text = page(files)
    bare = [f"{name}.{member}" for name, members in types_of(text for path, text in files.items() if path.endswith(".d"))
            for member, meaning in members if not meaning]
    if bare:
        print(f"{LIBRARIES}: no comment says what these are: {', '.join(bare)}")
        return 1
    if "--write" in sys.argv:
        (root / PAGE).write_text(text)
    elif files.get(PAGE) != text:
        print(f"{PAGE}: is not what the tables say; tests/lint/providers.py --write . makes it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
