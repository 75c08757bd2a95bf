# SPDX-License-Identifier: Apache-2.0
"""Packages of Debian that a case needs the files of, unpacked and not installed."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from . import HarnessError, paths


def unpacked(names: Iterable[str]) -> Path:
    """The folder with the files of these packages, fetched once."""
    folder = paths.BUILD / "images/packages" / "+".join(names)
    with paths.locked(folder):
        if subprocess.run([paths.TESTS_VM / "images/fetch-packages", folder, *names]).returncode != 0:
            raise HarnessError(f"{', '.join(names)} could not be fetched")
    return folder
