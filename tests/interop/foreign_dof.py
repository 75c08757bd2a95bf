# SPDX-License-Identifier: Apache-2.0
"""DOF as other ports' compilers lay it out, made from the published format; nothing of it is copied.

A Dialect has the numbers that ports do not share, a Layout what a compiler is free to choose.
"""

import struct
from dataclasses import dataclass, field

NONE = 0xFFFFFFFF
ALIGN = {3: 8, 4: 4, 5: 8, 6: 4, 7: 4, 8: 1, 9: 4, 14: 8, 19: 8}
ENTRY = {3: 0, 4: 24, 5: 32, 6: 0, 7: 4, 8: 0, 9: 20, 14: 16, 19: 8}
BUILTINS = {"arg0": 0x106, "pid": 0x116, "execname": 0x118, "probename": 0x115}


@dataclass(frozen=True)
class Dialect:
    name: str
    library: int
    subroutines: dict
    dynamic_tracemem: tuple  # (kind, arg) of the first and of the second action

    def llquantize(self, factor, low, high, steps):
        if self.name == "oracle":
            return steps << 48 | high << 32 | low << 16 | factor
        return factor << 48 | low << 32 | high << 16 | steps


COMMON = {"strlen": 12, "strjoin": 23}
ORACLE = Dialect("oracle", 46, COMMON, ((6, 2), (6, 3)))
ILLUMOS = Dialect("illumos", 49, COMMON | {"toupper": 44, "strtoll": 48}, ((6, 0), (7, 0)))
FREEBSD = Dialect("freebsd", 55, COMMON | {"toupper": 44, "strtoll": 54}, ((6, 0), (7, 0)))
OPENDTRACE = Dialect("opendtrace", 54, COMMON | {"toupper": 44, "strtoll": 53}, ((6, 0), (7, 0)))
DIALECTS = [ORACLE, ILLUMOS, FREEBSD, OPENDTRACE]


@dataclass(frozen=True)
class Layout:
    """What a compiler is free to choose."""

    version: int = 1
    dif_version: int = 2
    reverse: bool = False  # sections in the opposite order, so that all references lead forward
    gap: int = 0  # bytes between sections
    section_gap: int = 0  # bytes between header and section table
    variables: bool = True  # variable tables
    statements: bool = True  # uarg is a pointer; or 0 throughout
    comments: bool = False  # sections that are not loadable


