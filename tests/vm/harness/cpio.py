# SPDX-License-Identifier: Apache-2.0
"""Writes initramfs archives (cpio "newc"), without root and the same bytes for the same input."""

import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from . import HarnessError

# Linux pads archives that follow one another to 4 bytes; 512 is what cpio(1) writes.
ALIGN_BYTES = 512

_TAR_KINDS = {
    tarfile.REGTYPE: stat.S_IFREG,
    tarfile.AREGTYPE: stat.S_IFREG,
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
}


class Archive:
    """An archive being written.  Parent folders are made as they are needed."""

    def __init__(self, output: BinaryIO):
        self._output = output
        self._length_bytes = 0
        self._next_inode = 1
        self._folders: set[str] = set()

    def folder(self, path: str, mode: int = 0o755) -> None:
        """Adds a folder, and those above it, once."""
        path = path.strip("/")
        if not path or path in self._folders:
            return
        self.folder(os.path.dirname(path))
        self._folders.add(path)
        self._entry(path, stat.S_IFDIR | mode, b"")

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Adds a regular file."""
        self.folder(os.path.dirname(path))
        self._entry(path.strip("/"), stat.S_IFREG | mode, data)

    def copy(self, host: Path, path: str, mode: int | None = None) -> None:
        """Adds a file of the host, executable when it is executable there."""
        try:
            data = host.read_bytes()
            host_mode = host.stat().st_mode
        except OSError as error:
            raise HarnessError(f"cannot read {host}: {error.strerror}") from error
        self.file(path, data, mode or (0o755 if host_mode & stat.S_IXUSR else 0o644))

    def link(self, path: str, target: str) -> None:
        """Adds a symbolic link."""
        self.folder(os.path.dirname(path))
        self._entry(path.strip("/"), stat.S_IFLNK | 0o777, target.encode())

    def device(self, path: str, major: int, minor: int, mode: int = 0o600) -> None:
        """Adds a character device."""
        self.folder(os.path.dirname(path))
        self._entry(path.strip("/"), stat.S_IFCHR | mode, b"", device=(major, minor))

    def tar(self, stream: BinaryIO, wanted: Callable[[str], bool]) -> None:
        """Adds the members of a tar stream whose path (no leading slash) is wanted, owners kept."""
        hard_links: dict[str, bytes] = {}
        with tarfile.open(fileobj=stream, mode="r|") as members:
            for member in members:
                path = os.path.normpath(member.name).lstrip("/")
                if path == "." or not wanted(path):
                    continue
                self._tar_member(members, member, path, hard_links)

    def _tar_member(self, members: tarfile.TarFile, member: tarfile.TarInfo, path: str,
                    contents: dict[str, bytes]) -> None:
        """Adds one member; a hard link becomes a copy of the file it was made to."""
        owner = (member.uid, member.gid)
        if member.type == tarfile.LNKTYPE:
            target = os.path.normpath(member.linkname).lstrip("/")
            if target in contents:
                self._entry(path, stat.S_IFREG | member.mode, contents[target], owner)
            return
        kind = _TAR_KINDS.get(member.type)
        if kind is None:
            raise HarnessError(f"tar member {path} has the unknown type {member.type!r}")
        data = b""
        if kind == stat.S_IFREG:
            data = members.extractfile(member).read()
            contents[path] = data
        elif kind == stat.S_IFLNK:
            data = member.linkname.encode()
        elif kind == stat.S_IFDIR:
            self._folders.add(path)
        device = (member.devmajor, member.devminor) if kind in (stat.S_IFCHR, stat.S_IFBLK) else (0, 0)
        self._entry(path, kind | member.mode, data, owner, device)

    def close(self) -> None:
        """Writes the trailer and the padding.  The stream stays open."""
        self._entry("TRAILER!!!", 0, b"")
        self._write(b"\0" * (-self._length_bytes % ALIGN_BYTES))

    def _entry(self, path: str, mode: int, data: bytes, owner: tuple[int, int] = (0, 0),
               device: tuple[int, int] = (0, 0)) -> None:
        name = path.encode() + b"\0"
        fields = (self._next_inode, mode, *owner, 1, 0, len(data), 0, 0, *device, len(name), 0)
        self._next_inode += 1
        self._write(b"070701" + b"".join(b"%08X" % field for field in fields) + name)
        self._write(b"\0" * (-self._length_bytes % 4))
        self._write(data)
        self._write(b"\0" * (-self._length_bytes % 4))

    def _write(self, data: bytes) -> None:
        self._output.write(data)
        self._length_bytes += len(data)
