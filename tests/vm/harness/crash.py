# SPDX-License-Identifier: Apache-2.0
"""One crash: a machine that counts dies at a random instant, and what it left is compared with the truth.

The machine is stopped where it died, its memory is dumped, and it is reset.  The dump is extracted, the
second boot recovers the bank; both traces must say what the counts in reserved memory say (truth.py).
A triple fault resets the machine by itself: then there is only the bank.
"""

import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import HarnessError, case, console, guest, kernels, paths, qemu, qmp, truth

CRASHES = paths.TESTS_VM / "crashes"

# How a machine dies.  In the last two it says nothing: only the bank helps, and the reset button.
KINDS = ("sysrq", "null", "probe", "triple", "reset")

# In the middle of 512 MiB, where no firmware works; the truth lies beside the bank.
BANK, BANK_MIB = 0x10000000, 16
WITNESS = 0x12000000
AFTER_S = (0.2, 3.0)  # of counting

# The kernel reports trouble, as it should; but a breakpoint that is not there is the emulator's (console.py), and so may be a CPU
# that is stuck, as no kind of death leaves one.
EXPECTED = [re.compile(rf"^(?!.*(int3: 0000|{console.STUCK}))")]


@dataclass
class Verdict:
    """What was left of one machine."""

    ways: list[str] = field(default_factory=list)  # "dump: 40212 records, ..."
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def recovered(self) -> bool:
        return bool(self.ways) and not self.wrong and not self.lost


class Crash:
    """One machine that dies once."""

    def __init__(self, kind: str, kernel: kernels.Kernel, programs: paths.Programs, folder: Path, seed: int):
        self.kind, self.folder, self.seed = kind, folder, seed
        self._kernel, self._programs = kernel, programs
        self._after_s = random.Random(seed).uniform(*AFTER_S)
        self._in, self._out = folder / "in", folder / "out"
        self._truth: list[truth.Count] = []
        self._dump: Path | None = None

    def run(self) -> Verdict:
        """Boots, crashes, boots again and compares."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for part in (self._in, self._out):
            part.mkdir(parents=True)
        shutil.copy(case.crash_module(self._kernel), self._in / "crash.ko")
        with tempfile.TemporaryDirectory(prefix="daybreak-crash.") as sockets:
            machine = self._machine(Path(sockets) / "monitor")
            outcome = qemu.run_soundly(machine, self.folder / "console.log", self._forget, self._watcher(machine))
        if not outcome.findings.done:
            raise HarnessError(f"{self.kind}: {outcome.problem()} (log: {self.folder / 'console.log'})")
        verdict = Verdict()
        if not self._truth:
            verdict.wrong.append("the workload had not begun")
        for way, trace in self._traces():
            self._compare(verdict, way, trace)
        return verdict

    def _forget(self) -> None:
        """What a machine left that the emulator spoilt."""
        self._truth, self._dump = [], None
        (self._in / "second").unlink(missing_ok=True)
        for left in self._out.iterdir():
            left.unlink()

    def _machine(self, monitor: Path) -> qemu.Machine:
        early = early_archive(self._kernel, self._programs, self.folder)
        system = guest.Guest(self._kernel, CRASHES / "guest.sh", early=early,
                             programs=[self._programs.daybreak, paths.guest_program("counter")])
        initrd = self.folder / "initrd"
        system.write_initrd(initrd)
        arguments = ["rdinit=/daybreak/early-init", "oops=panic", "panic=0", f"memmap={BANK_MIB}M${BANK:#x}",
                     f"memmap=1M${WITNESS:#x}", f"daybreak.bank={BANK_MIB}M@{BANK:#x}", f"witness={WITNESS:#x}",
                     f"crash={self.kind}", f"after={self._after_s:.3f}"]
        return qemu.Machine(self._kernel.image, initrd, arguments, share=self.folder, monitor=monitor, reboot=True,
                            timeout_s=qemu.PATIENCE * 150.0, expected=EXPECTED)

    def _watcher(self, machine: qemu.Machine):
        """What the host does when the guest says that it dies, and when it is back."""
        def watch(line: str) -> None:
            if "GUEST crashes now" in line:
                (self._in / "second").touch()
                if self.kind == "reset":
                    self._reset(machine.monitor, dump=True)
            elif "end Kernel panic" in line and not self._truth:
                self._reset(machine.monitor, dump=True)
            elif "GUEST recovers" in line and not self._truth:
                self._reset(machine.monitor, dump=False)
        return watch

    def _reset(self, socket: Path, dump: bool) -> None:
        """Takes the truth, and the dump; then the reset button, unless the machine is back already."""
        with qmp.Monitor(socket) as monitor:
            monitor.stop()
            memory = monitor.memory(WITNESS, 2 * truth.PAGE_BYTES)
            self._truth = truth.read_witness(memory, 2)
            if dump:
                self._dump = self.folder / "dump"
                monitor.dump(self._dump)
                monitor.reset()
            monitor.cont()

    def _traces(self) -> Iterator[tuple[str, Path]]:
        """The traces that were made of what the machine left, each with the way it came."""
        yield "bank", self._out / "bank.dbrk"
        if self._dump:
            trace = self.folder / "dump.dbrk"
            paths.run_ending([self._programs.daybreak, "extract", self._dump, "-o", trace], (0, 3), "extract failed")
            self._dump.unlink()
            yield "dump", trace

    def _compare(self, verdict: Verdict, way: str, trace: Path) -> None:
        if not trace.exists():
            verdict.lost.append(f"{way}: there is no trace")
            return
        report = paths.run_ending([self._programs.daybreak, "report", "-q", trace], (0, 3), f"report of {trace} failed")
        wrong, lost = truth.check(report, self._truth)
        verdict.wrong += [f"{way}: {text}" for text in wrong]
        verdict.lost += [f"{way}: {text}" for text in lost]
        if self.kind in ("sysrq", "null", "probe"):
            info = paths.run_ending([self._programs.daybreak, "info", trace], (0, 3), f"info of {trace} failed")
            if "the kernel panicked: " not in info.splitlines()[-1] or "Kernel panic - not syncing: " not in info:
                verdict.lost.append(f"{way}: how it died, or the kernel's last message, is not known")
        verdict.ways.append(f"{way}: {len(report.splitlines())} lines")


def early_archive(kernel: kernels.Kernel, programs: paths.Programs, folder: Path) -> Path:
    """The early archive with the counting program embedded."""
    image, module, archive = folder / "in/counter.dof", folder / "daybreak.ko", folder / "early.cpio"
    paths.run([programs.daybreak, "compile", "-s", CRASHES / "counter.d", "-o", image, "--kernel", kernel.image],
              "compiling counter.d failed")
    paths.run([programs.daybreak, "embed", image, "--module", case.module_of(kernel), "-o", module], "embedding failed")
    paths.run([paths.ROOT / "bootloader-hooks/make-cpio", archive, programs.early_init, module],
              "making the early archive failed")
    return archive
