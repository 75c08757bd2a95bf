# SPDX-License-Identifier: Apache-2.0
"""Frames of user stacks, as a report prints them, to places in files: by nm(1), which is not ours."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def _text_of(*command) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout


@cache
def code_of(root: Path, file: str) -> dict[str, set[int]]:
    """Where the functions of a file are in it, as nm(1) reads it and its file of debug symbols."""
    path = next(root.rglob(file))
    build_id = re.search(r"Build ID: (..)([0-9a-f]+)", _text_of("readelf", "-n", path))
    debug = Path(f"/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug")
    segment = re.search(r"LOAD +0x(\w+) 0x(\w+) \S+ \S+ \S+ R E", _text_of("readelf", "-lW", path))
    places: dict[str, set[int]] = {}
    for table in (["-D", path], *([one] for one in (path, debug) if one.exists())):
        for value, name in re.findall(r"^(\w+) \w ([^@\s]+)", _text_of("nm", "-a", *table), re.MULTILINE):
            places.setdefault(name, set()).add(int(value, 16) - int(segment[2], 16) + int(segment[1], 16))
    return places


def frames_of(root: Path, lines: Iterable[str]) -> Iterator[tuple[str, set[int], str, str]]:
    """Each (file, the offsets in it that are meant, function, line); the files are in a folder, whatever is above them there."""
    for line in lines:
        if found := re.match(r" +([^`\s]+)`([^+\s]+)(?:[+]0x([0-9a-f]+))?(?: \((\S+)\))?$", line):
            begins = code_of(root, found[1]).get(found[2], set())
            yield found[1], {begin + int(found[3] or "0", 16) for begin in begins}, found[2], found[4] or "-"
        elif found := re.match(r" +([^:\s]+):0x([0-9a-f]+)", line):
            yield found[1], {int(found[2], 16)}, "-", "-"
        elif line.strip():
            yield line.strip(), set(), "-", "-"
