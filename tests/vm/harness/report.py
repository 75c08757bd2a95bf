# SPDX-License-Identifier: Apache-2.0
"""For the verify scripts of cases: read a recording with the host's daybreak, and say what held."""

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# daybreak's exit status when it did its work but the data has known losses.
_LOSSES = 3


_COLUMNS = ("CPU", "RECORDS", "OVERWRITTEN", "FIRINGS", "SEGS")


@dataclass(frozen=True)
class Cpu:
    """One CPU's line of `daybreak info`."""

    cpu: int
    records: int
    overwritten: int
    firings: int
    segments: int


class Recording:
    """A trace file, seen through the commands that a user has."""

    def __init__(self, path: Path):
        self.path = path

    @cache
    def report(self, *options: str) -> str:
        if not options:
            self._check_replay()
        return _daybreak("report", *options, self.path)

    def _check_replay(self) -> None:
        """Of any recording whose program can be replayed the replay prints what the report does."""
        for line in _daybreak("verify", self.path).splitlines():
            if line.startswith("replayed") and line.endswith("not as reported"):
                check(f"replay-as-reported-{self.path.name}", False, line)

    @cache
    def info(self, *options: str) -> str:
        return _daybreak("info", *options, self.path)

    def replay(self, program: str) -> str:
        return _daybreak("replay", "-q", "-n", program, self.path)

    def boot_report(self, *options: str) -> str:
        return _daybreak("boot-report", *options, self.path)

    def cpus(self) -> list[Cpu]:
        """The CPUs of the recording's only ring."""
        return parse_cpus(self.info())


def parse_cpus(info: str) -> list[Cpu]:
    """The per-CPU table of `daybreak info`: a header line of column names, then rows of numbers."""
    columns: list[str] = []
    found = []
    for line in info.splitlines():
        words = line.split()
        if set(_COLUMNS) <= set(words):
            columns = words
        elif columns and len(words) >= len(columns) and words[0].isdigit():
            row = dict(zip(columns, words))
            found.append(Cpu(*(int(row[name]) for name in _COLUMNS)))
        else:
            columns = []
    return found


def check(name: str, held: object, detail: object = "") -> bool:
    """Prints one CHECK line; returns whether it held, so that what builds on it can be skipped."""
    text = " ".join(str(detail).split())[:300]
    print(f"CHECK {name} {'ok' if held else 'fail'} {text}".rstrip())
    return bool(held)


def _daybreak(*arguments: str | Path) -> str:
    done = subprocess.run([os.environ.get("DAYBREAK", "daybreak"), *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode not in (0, _LOSSES):
        check(f"daybreak-{arguments[0]}-{Path(arguments[-1]).name}", False, done.stderr or f"status {done.returncode}")
    return done.stdout