class Writer:
    """One image."""

    def __init__(self, dialect, layout):
        self.dialect, self.layout = dialect, layout
        self.sections = []  # [type, content with references as ("ref", index)]
        self.strings = bytearray(b"\0")
        self.table = self.add(8, [])

    def add(self, kind, parts):
        self.sections.append((kind, parts))
        return len(self.sections) - 1

    def string(self, text):
        at = len(self.strings)
        self.strings += text.encode() + b"\0"
        return at

    def difo(self, words, integers=(), strings=(), size=8, is_string=False, variables=()):
        table = bytearray(b"\0")
        places = []
        for text in strings:
            places.append(len(table))
            table += text.encode() + b"\0"
        words = [word(places) if callable(word) else word for word in words]
        links = [("ref", self.add(7, [struct.pack(f"<{len(words)}I", *words)]))]
        if integers:
            links.append(("ref", self.add(19, [struct.pack(f"<{len(integers)}Q", *integers)])))
        entries = b""
        if self.layout.variables:
            for name, number in variables:
                entries += struct.pack("<IIBBHBBBBI", len(table), number, 1, 0, 1, 0, 1, 0, 0, 8)
                table += name.encode() + b"\0"
        if len(table) > 1:
            links.append(("ref", self.add(8, [bytes(table)])))
        if entries:
            links.append(("ref", self.add(9, [entries])))
        kind = struct.pack("<BBBBI", 1, 0, 1, 0, 256) if is_string else struct.pack("<BBBBI", 0, 1, 0, 0, size)
        return self.add(6, [kind, *links])

    def integer(self, value, size=8):
        return self.difo([0x25000001, 0x23000001], [value], size=size)

    def text(self, value):
        return self.difo([lambda at: 0x26000001 | at[0] << 8, 0x23000001], strings=[value], is_string=True)

    def builtin(self, name, size=8, is_string=False):
        number = BUILTINS[name]
        return self.difo([0x29000001 | number << 8, 0x23000001], size=size, is_string=is_string,
                         variables=[(name, number)])

    def call(self, subroutine, *texts, size=8, is_string=False):
        """Of string constants."""
        words = []
        for number in range(len(texts)):
            words += [lambda at, n=number: 0x26000001 | at[n] << 8, 0x30010001]
        words = [*words, 0x2F000001 | self.dialect.subroutines[subroutine] << 8, 0x33000000, 0x23000001]
        return self.difo(words, strings=texts, size=size, is_string=is_string)

    def ecb(self, probe, actions, predicate=None, uarg=0):
        """actions: (statement, kind, difo or None, arg, tuple count, text or None)."""
        names = [self.string(part) for part in probe.split(":")]
        description = self.add(4, [("ref", self.table), struct.pack("<5I", *names, 0)])
        parts = []
        for statement, kind, difo, arg, count, text in actions:
            parts.append(("ref", difo) if difo is not None else struct.pack("<I", NONE))
            parts.append(("ref", self.table) if text is not None else struct.pack("<I", NONE))
            pointer = 0x55550000 + 16 * statement if self.layout.statements else 0
            parts.append(struct.pack("<IIQQ", kind, count, self.string(text) if text is not None else arg, pointer))
        self.add(3, [("ref", description), ("ref", predicate) if predicate is not None else struct.pack("<I", NONE),
                     ("ref", self.add(5, parts)), struct.pack("<IQ", 0, uarg)])

    def options(self, values):
        self.add(14, [struct.pack("<IIQ", option, NONE, value) for option, value in values])

    def image(self):
        layout = self.layout
        sections = list(self.sections)
        if layout.comments:
            sections.insert(1, (1, [b"made by a test\0"]))
        order = list(range(len(sections)))
        if layout.reverse:
            order.reverse()
        shift = [index + (layout.comments and index > 0) for index in range(len(self.sections))]
        place = {old: new for new, old in enumerate(order)}
        table_at = 64 + layout.section_gap
        body, headers = b"", []
        start = table_at + 32 * len(sections)
        load_end = start
        ordered = [(0 if sections[old][0] != 1 else 1, old) for old in order]
        offsets = {}
        for _, old in sorted(ordered, key=lambda pair: pair[0]):
            kind, parts = sections[old]
            content = bytes(self.strings) if old == 0 else b"".join(
                struct.pack("<I", place[shift[part[1]]]) if isinstance(part, tuple) else part for part in parts)
            align = ALIGN.get(kind, 1)
            body += b"\0" * layout.gap
            body += b"\0" * (-(start + len(body)) % align)
            offsets[old] = (start + len(body), len(content))
            body += content
            if kind != 1:
                load_end = start + len(body)
        for old in order:
            kind = sections[old][0]
            headers.append(struct.pack("<IIIIQQ", kind, ALIGN.get(kind, 1), 0 if kind == 1 else 1, ENTRY.get(kind, 0),
                                       *offsets[old]))
        ident = b"\x7fDOF" + bytes([2, 1, layout.version, layout.dif_version, 8, 8]) + bytes(6)
        header = ident + struct.pack("<IIIIQQQQ", 0, 64, 32, len(sections), table_at, load_end, start + len(body), 0)
        return header + b"\0" * layout.section_gap + b"".join(headers) + body


@dataclass
class Sample:
    """A program and its options, each an image, and what they print."""

    program: bytes
    options: bytes
    expected: str
    status: int
    parts: dict = field(default_factory=dict)


def printf(statement, text, *difos):
    return [(statement, 3, difo, 0, 0, text) for difo in difos]


def sample(dialect, layout):
    """BEGIN and END with a bit of everything that ports number differently."""
    writer = Writer(dialect, layout)
    library = dialect.library
    lines = []
    begin = printf(1, "%d %s\n", writer.integer(42), writer.text("hello"))
    lines.append("42 hello")
    begin += printf(2, "%s %d\n", writer.call("strjoin", "ab", "cd", is_string=True), writer.call("strlen", "four"))
    lines.append("abcd 4")
    if "toupper" in dialect.subroutines:
        begin += printf(3, "%s\n", writer.call("toupper", "loud", is_string=True))
        lines.append("LOUD")
    key = [writer.integer(1), writer.text("key")]
    begin += [(4, 1, key[0], 0, 0, None), (4, 1, key[1], 0, 0, None), (4, 0x705, writer.integer(10, 4), 0, 2, None)]
    begin += [(5, 1, writer.integer(2), 0, 0, None),
              (5, 0x709, writer.integer(50, 4), dialect.llquantize(10, 0, 2, 10), 1, None)]
    begin += [(6, 5, writer.integer(1), library + 16, 0, None), (6, 5, writer.integer(5), library + 16, 0, None)]
    begin += [(7, 2, writer.integer(3, 4), 0, 0, None)]
    writer.ecb("dtrace:::BEGIN", begin)
    end = [(1, 4, writer.integer(1), 0, 0, "%s %@d\n"), (2, 4, writer.integer(2), 0, 0, "%@d\n")]
    end += printf(3, "%s\n", writer.builtin("probename", is_string=True))
    writer.ecb("dtrace:::END", end)
    lines.append("key 2")
    options = Writer(dialect, layout)
    # quiet, strsize, and temporal of those that have it: another option in Oracle's numbers.
    options.options([(12, 1), (6, 128)] + ([] if dialect.name == "oracle" else [(27, 1)]))
    return Sample(writer.image(), options.image(), "\n".join(lines), 3)
