# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of this folder that read or write trace files, or name addresses, with the libraries of a build folder."""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
LIBRARIES = ("formats/trace/libdaybreak_trace.a", "formats/segment/libdaybreak_segment.a", "base/libdaybreak_base.a",
             "engine/libdaybreak_engine_shared.a")


ANALYZE = ("analyze/libdaybreak_analyze.a", "formats/dof/libdaybreak_formats_dof.a"), ("-liberty", "-ldw", "-lelf", "-llzma", "-lz")


def build(name: str, libraries_of: Path, folder: Path, more=((), ())) -> Path:
    """Of the release's libraries: one with sanitizers takes eight times as long.  `more`: our libraries, then Debian's, as in ANALYZE."""
    program = folder / name
    subprocess.run(["g++", "-std=c++20", "-O2", f"-I{TOP}", f"-I{libraries_of}", HERE / f"{name}.cpp", "-o", program,
                    *(libraries_of / library for library in (*more[0], *LIBRARIES)), "-lcapnp", "-lkj", "-lzstd", *more[1]], check=True)
    return program
