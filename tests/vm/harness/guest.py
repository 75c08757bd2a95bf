# SPDX-License-Identifier: Apache-2.0
"""What a guest is made of: its root archive, our files, the early archive, and their order.

A busybox guest is a few MiB and is in userspace at once; a Debian guest is the root that
tests/vm/images/make-debian-root made, with systemd.  Both run tests/vm/guest/session once they are up.
"""

import io
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import HarnessError, cpio, paths
from .kernels import SHARE_MODULES, Kernel

IMAGES = ("busybox", "debian")

# Where the early archive lies in the initrd: before the root's, after it padded as cpio(1) pads,
# or after it as a boot loader places a second initrd (4-byte aligned, the root compressed).
PLACES = ("prepended", "appended", "second", "none")

_UNIT = """\
# Runs once the system is up: the script of this boot.
[Unit]
Description=The script of this boot
After=multi-user.target

[Service]
Type=oneshot
ExecStart=/daybreak-vm/session
"""


@dataclass
class Guest:
    """The contents of one guest."""

    kernel: Kernel
    script: Path
    image: str = "busybox"
    share: bool = True
    modules: tuple[str, ...] = ()
    programs: list[Path] = field(default_factory=list)
    files: list[tuple[Path, str]] = field(default_factory=list)
    early: Path | None = None
    place: str = "prepended"
    first: Path | None = None  # a script that runs before the shared folder is mounted

    def write_initrd(self, output: Path) -> None:
        """Writes all archives of the guest, in their order, as one initrd."""
        parts = [self._root()]
        if self.early and self.place != "none":
            early = self.early.read_bytes()
            parts = [early, *parts] if self.place == "prepended" else [*parts, early]
        align_bytes = 4 if self.place == "second" else cpio.ALIGN_BYTES
        with output.open("wb") as stream:
            for part in parts:
                stream.write(part)
                stream.write(b"\0" * (-len(part) % align_bytes))

    def _root(self) -> bytes:
        if self.image == "debian":
            root = debian_root().read_bytes()
            return root + b"\0" * (-len(root) % cpio.ALIGN_BYTES) + self._ours()
        root = self._ours()
        if self.place == "second":
            return paths.run_bytes([paths.tool("zstd", "zstd"), "-q", "-3", "-c"], root, "zstd")
        return root

    def _ours(self) -> bytes:
        """The archive with the session, the modules and the programs of this boot."""
        buffer = io.BytesIO()
        archive = cpio.Archive(buffer)
        source = paths.TESTS_VM / "guest"
        if self.image == "debian":
            archive.file("etc/systemd/system/daybreak-vm.service", _UNIT.encode())
            archive.link("etc/systemd/system/multi-user.target.wants/daybreak-vm.service",
                         "../daybreak-vm.service")
        else:
            archive.copy(Path(paths.tool("busybox", "busybox-static")), "bin/busybox")
            archive.link("bin/sh", "busybox")
            archive.copy(source / "init", "init")
        archive.copy(source / "session", "daybreak-vm/session")
        archive.copy(source / "checks.sh", "daybreak-vm/checks.sh")
        archive.copy(self.script, "daybreak-vm/script")
        if self.first:
            archive.copy(self.first, "daybreak-vm/first")
        archive.folder("daybreak-vm/modules")
        wanted = (SHARE_MODULES if self.share else ()) + self.modules
        for index, (name, data) in enumerate(self.kernel.module_files(wanted)):
            archive.file(f"daybreak-vm/modules/{index:02}-{name}", data)
        if self.share:
            archive.file("daybreak-vm/share", b"")
        for program in self.programs:
            archive.copy(program, f"daybreak-vm/bin/{program.name}", 0o755)
        for host, path in self.files:
            archive.copy(host, path)
        archive.close()
        return buffer.getvalue()


def portable(program: Path, folder: Path) -> None:
    """Puts a program of the host into a folder, with its libraries and a script that runs it in a guest
    that has none."""
    libraries = folder / "lib"
    libraries.mkdir(parents=True, exist_ok=True)
    shutil.copy(program, libraries / program.name)
    loader = ""
    for line in paths.run(["ldd", program], f"ldd {program} failed").splitlines():
        path = next((word for word in line.split() if word.startswith("/")), None)
        if path:
            shutil.copy(path, libraries)
            loader = Path(path).name if Path(path).name.startswith("ld-") else loader
    script = folder / program.name
    script.write_text(f'#!/bin/sh\nlib=${{0%/*}}/lib\nexec "$lib/{loader}" --library-path "$lib" "$lib/{program.name}" "$@"\n')
    script.chmod(0o755)


def debian_root() -> Path:
    """Returns the packed Debian root, made first if it is not there or its recipe changed."""
    root = paths.BUILD / "images/debian-root.cpio.zst"
    if subprocess.run([paths.TESTS_VM / "images/make-debian-root", root]).returncode != 0:
        raise HarnessError("the Debian root could not be made")
    return root


def boot_disk(loader: str, kernel: Kernel) -> Path:
    """Returns the disk that a boot loader boots this kernel from, made first if it is not there or its recipe changed."""
    disk = paths.BUILD / f"images/{loader}-{kernel.release}.img"
    command = [paths.TESTS_VM / "images/make-boot-disk", loader, kernel.folder, disk]
    if loader == "uki":
        command = [paths.TESTS_VM / "images/make-uki-disk", boot_disk("systemd-boot", kernel), disk]
    with paths.locked(disk):
        if subprocess.run(command).returncode != 0:
            raise HarnessError(f"the disk with {loader} could not be made")
    return disk
