# SPDX-License-Identifier: Apache-2.0
"""Programs that no D says, as DOF: what another compiler, or a recording of another port, may bring (`## dof: NAME`)."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
import foreign_dof as dof  # noqa: E402  (the folder has to be named before)

TUPLE_REGISTERS = 8
SETX, RET, PUSHTV, FLUSHTS = 0x25000001, 0x23000001, 0x31000001, 0x33000000


def finished(writer):
    """With BEGIN { exit(0); } after the program, and quiet."""
    writer.ecb("dtrace:::BEGIN", [(1, 2, writer.integer(0, 4), 0, 0, None)])
    writer.options([(12, 1)])
    return writer.image()


def deep_tuple():
    """BEGIN { trace(what comes of one key more than there are tuple registers); }"""
    writer = dof.Writer(dof.ORACLE, dof.Layout(version=2))
    pushes = [PUSHTV] * (TUPLE_REGISTERS + 1)
    writer.ecb("dtrace:::BEGIN", [(1, 1, writer.difo([SETX, *pushes, FLUSHTS, RET], [7]), 0, 0, None)])
    return finished(writer)


def reported_faults():
    """Clauses that report faults as dtrace:::ERROR's do (uarg 1): a library's, and codes of no fault known here."""
    writer = dof.Writer(dof.ORACLE, dof.Layout(version=2))
    for code in (1000, 0, 77):
        values = (4, 2, -1 & 0xFFFFFFFFFFFFFFFF, code, 0)
        actions = [(number, 1, writer.integer(value), 0, 0, None) for number, value in enumerate(values, 1)]
        writer.ecb("dtrace:::BEGIN", actions, uarg=1)
    return finished(writer)


IMAGES = {"deep-tuple": deep_tuple, "reported-faults": reported_faults}

if __name__ == "__main__":
    sys.stdout.buffer.write(IMAGES[sys.argv[1]]())
