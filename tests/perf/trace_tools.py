# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of this folder that read or write trace files, with the libraries of a build folder."""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
LIBRARIES = ("formats/trace/libdaybreak_trace.a", "formats/segment/libdaybreak_segment.a", "base/libdaybreak_base.a",
             "engine/libdaybreak_engine_shared.a")


def build(name: str, libraries_of: Path, folder: Path) -> Path:
    """Of the release's libraries: one with sanitizers takes eight times as long."""
    program = folder / name
    subprocess.run(["g++", "-std=c++20", "-O2", f"-I{TOP}", f"-I{libraries_of}", HERE / f"{name}.cpp", "-o", program,
                    *(libraries_of / library for library in LIBRARIES), "-lcapnp", "-lkj", "-lzstd"], check=True)
    return program
