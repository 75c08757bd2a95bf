#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads DOF as the strictest of its readers would: a kernel that believes nothing.

    strict_dof.py FILE...

Written from the published layout and shares nothing with formats/dof: numbers stand here a second time, on purpose.
Prints one line per violation and ends with 1 if there was any. Sections after `loadsz` are passed over, as a kernel
never sees them.
"""

import struct
import sys

# Section type: (alignment, entry size, name). Types of Daybreak's own must not be loadable.
LAYOUT = {
    3: (8, 0, "ecbdesc"), 4: (4, 24, "probedesc"), 5: (8, 32, "actdesc"), 6: (4, 0, "difohdr"), 7: (4, 4, "dif"),
    8: (1, 0, "strtab"), 9: (4, 20, "vartab"), 10: (8, 24, "reltab"), 12: (4, 0, "urelhdr"), 13: (4, 0, "krelhdr"),
    14: (8, 16, "optdesc"), 19: (8, 8, "inttab"), 21: (4, 12, "xltab"),
}
NOT_LOADABLE = {1, 2, 20}
NONE = 0xFFFFFFFF
LOAD = 1
ACTIONS = {1, 2, 3, 4, 5, 6, 7, 8, 0x101, 0x102, 0x103, 0x104, 0x105, 0x201, 0x202, 0x203, 0x204, 0x401, 0x402, 0x403,
           0x501, 0x502, 0x503, 0x601, 0x602, 0x603} | set(range(0x701, 0x70A))
CAPTURES = {0x4402, 0x4403, 0x4404}
ACTIONS |= {0x4401} | CAPTURES  # Daybreak's own: snapshot(), capture(), formats/abi/dof.md
KEY_ACTIONS = {1, 0x101, 0x102, 0x103, 0x104, 0x105, 0x401, 0x402, 0x403}
LIBRARY = range(46, 46 + 30)
OPTION_MAX = 29
SUBROUTINE_MAX = 49  # 45, and those that Daybreak adds after Oracle's
TWO_SOURCES = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 46}
BRANCHES = set(range(17, 28))
LOADS = set(range(28, 35)) | set(range(64, 78))
STORES = set(range(60, 64))
VARIABLE_READS = {41, 44, 52, 53, 56}
VARIABLE_WRITES = {42, 45, 54, 55, 57}


class Violation(Exception):
    """What is wrong with an image."""


def need(held, text):
    if not held:
        raise Violation(text)


class Image:
    """One DOF image; check() raises Violation at the first thing that a strict reader refuses."""

    def __init__(self, data):
        self.data = data
        self.sections = []

    def check(self):
        self.check_header()
        self.check_sections()
        for index, section in enumerate(self.sections):
            kind = section["type"]
            if kind == 3:
                self.check_ecb(index)
            elif kind == 14:
                self.check_options(index)

    def check_header(self):
        need(len(self.data) >= 64, "shorter than its header")
        ident = self.data[:16]
        need(ident[:4] == b"\x7fDOF", "magic")
        need(ident[4] == 2, f"data model {ident[4]}")
        need(ident[5] == 1, f"encoding {ident[5]}")
        need(ident[6] in (1, 2), f"version {ident[6]}")
        need(ident[7] == 2, f"DIF version {ident[7]}")
        self.registers, self.tuples = ident[8], ident[9]
        need(self.registers <= 8 and self.tuples <= 8, f"asks for {self.registers} and {self.tuples} registers")
        need(ident[10:] == bytes(6), "ident is not zero after its fields")
        (flags, header, section, self.count, self.offset, self.load, self.file, pad) = struct.unpack_from(
            "<IIIIQQQQ", self.data, 16)
        need(flags == 0 and pad == 0, "flags or padding of the header")
        need(header == 64 and section == 32, f"sizes {header} and {section}")
        need(self.load <= self.file == len(self.data), f"sizes {self.load}, {self.file}, {len(self.data)}")
        need(self.offset % 8 == 0 and self.offset + 32 * self.count <= self.load, "section table")

    def check_sections(self):
        taken = [(0, self.offset + 32 * self.count, "header")]
        for index in range(self.count):
            kind, align, flags, entry, offset, size = struct.unpack_from("<IIIIQQ", self.data, self.offset + 32 * index)
            self.sections.append({"type": kind, "entry": entry, "offset": offset, "size": size, "flags": flags})
            name = f"section {index}, type {kind:#x}"
            need(flags & ~LOAD == 0, f"{name}: flags {flags:#x}")
            need(align and align & (align - 1) == 0 and offset % align == 0, f"{name}: alignment {align}, at {offset}")
            need(not entry or size % entry == 0, f"{name}: {size} bytes of entries of {entry}")
            if not flags & LOAD:
                need(kind in NOT_LOADABLE or kind > 0xFFFF, f"{name}: must be loadable")
                need(offset >= self.load and offset + size <= self.file, f"{name}: does not lie after what is loaded")
                continue
            need(kind in LAYOUT, f"{name}: unknown and loadable")
            need((align, entry) == LAYOUT[kind][:2], f"{name}: alignment {align}, entries of {entry}")
            need(offset + size <= self.load, f"{name}: ends after what is loaded")
            if size:
                taken.append((offset, offset + size, name))
        taken.sort()
        for (_, end, name), (start, _, other) in zip(taken, taken[1:]):
            need(end <= start, f"{name} and {other} overlap")

    def bytes_of(self, index, kind, user):
        need(index < len(self.sections), f"{user}: names section {index}")
        section = self.sections[index]
        need(section["type"] == kind, f"{user}: section {index} has type {section['type']:#x}, not {kind:#x}")
        need(section["flags"] & LOAD, f"{user}: section {index} is not loaded")
        return self.data[section["offset"]:section["offset"] + section["size"]]

    def string(self, table, offset, user):
        data = self.bytes_of(table, 8, user)
        need(data[-1:] == b"\0", f"{user}: string table {table} has no end")
        need(offset < len(data), f"{user}: string at {offset} of {len(data)}")
        return data[offset:data.index(b"\0", offset)].decode()

    def check_ecb(self, index):
        data = self.bytes_of(index, 3, "an enabling")
        need(len(data) == 24, f"enabling {index} has {len(data)} bytes")
        probes, predicate, actions, pad, uarg = struct.unpack("<IIIIQ", data)
        need(pad == 0 and uarg in (0, 1), f"enabling {index}: padding {pad}, uarg {uarg}")
        names = self.bytes_of(probes, 4, f"enabling {index}")
        need(len(names) == 24, f"probe description {probes} has {len(names)} bytes")
        table, *parts, _ = struct.unpack("<6I", names)
        for part in parts:
            need(len(self.string(table, part, f"probe description {probes}")) < 128, "a name is too long")
        if predicate != NONE:
            self.check_difo(predicate, f"predicate of {index}")
        if actions != NONE:
            self.check_actions(actions)

    def check_actions(self, index):
        data = self.bytes_of(index, 5, "an enabling")
        previous = []
        for at in range(0, len(data), 32):
            difo, table, kind, count, arg, uarg = struct.unpack_from("<IIIIQQ", data, at)
            name = f"action {at // 32} of section {index}"
            need(kind in ACTIONS, f"{name}: kind {kind:#x}")
            need(uarg != 0 or kind in CAPTURES, f"{name}: no statement")  # 0: of option context
            if table != NONE:
                self.string(table, arg, name)
            size = self.check_difo(difo, name) if difo != NONE else None
            if kind == 5:
                need(table == NONE and arg in LIBRARY and difo != NONE, f"{name}: library action {arg}")
            if kind & 0xFF00 == 0x700:
                need(0 < count <= len(previous), f"{name}: a tuple of {count} after {len(previous)} actions")
                first_kind, first_size = previous[-count]
                need(first_kind == 1 and first_size == 8, f"{name}: its tuple does not begin with an id")
                need(all(member in KEY_ACTIONS for member, _ in previous[-count:]), f"{name}: a member is not a value")
                need(kind == 0x701 or difo != NONE, f"{name}: no value")
            else:
                need(count == 0, f"{name}: a tuple of {count}")
            previous.append((kind, size))

    def check_options(self, index):
        data = self.bytes_of(index, 14, "the options")
        for at in range(0, len(data), 16):
            option, table, value = struct.unpack_from("<IIQ", data, at)
            need(option <= OPTION_MAX, f"option {option:#x} does not exist")
            need(table == NONE, f"option {option} has a text")
            need(value != (1 << 64) - 2, f"option {option} is set to unset")

    def check_difo(self, index, user):
        """Checks a DIF object; returns the size of what it returns."""
        data = self.bytes_of(index, 6, user)
        need(len(data) >= 12 and len(data) % 4 == 0, f"difohdr {index} has {len(data)} bytes")
        kind, _, flags, pad, size = struct.unpack_from("<BBBBI", data)
        need(kind in (0, 1) and flags in (0, 1) and pad == 0, f"difohdr {index}: type {kind}, flags {flags}")
        links = {}
        order = []
        for link in struct.unpack_from(f"<{(len(data) - 8) // 4}I", data, 8):
            need(link < len(self.sections), f"difohdr {index}: links to section {link}")
            of = self.sections[link]["type"]
            need(of in (7, 19, 8, 9, 21, 12, 13) and of not in links, f"difohdr {index}: links to type {of:#x}")
            links[of] = self.bytes_of(link, of, f"difohdr {index}")
            order.append((7, 19, 8, 9, 21, 12, 13).index(of))
        need(order == sorted(order) and 7 in links, f"difohdr {index}: its links are out of order")
        strings = links.get(8, b"")
        need(not strings or (strings[:1] == b"\0" and strings[-1:] == b"\0"), f"difohdr {index}: string table")
        self.check_variables(links.get(9, b""), strings, f"difohdr {index}")
        text = struct.unpack(f"<{len(links[7]) // 4}I", links[7])
        for pc, instruction in enumerate(text):
            self.check_instruction(instruction, pc, len(text), len(links.get(19, b"")) // 8, len(strings),
                                   f"difohdr {index}, instruction {pc} ({instruction:08x})")
        need(text and text[-1] >> 24 == 35, f"difohdr {index}: does not end in ret")
        return size

    @staticmethod
    def check_variables(table, strings, user):
        for at in range(0, len(table), 20):
            name, number, kind, scope, flags = struct.unpack_from("<IIBBH", table, at)
            need(name < len(strings), f"{user}: variable name at {name}")
            need(kind in (0, 1) and scope in (0, 1, 2) and flags <= 3, f"{user}: variable {number:#x}")
            need(number <= 0xFFFF and (scope == 0 or number >= 0x500), f"{user}: variable {number:#x} of scope {scope}")

    def check_instruction(self, word, pc, count, integers, strings, user):
        op, r1, r2, rd = word >> 24, word >> 16 & 0xFF, word >> 8 & 0xFF, word & 0xFF
        index = word >> 8 & 0xFFFF

        def register(*numbers):
            need(all(number < self.registers for number in numbers), f"{user}: a register that does not exist")

        def target(number):
            register(number)
            need(number != 0, f"{user}: writes to %r0")

        def zero(*fields):
            need(not any(fields), f"{user}: bits that must be 0")

        if op in TWO_SOURCES:
            register(r1, r2), target(rd)
        elif op in (13, 14):
            register(r1), target(rd), zero(r2)
        elif op in (15, 39):
            register(r1, r2), zero(rd)
        elif op == 16:
            register(r1), zero(r2, rd)
        elif op in BRANCHES:
            need(pc < word & 0xFFFFFF < count, f"{user}: branches backwards or out")
        elif op in LOADS:
            register(r1), target(rd), zero(r2)
        elif op in STORES:
            register(r1), target(rd), zero(r2)
        elif op == 35:
            register(rd), zero(r1, r2)
        elif op in (36, 50, 51):
            zero(r1, r2, rd)
        elif op == 37:
            need(index < integers, f"{user}: integer {index} of {integers}"), target(rd)
        elif op == 38:
            need(index < strings, f"{user}: string {index} of {strings}"), target(rd)
        elif op in (40, 43):
            need(r1 <= 0xFF, user), register(r2), target(rd)
        elif op in VARIABLE_READS:
            need(index >= 0x100, f"{user}: variable {index:#x}"), target(rd)
        elif op in VARIABLE_WRITES:
            need(index >= 0x500, f"{user}: writes the variable {index:#x}"), register(rd)
        elif op == 47:
            need(index <= SUBROUTINE_MAX, f"{user}: subroutine {index}"), target(rd)
        elif op in (48, 49):
            need(r1 in (0, 1), f"{user}: type {r1}"), register(r2, rd)
        elif op == 58:
            register(r1), target(rd), zero(r2)
        elif op == 59:
            register(r1, r2), target(rd)
        else:
            raise Violation(f"{user}: no such instruction")


def main():
    bad = 0
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            data = file.read()
        try:
            Image(data).check()
        except Violation as violation:
            print(f"{path}: {violation}")
            bad += 1
    return 1 if bad or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
