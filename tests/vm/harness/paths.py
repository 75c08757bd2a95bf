# SPDX-License-Identifier: Apache-2.0
"""Where the parts of the tree lie, and where a build put the programs."""

import contextlib
import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import HarnessError

TESTS_VM = Path(__file__).resolve().parent.parent
ROOT = TESTS_VM.parent.parent
BUILD = ROOT / "build"


@dataclass(frozen=True)
class Programs:
    """What a guest runs, from one CMake build folder."""

    folder: Path

    @property
    def daybreak(self) -> Path:
        return self._existing("cmd/daybreak", "daybreak")

    @property
    def early_init(self) -> Path:
        return self._existing("bootloader-hooks/early-init", "daybreak-early-init")

    def _existing(self, path: str, target: str) -> Path:
        if not (self.folder / path).is_file():
            raise HarnessError(f"{self.folder / path} is missing: cmake --build {self.folder} --target {target}")
        return self.folder / path


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """While it lasts no other harness makes this file: several run at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{file}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_older(file: Path, *sources: Path) -> bool:
    """Whether a file is not there, or older than what it is made from."""
    return not file.exists() or file.stat().st_mtime < max(source.stat().st_mtime for source in sources)


def guest_program(name: str) -> Path:
    """A static program of tests/vm/guest, built when it is older than its source or what they share."""
    source, program = TESTS_VM / f"guest/{name}.c", BUILD / "vm/programs" / name
    with locked(program):
        if is_older(program, source, *TESTS_VM.glob("guest/*.h")):
            run([tool("gcc", "build-essential"), "-O2", "-Wall", "-Wextra", "-static", f"-I{ROOT}", source, "-o", program],
                f"building {source.name} failed")
    return program


def tool(name: str, package: str) -> str:
    """Returns the path of a command of the host; the error names the Debian package to install."""
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    if not found:
        raise HarnessError(f"{name} is missing: apt-get install {package}")
    return found


def run(command: list, what: str, **options) -> str:
    """Runs a command of the host and returns its output; fails with `what` and what it said."""
    return run_ending(command, (0,), what, **options)


def run_ending(command: list, statuses: tuple[int, ...], what: str, **options) -> str:
    """The same of a command for which other exit statuses than 0 are fine."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **options)
    if done.returncode not in statuses:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise HarnessError(f"{what}: {next((line for line in lines if 'error:' in line), lines[-1])}")
    return done.stdout


def run_bytes(command: list, data: bytes, what: str) -> bytes:
    """Feeds bytes to a filter of the host and returns what it makes of them."""
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise HarnessError(f"{what}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
