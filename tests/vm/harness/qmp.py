# SPDX-License-Identifier: Apache-2.0
"""A running QEMU's monitor: stopping it, resetting it, taking its memory.

The machine must have been started with Machine.monitor, a path for the socket; a Machine that shall
boot again after a reset needs Machine.reboot as well.  Calls wait until QEMU has done it.
"""

import json
import re
import socket
import tempfile
import time
from pathlib import Path

from . import HarnessError

CONNECT_S = 10.0
ANSWER_S = 120.0
# asm_exc_int3() of 6.1 and 6.12: 45 bytes and more with mitigations, then another entry.
INT3_ENTRY_BYTES = 64
INTERRUPTS_ON = 1 << 9  # of the flags


class Monitor:
    """One connection to a QEMU's monitor."""

    def __init__(self, path: Path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_S)
        deadline = time.monotonic() + CONNECT_S
        while True:
            try:
                self._socket.connect(str(path))
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise HarnessError(f"cannot reach QEMU's monitor at {path}: {error.strerror}") from error
                time.sleep(0.05)
        self._stream = self._socket.makefile("rw")
        try:
            self._read("QMP")
            self.execute("qmp_capabilities")
        except HarnessError:
            self.close()
            raise

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def _read(self, *wanted: str) -> dict:
        """The next answer with one of these members; events in between are passed over."""
        while True:
            try:
                line = self._stream.readline()
            except OSError as error:
                raise HarnessError(f"QEMU's monitor does not answer: {error}") from error
            if not line:
                raise HarnessError("QEMU closed its monitor")
            answer = json.loads(line)
            if any(name in answer for name in wanted):
                return answer

    def execute(self, command: str, **arguments) -> object:
        """Runs a command and returns what it returned."""
        request = {"execute": command, "arguments": {name.replace("_", "-"): value for name, value in arguments.items()}}
        try:
            self._stream.write(json.dumps(request) + "\n")
            self._stream.flush()
        except OSError as error:
            raise HarnessError(f"QEMU's monitor went away: {error}") from error
        answer = self._read("return", "error")
        if "error" in answer:
            raise HarnessError(f"QEMU refused {command}: {answer['error'].get('desc', answer['error'])}")
        return answer["return"]

    def stop(self) -> None:
        """All CPUs stand still, between two instructions."""
        self.execute("stop")

    def cont(self) -> None:
        self.execute("cont")

    def reset(self) -> None:
        """The reset button: memory stays as it is."""
        self.execute("system_reset")

    def cpu_places(self) -> list[str]:
        """Where each CPU is: registers, the next instructions and the top of its stack, lines of text."""
        lines = []
        for cpu in self.execute("query-cpus-fast"):
            for question in ("info registers", "x/8i $pc", "x/24gx $rsp"):
                lines += self._ask(question, cpu["cpu-index"]).splitlines()
        return lines

    def is_in_breakpoint_loop(self, looks: int = 1000) -> bool:
        """Whether a CPU comes by the kernel's entry for breakpoints (int3) again and again: one that hit a breakpoint
        which is not there any more does nothing else, with interrupts off for ever."""
        for cpu in (cpu["cpu-index"] for cpu in self.execute("query-cpus-fast")):
            entry = self._int3_entry(cpu)
            looked = [re.search(r"RIP=([0-9a-f]+) RFL=([0-9a-f]+)", self._ask("info registers", cpu)) for _ in range(looks)]
            places = [int(look[1], 16) for look in looked if look and not int(look[2], 16) & INTERRUPTS_ON]
            if len(places) == looks and sum(0 <= place - entry < INT3_ENTRY_BYTES for place in places) >= 2:
                return True
        return False

    def _int3_entry(self, cpu: int) -> int:
        """Where the kernel's handler of int3 begins, by the third gate of the CPU's interrupt table; 0: it has none yet."""
        table = re.search(r"^IDT= *([0-9a-f]+)", self._ask("info registers", cpu), re.MULTILINE)
        gate = re.findall(r"0x([0-9a-f]{16})", self._ask(f"x/2gx 0x{int(table[1], 16) + 3 * 16:x}", cpu)) if table else []
        if len(gate) != 2:
            return 0
        low, high = (int(word, 16) for word in gate)
        return (low & 0xFFFF) | (low >> 48 & 0xFFFF) << 16 | (high & 0xFFFFFFFF) << 32

    def _ask(self, question: str, cpu: int) -> str:
        return self.execute("human-monitor-command", command_line=question, cpu_index=cpu)

    def dump(self, path: Path, form: str | None = None) -> None:
        """All memory as a dump, by physical address: ELF, or "kdump-zlib" in its flattened form."""
        options = {"format": form} if form else {}
        self.execute("dump-guest-memory", paging=False, protocol=f"file:{path}", **options)

    def save_memory(self, address: int, size: int, path: Path) -> None:
        """Physical memory as it is, into a file."""
        self.execute("pmemsave", val=address, size=size, filename=str(path))

    def memory(self, address: int, size: int) -> bytes:
        """Physical memory as it is."""
        with tempfile.TemporaryDirectory(prefix="daybreak-memory.") as folder:
            path = Path(folder) / "memory"
            self.save_memory(address, size, path)
            return path.read_bytes()
