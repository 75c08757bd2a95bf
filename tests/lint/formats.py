#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of structures in the specifications of formats/ are what the headers of formats/abi/ declare.

A table is of a structure when its third column is "field of `struct NAME`":

    | at | bytes | field of `struct dbk_agg_entry` | meaning |
    |---|---|---|---|
    | 8 | 2 | action | of a field: its offset and its bytes |
    | 8 | 16 x 8 | drops | of an array: the number of its members x the bytes of each; so are fields of one size, by commas |
    | 4 | 1 | ident[4] | of a member of an array, or of several from it on |

  header   the structure that a header declares is as long as it says itself (DBK_ABI_SIZE)
  field    each row names fields, in order, where they are and as long as they are
  left     the rows have the whole structure
  missing  each structure has a table, but for those of NO_TABLE

Prints one line per finding, `file:line: rule: text`, then a count. Exit status 1 if any was found.
`--self-test` feeds each rule something wrong and fails if it is not found.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ABI = "formats/abi/"
BASIC = {"uint8_t": 1, "int8_t": 1, "char": 1, "uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8}
# Headers whose structures are in no file and no ring: a program that calls the device compiles ioctl.h, the others are memory that D sees.
NO_TABLES_OF = ("ioctl.h", "io.h", "packet.h")
# In the grammar of segment.md.
NO_TABLE = ("dbk_record_header", "dbk_tail_ref", "dbk_control_header", "dbk_control_time_base", "dbk_control_commit")


@dataclass
class Field:
    at: int
    each: int  # bytes of a member
    count: int  # 1: no array

    @property
    def bytes(self):
        return self.each * self.count


@dataclass
class Structure:
    path: str
    line: int
    fields: dict[str, Field]
    bytes: int
    align: int


def number(text, constants):
    text = text.strip()
    while text in constants:
        text = constants[text]
    return int(text.rstrip("uUlL"), 0)


def fields_of(body, known, constants):
    """Fields, bytes and alignment as a compiler lays them out."""
    fields, at, align = {}, 0, 1
    for declaration in re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL).split(";"):
        match = re.fullmatch(r"\s*(?:struct )?(\w+)\s+(.+?)\s*", declaration, re.DOTALL)
        if not match:
            continue
        kind = known.get(match[1])
        size, own_align = (kind.bytes, kind.align) if kind else (BASIC[match[1]],) * 2
        align = max(align, own_align)
        for name, dimension in re.findall(r"(\w+)(?:\[(.*?)\])?(?:,|$)", match[2]):
            at += -at % own_align
            fields[name] = Field(at, size, number(dimension, constants) if dimension else 1)
            at += fields[name].bytes
    return fields, at + -at % align, align


def structures(files):
    """Name -> Structure, of all headers; those that others include come first."""
    found = {}
    headers = {path: text for path, text in files.items() if path.startswith(ABI) and path.endswith(".h")}
    constants = dict(pair for text in headers.values() for pair in re.findall(r"#define (\w+)\s+(\w+)\b", text))
    waiting = [(path, text[:match.start()].count("\n") + 1, match[1], match[2]) for path, text in headers.items()
               for match in re.finditer(r"^struct (\w+) \{(.*?)^\};", text, re.DOTALL | re.MULTILINE)]
    while waiting:
        ready = [one for one in waiting if all(inner in found for inner in re.findall(r"struct (\w+) \w+", re.sub(r"/\*.*?\*/", "", one[3], flags=re.DOTALL)))]
        assert ready, f"structures without an end: {[one[2] for one in waiting]}"
        for path, line, name, body in ready:
            found[name] = Structure(path, line, *fields_of(body, found, constants))
        waiting = [one for one in waiting if one not in ready]
    return found


def pinned(files):
    return {name: int(size) for path, text in files.items() if path.startswith(ABI)
            for name, size in re.findall(r"DBK_ABI_SIZE\(struct (\w+), (\d+)\)", text)}


def tables(files):
    """Path, line of the heading, structure, and the cells of its rows with their lines."""
    for path, text in files.items():
        if not path.endswith(".md"):
            continue
        lines = text.split("\n")
        for heading, line in enumerate(lines):
            match = re.match(r"\| at \| bytes \| field of `struct (\w+)` \|", line)
            if not match:
                continue
            rows = []
            for at in range(heading + 2, len(lines)):
                if not lines[at].startswith("|"):
                    break
                rows.append((at + 1, [cell.strip() for cell in lines[at].split("|")[1:4]]))
            yield path, heading + 1, match[1], rows


