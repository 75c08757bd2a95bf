# SPDX-License-Identifier: Apache-2.0
"""A machine with Secure Boot: a disk with Debian's shim and GRUB, and variables of the firmware with a key of the
machine's owner among those that shim trusts (MOK), as MokManager would have enrolled it.

The formats are of the UEFI specification (signature lists) and of EDK II's MdeModulePkg (VariableFormat.h).
"""

import struct
import uuid
from pathlib import Path

from . import HarnessError, packages, paths, qemu

DISK_MIB = 256
PACKAGES = ("shim-signed", "grub-efi-amd64-signed", "systemd-boot-efi", "sbsigntool")  # what is signed, a stub, and what signs
_SHIM = uuid.UUID("605dab50-e046-4300-abb6-3dd810dd8b23")
_X509 = uuid.UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072")

_STORE_AT = 0x48  # after the header of the firmware's volume
_STORE = struct.Struct("<16sI8x")  # of the store: its form, its bytes
_VARIABLE = struct.Struct("<HBxI28xII16s")  # start, state, attributes, bytes of the name and of the value, vendor
_START, _ADDED, _ATTRIBUTES = 0x55AA, 0x3F, 3  # kept over a reset, only for what runs before the kernel


def write_variables(output: Path, certificate: bytes) -> None:
    """Makes the firmware's variables with Microsoft's keys, and a certificate (DER) in MokList."""
    store = bytearray((qemu.OVMF / "OVMF_VARS_4M.ms.fd").read_bytes())
    _, store_bytes = _STORE.unpack_from(store, _STORE_AT)
    at = _STORE_AT + _STORE.size
    while struct.unpack_from("<H", store, at)[0] == _START:
        _, _, _, name_bytes, value_bytes, _ = _VARIABLE.unpack_from(store, at)
        at = (at + _VARIABLE.size + name_bytes + value_bytes + 3) & ~3
    name = "MokList\0".encode("utf-16-le")
    value = _X509.bytes_le + struct.pack("<III", 28 + 16 + len(certificate), 0, 16 + len(certificate)) + _SHIM.bytes_le + certificate
    variable = _VARIABLE.pack(_START, _ADDED, _ATTRIBUTES, len(name), len(value), _SHIM.bytes_le) + name + value
    if at + len(variable) > _STORE_AT + store_bytes:
        raise HarnessError("the firmware's variables have no room for a certificate")
    store[at:at + len(variable)] = variable
    output.write_bytes(store)


def write_disk(output: Path, files: dict[str, Path]) -> None:
    """Makes a disk that is one FAT file system with shim, GRUB and these files, by their path on it."""
    unpacked = packages.unpacked(PACKAGES)
    files = files | {"EFI/BOOT/BOOTX64.EFI": unpacked / "usr/lib/shim/shimx64.efi.signed",
                     "EFI/BOOT/grubx64.efi": unpacked / "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed"}
    output.unlink(missing_ok=True)
    paths.run([paths.tool("mkfs.vfat", "dosfstools"), "-C", output, str(DISK_MIB * 1024)], "making the disk failed")
    folders = sorted({str(parent) for path in files for parent in Path(path).parents} - {"."}, key=len)
    paths.run([paths.tool("mmd", "mtools"), "-i", output, *(f"::/{folder}" for folder in folders)], "making the disk failed")
    for path, file in files.items():
        paths.run([paths.tool("mcopy", "mtools"), "-i", output, file, f"::/{path}"], f"copying {file} failed")
