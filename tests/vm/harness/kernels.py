# SPDX-License-Identifier: Apache-2.0
"""The files of one unpacked kernel, and which modules a guest must load in which order."""

import lzma
import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import HarnessError, paths

SERIES = tuple(paths.run(["bash", "-c", '. "$0" && this_distribution && kernels_of "$distribution"',
                          paths.ROOT / "tests/support/distribution.sh"], "no distribution is known").split())

# For tests/nightly: 6.1 built with KASAN, lockdep and kmemleak, which takes a while; Debian's RT kernel.
NIGHTLY = ("6.1-debug", "6.1-rt")

# What the shared folder of a guest needs (9p over virtio); built-in ones are passed over.
SHARE_MODULES = ("virtio_pci", "9pnet_virtio", "9p")


@dataclass(frozen=True)
class Kernel:
    """One kernel as tests/vm/images/fetch-kernel laid it out."""

    series: str
    folder: Path

    @property
    def slowness(self) -> int:
        """How many times the memory and the patience it takes of what a case asks for."""
        return 3 if self.series.endswith("-debug") else 1

    @property
    def release(self) -> str:
        return self.folder.name

    @property
    def image(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def unpacked(self) -> Path:
        """The kernel inside vmlinuz, unpacked once: QEMU starts it by PVH, seconds earlier, at the address where it was linked
        (no KASLR).  It is vmlinuz itself if the kernel has no PVH or is packed in a way that _unpack() does not know."""
        file = self.folder / "vmlinux"
        with paths.locked(self.folder):
            if paths.is_older(file, self.image) and "CONFIG_PVH=y" in (self.folder / "config").read_text().split():
                if (data := _unpack(self.image.read_bytes())).startswith(b"\x7fELF"):
                    part = file.with_suffix(".part")
                    part.write_bytes(data)
                    part.rename(file)
        return file if file.exists() else self.image

    @property
    def build(self) -> Path:
        """What kbuild takes as the kernel's build folder."""
        return self.folder / "build"

    def other(self) -> "Kernel":
        """The kernel that this one is not; itself, where the distribution has no other."""
        return get(next((series for series in SERIES if series != like(self.series)), self.series))

    def module_files(self, names: tuple[str, ...]) -> list[tuple[str, bytes]]:
        """(file name, uncompressed bytes) of the modules and all they need, in loading order."""
        base = self.folder / "modules/lib/modules" / self.release
        needs, builtin = _read_modules_dep(base), _read_builtin(base)
        order: list[str] = []
        for name in names:
            name = name.replace("-", "_")
            if name in needs:
                order += [path for path in reversed(needs[name]) if path not in order]
            elif name not in builtin:
                raise HarnessError(f"kernel {self.release} has no module {name}")
        return [_plain_module(base / path) for path in order]


def _unpack(image: bytes) -> bytes:
    """The kernel inside a vmlinuz, by the places in its setup header; nothing, when it is packed otherwise."""
    sectors, (at, size) = image[0x1F1] + 1, struct.unpack_from("<II", image, 0x248)
    start = sectors * 512 + at
    packed = image[start:start + size - 4]  # its size when it is unpacked comes last
    if packed.startswith(b"\xfd7zXZ"):
        return lzma.decompress(packed)
    if packed.startswith(b"\x28\xb5\x2f\xfd"):
        return paths.run_bytes([paths.tool("zstd", "zstd"), "-dqc"], packed, "zstd")
    return b""


def like(series: str) -> str:
    """The one of SERIES whose cases a kernel runs."""
    return series.split("-")[0]


def get(series: str) -> Kernel:
    """Returns the kernel of a series, fetched or built first if it is not there."""
    if series not in SERIES + NIGHTLY:
        raise HarnessError(f"no kernel series '{series}': {', '.join(SERIES + NIGHTLY)}")
    folder = paths.BUILD / "kernels"
    images = paths.TESTS_VM / "images"
    command, made = [images / "fetch-kernel", series, folder], (folder / series / ".complete").exists()
    if series == "6.1-debug":  # its script looks itself whether what it was built from changed
        command, made = [images / "build-debug-kernel", folder], False
    if not made:
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
            raise HarnessError(f"kernel {series} could not be made")
    return Kernel(series, (folder / series).resolve())


def _module_name(path: str) -> str:
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def _read_modules_dep(base: Path) -> dict[str, list[str]]:
    """Module name -> its path, then the paths of what it needs (the most needed one last)."""
    needs = {}
    for line in (base / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[_module_name(path)] = [path, *rest.split()]
    return needs


def _read_builtin(base: Path) -> set[str]:
    return {_module_name(path) for path in (base / "modules.builtin").read_text().split()}


def _plain_module(path: Path) -> tuple[str, bytes]:
    """busybox's insmod reads no compressed modules, so they are unpacked here."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return path.stem, lzma.decompress(data)
    if path.suffix == ".zst":
        return path.stem, paths.run_bytes([paths.tool("zstd", "zstd"), "-dqc"], data, "zstd")
    return path.name, data