def row_problem(cells, structure):
    """What is wrong with a row of fixed place and size, and where it ends."""
    at, names = int(cells[0]), [name.strip() for name in cells[2].split(",")]
    count, each = [int(part) for part in (cells[1] if " x " in cells[1] else "1 x " + cells[1]).split(" x ")]
    end, member = at + count * each, re.fullmatch(r"(\w+)\[(\d+)\]", cells[2])
    if member and member[1] in structure.fields:
        field = structure.fields[member[1]]
        place = field.at + int(member[2]) * field.each
        return ("" if place == at and end <= field.at + field.bytes else f"{cells[2]} is at {place}"), end
    for name in names:
        field = structure.fields.get(name)
        if field is None:
            return f"no field {name}", end
        if field.at != at:
            return f"{name} is at {field.at}", end
        length = count if len(names) == 1 else 1
        if field.bytes != length * each or (length > 1 and field.count != length) or (length == 1 and field.count > 1 and field.each > 1):
            return f"{name} has " + (f"{field.count} x {field.each}" if field.count > 1 and field.each > 1 else str(field.bytes)) + " bytes", end
        at += field.bytes
    return ("" if len(names) in (1, count) else f"{len(names)} fields, not {count}"), end


def check_header(files):
    known = structures(files)
    for name, size in pinned(files).items():
        if name in known and known[name].bytes != size:
            yield f"{known[name].path}:{known[name].line}: header: struct {name} has {known[name].bytes} bytes, not {size}"


def check_tables(files):
    known = structures(files)
    for path, heading, name, rows in tables(files):
        if name not in known:
            yield f"{path}:{heading}: field: no struct {name}"
            continue
        reached = 0
        for line, cells in rows:
            if reached >= known[name].bytes:
                break  # what follows the structure
            problem, end = row_problem(cells, known[name])
            if problem:
                yield f"{path}:{line}: field: {problem}"
            if int(cells[0]) > reached:
                yield f"{path}:{line}: left: nothing is said of byte {reached} of struct {name}"
            reached = end
        if reached < known[name].bytes:
            yield f"{path}:{heading}: left: nothing is said of byte {reached} of struct {name}"


def check_missing(files):
    described = {name for _, _, name, _ in tables(files)}
    for name, structure in structures(files).items():
        if name not in described and name not in NO_TABLE and Path(structure.path).name not in NO_TABLES_OF:
            yield f"{structure.path}:{structure.line}: missing: no table of struct {name}"


CHECKS = (check_header, check_tables, check_missing)


def findings(files):
    return [line for check in CHECKS for line in check(files)]


def self_test():
    header = ("#define N 3u\nstruct inner {\n\tuint32_t a, b; /* both */\n};\nstruct outer {\n\tchar name[8];\n\tuint16_t kind;\n\tuint16_t pad;\n"
              "\tstruct inner in;\n\tuint32_t counts[N];\n\tuint64_t last;\n};\nDBK_ABI_SIZE(struct inner, 8);\nDBK_ABI_SIZE(struct outer, 40);\n")
    head = "| at | bytes | field of `struct {}` | meaning |\n|---|---|---|---|\n"
    page = (head.format("inner") + "| 0 | 2 x 4 | a, b | both |\n\n" + head.format("outer") + "| 0 | 6 | name[0] | x |\n| 6 | 2 | name[6] | x |\n| 8 | 2 | kind | x |\n| 10 | 2 | pad | 0 |\n"
            "| 12 | 8 | in | x |\n| 20 | 3 x 4 | counts | x |\n| 32 | 8 | last | x |\n| 40 | more | text | x |\n")
    right = {ABI + "a.h": header, "formats/abi/a.md": page}
    wrong = (("header", ABI + "a.h", "outer, 40", "outer, 48"), ("field", "formats/abi/a.md", "| 8 | 2 | kind", "| 9 | 2 | kind"),
             ("field", "formats/abi/a.md", "3 x 4", "12"), ("field", "formats/abi/a.md", "3 x 4", "4 x 3"), ("field", "formats/abi/a.md", "2 x 4 | a, b", "8 | a, b"),
             ("field", "formats/abi/a.md", "name[6]", "name[7]"), ("field", "formats/abi/a.md", "| pad |", "| fill |"), ("field", "formats/abi/a.md", "`struct inner`", "`struct none`"),
             ("left", "formats/abi/a.md", "| 10 | 2 | pad | 0 |\n", ""), ("left", "formats/abi/a.md", "| 32 | 8 | last | x |\n| 40 | more | text | x |\n", ""),
             ("missing", "formats/abi/a.md", page[:page.index("\n\n")], ""))
    bad = [f"found something wrong in something right: {line}" for line in findings(right)]
    for rule, path, text, instead in wrong:
        assert text in right[path], text
        if not any(f": {rule}: " in line for line in findings({**right, path: right[path].replace(text, instead)})):
            bad.append(f"rule {rule} found nothing wrong with {instead!r} for {text!r}")
    for line in bad:
        print(f"self-test: {line}")
    return 1 if bad else 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = {str(path.relative_to(root)): path.read_text() for path in sorted((root / "formats").rglob("*")) if path.suffix in (".h", ".md")}
    found, count = findings(files), len(list(tables(files)))
    print("\n".join([*found, f"formats: {count} tables, {len(found)} findings"]))
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
