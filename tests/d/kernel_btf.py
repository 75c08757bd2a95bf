# SPDX-License-Identifier: Apache-2.0
"""The types of a small kernel as BTF, for cases that need some (`## btf: whole`, `## btf: damaged`).

    struct task_struct { int pid; unsigned int flags; char comm[16]; struct task_struct *parent; };
    struct sample { int a, b; };
    struct bits { unsigned int low : 3; int middle : 5; unsigned int high : 4; };
    typedef int pid_t;
    long vfs_read(struct task_struct *file, struct sample by_value, unsigned int count);
    tracepoint sched_switch(_Bool preempt, struct task_struct *previous)
"""

import struct


class Writer:
    """Types in the order of their numbers, from 1."""

    def __init__(self):
        self.types, self.strings, self.count = b"", b"\0", 0

    def string(self, text):
        if not text:
            return 0
        at = len(self.strings)
        self.strings += text.encode() + b"\0"
        return at

    def add(self, kind, name, last, words=(), entries=0):
        """`last` is the size or the type that the kind has in its third word."""
        self.types += struct.pack(f"<{3 + len(words)}I", self.string(name), kind << 24 | entries, last, *words)
        self.count += 1
        return self.count

    def integer(self, name, size, encoding):
        return self.add(1, name, size, [encoding << 24 | size * 8])

    def structure(self, name, size, members):
        words = [word for text, kind, bits in members for word in (self.string(text), kind, bits)]
        return self.add(4, name, size, words, len(members))

    def bit_fields(self, name, size, members):
        """Members are (name, type, first bit, bits)."""
        words = [word for text, kind, first, bits in members for word in (self.string(text), kind, bits << 24 | first)]
        return self.add(4 | 1 << 7, name, size, words, len(members))

    def prototype(self, result, parameters):
        words = [word for text, kind in parameters for word in (self.string(text), kind)]
        return self.add(13, "", result, words, len(parameters))

    def image(self):
        header = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(self.types), len(self.types), len(self.strings))
        return header + self.types + self.strings


def image():
    writer = Writer()
    integer, natural = writer.integer("int", 4, 1), writer.integer("unsigned int", 4, 0)
    character, boolean = writer.integer("char", 1, 1), writer.integer("_Bool", 1, 4)
    word = writer.integer("long int", 8, 1)
    comm = writer.add(3, "", 0, [character, natural, 16])
    pointer = writer.count + 2
    task = writer.structure("task_struct", 32, [("pid", integer, 0), ("flags", natural, 32), ("comm", comm, 64),
                                                ("parent", pointer, 192)])
    writer.add(2, "", task)
    sample = writer.structure("sample", 8, [("a", integer, 0), ("b", integer, 32)])
    writer.add(8, "pid_t", integer)
    read = writer.prototype(word, [("file", pointer), ("by_value", sample), ("count", natural)])
    writer.add(12, "vfs_read", read, entries=1)
    handle = writer.add(2, "", 0)
    switch = writer.prototype(0, [("__data", handle), ("preempt", boolean), ("previous", pointer)])
    writer.add(8, "btf_trace_sched_switch", writer.add(2, "", switch))
    writer.bit_fields("bits", 4, [("low", natural, 0, 3), ("middle", integer, 3, 5), ("high", natural, 8, 4)])
    return writer.image()


def damaged():
    """The same with its strings cut off."""
    return image()[:-40]
