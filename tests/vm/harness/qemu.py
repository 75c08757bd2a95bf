# SPDX-License-Identifier: Apache-2.0
"""One running machine: QEMU's command line, its console, its end.

No acceleration is asked for, so it works wherever QEMU does.  QEMU lives in a process group of its
own and dies with this process, whatever happens to it.
"""

import ctypes
import math
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import HarnessError, console, paths, qmp

SHARE_TAG = "share"
_PR_SET_PDEATHSIG = 1

# A test's time limit is what it may take on a machine that does nothing else; this one may be so much busier.
PATIENCE = 5


OVMF = Path("/usr/share/OVMF")  # Debian's package ovmf

# What a kind of disk is to QEMU, and the modules it needs; {id}: its own.
DISKS = {
    "virtio": (["virtio-blk-pci,drive={id}"], ("virtio_blk",)),
    "nvme": (["nvme,drive={id},serial={id}"], ("nvme",)),
    "ahci": (["ahci,id={id}-bus", "ide-hd,drive={id},bus={id}-bus.0"], ("ahci", "sd_mod")),
}


@dataclass(frozen=True)
class Disk:
    """A disk."""

    image: Path
    kind: str = "virtio"  # of DISKS
    write_bytes_per_second: int = 0  # 0: as fast as it goes
    snapshot: bool = False  # what the guest writes is gone with the machine

    def arguments(self, name: str) -> list[str]:
        throttle = f",throttling.bps-write={self.write_bytes_per_second}" if self.write_bytes_per_second else ""
        drive = f"file={_escaped(self.image)},format=raw,if=none,id={name},cache=unsafe,discard=unmap{throttle}"
        drive += ",snapshot=on" if self.snapshot else ""
        devices = [argument for device in DISKS[self.kind][0] for argument in ("-device", device.format(id=name))]
        return ["-drive", drive, *devices]


@dataclass
class Machine:
    """What to boot."""

    kernel: Path | None  # None: the firmware boots the first disk, whose boot loader has the arguments
    initrd: Path | None
    arguments: list[str] = field(default_factory=list)
    memory_mib: int = 512
    cpus: int = 2
    parallel: bool = True
    icount: bool = False
    share: Path | None = None
    timeout_s: float = 120.0
    expected: list[re.Pattern] = field(default_factory=list)
    monitor: Path | None = None  # a socket for qmp.Monitor, for others than run()
    reboot: bool = False  # a reset boots again; otherwise it ends the machine
    disks: list[Disk] = field(default_factory=list)
    cpus_possible: int = 0  # 0: those there are
    second_node: str = ""  # the numbers of its CPUs, "1" or "2-3"; it has half of the memory.  Empty: there is none
    efi_variables: Path | None = None  # the firmware is UEFI, and keeps its variables there; otherwise a BIOS


@dataclass
class Outcome:
    """How it went."""

    findings: console.Findings
    wall_s: float
    timed_out: bool
    exit_status: int
    tail: list[str]
    emulator_hung: bool = False  # QEMU itself: its monitor did not answer
    breakpoint_loop: bool = False  # it answered nothing, and a CPU is at a breakpoint that is not there, for ever

    def problem(self) -> str | None:
        """Why the boot itself is a failure, or None."""
        if self.findings.trouble:
            return f"the kernel reported trouble: {self.findings.trouble[0]}"
        if self.emulator_hung:
            return f"QEMU hung: its monitor did not answer for {qmp.ANSWER_S:.0f} s"
        if self.breakpoint_loop:
            return "a CPU is for ever at a breakpoint that the emulator kept"
        if self.timed_out:
            checks = self.findings.checks
            where = f"after check {checks[-1].name}" if checks else "before its first check"
            return f"the guest hung {where} and was killed after {self.wall_s:.0f} s"
        if self.exit_status != 0:
            return f"QEMU failed with status {self.exit_status}"
        if not self.findings.done:
            return "the guest ended before its script did"
        return None


def memory_nodes(machine: Machine) -> list[str]:
    """The arguments for a machine whose memory is of two nodes; every CPU that there may be is of one of them."""
    if not machine.second_node:
        return []
    first, *rest = [int(number) for number in machine.second_node.split("-")]
    last, end = (rest or [first])[0], max(machine.cpus, machine.cpus_possible) - 1
    of_nodes = [[span for span in ((0, first - 1), (last + 1, end)) if span[0] <= span[1]], [(first, last)]]
    arguments = []
    for node, spans in enumerate(of_nodes):
        cpus = "".join(f",cpus={low}-{high}" for low, high in spans)
        arguments += ["-object", f"memory-backend-ram,id=memory{node},size={machine.memory_mib // 2}M",
                      "-numa", f"node,nodeid={node},memdev=memory{node}{cpus}"]
    return arguments


def command_line(machine: Machine, monitor: Path) -> list[str]:
    """QEMU's arguments.  With icount one instruction takes one nanosecond of guest time, and two
    runs of the same input are the same to the instruction."""
    if machine.icount:
        processor = ["-accel", "tcg", "-smp", str(machine.cpus), "-icount", "shift=0,sleep=off",
                     "-rtc", "base=2024-01-01,clock=vm", "-seed", "1"]
        arguments = ["nokaslr", "tsc=reliable", "audit=0", "quiet"]
    else:
        threads = "multi" if machine.parallel else "single"
        possible = max(machine.cpus, machine.cpus_possible)
        # CPUs of one socket are of one memory node.
        sockets = f",sockets={possible}" if machine.second_node else ""
        processor = ["-accel", f"tcg,thread={threads}", "-smp", f"{machine.cpus},maxcpus={possible}{sockets}"]
        # The guest's clock is the host's: a busy host makes a CPU of the guest look stuck for a while, and its
        # timer broken, which is a panic at once; Ubuntu's kernel reports work of 10 ms. A guest that hangs is asked by SysRq
        # what it does.
        arguments = ["loglevel=5", "watchdog_thresh=60", "rcupdate.rcu_cpu_stall_timeout=120", "no_timer_check",
                     "sysrq_always_enabled", "workqueue.cpu_intensive_thresh_us=0"]
    command = [paths.tool("qemu-system-x86_64", "qemu-system-x86"), *processor,
               "-cpu", "max,la57=off", "-m", str(machine.memory_mib), "-nodefaults", "-no-user-config",
               "-display", "none", "-chardev", "stdio,id=console,signal=off,mux=on",
               "-serial", "chardev:console"]
    command += memory_nodes(machine)
    if machine.efi_variables:
        command += ["-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
                    "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={OVMF}/OVMF_CODE_4M.secboot.fd",
                    "-drive", f"if=pflash,unit=1,format=raw,file={_escaped(machine.efi_variables)}"]
    if machine.kernel:
        command += ["-kernel", str(machine.kernel), "-initrd", str(machine.initrd), "-append",
                    " ".join(["console=ttyS0,115200", "panic=-1", *arguments, *machine.arguments])]
    if not machine.reboot:
        command.append("-no-reboot")
    monitor.unlink(missing_ok=True)
    command += ["-qmp", f"unix:{_escaped(monitor)},server=on,wait=off"]
    for index, disk in enumerate(machine.disks):
        command += disk.arguments(f"disk{index}")
    if machine.share:
        command += ["-virtfs", f"local,path={_escaped(machine.share)},mount_tag={SHARE_TAG},"
                    "security_model=none,multidevs=remap"]
    return command


def _escaped(path: Path) -> str:
    """QEMU splits option values at commas; two of them mean one."""
    return str(path).replace(",", ",,")


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Makes the kernel send this process a signal when its parent is gone, whatever ended it."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number)


def kill_group(process: subprocess.Popen) -> None:
    """Ends a process and all that it started, and waits for it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(machine: Machine, log: Path, watch: Callable[[str], None] = lambda line: None) -> Outcome:
    """Boots the machine and returns when it is gone.  The console goes to `log` as it comes, each
    line with the seconds since the start; `watch` sees every line as well."""
    with tempfile.TemporaryDirectory(prefix="daybreak-qemu.") as sockets:
        return _run(machine, machine.monitor or Path(sockets) / "monitor", log, watch)


def _run(machine: Machine, monitor: Path, log: Path, watch: Callable[[str], None]) -> Outcome:
    started = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        process = subprocess.Popen(command_line(machine, monitor), stdin=subprocess.PIPE, bufsize=0,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True, preexec_fn=die_with_parent)
    except OSError as error:
        raise HarnessError(f"cannot start QEMU: {error.strerror}") from error
    reader = _ConsoleReader(machine, monitor, log, watch, started)
    try:
        timed_out = reader.read(process)
    finally:
        kill_group(process)
        process.stdin.close()
        process.stdout.close()
        reader.close()
    return Outcome(reader.findings, time.monotonic() - started, timed_out, process.returncode, reader.tail,
                   reader.emulator_hung, reader.breakpoint_loop)


def run_soundly(machine: Machine, log: Path, clear: Callable[[], None] = lambda: None,
                watch: Callable[[str], None] = lambda line: None) -> Outcome:
    """Like run(), but once more if the emulator spoilt the first boot, with CPUs that take turns, as with icount
    they do.  What that left over, `clear` removes; that it happened is printed."""
    outcome = run(machine, log, watch)
    stale = outcome.breakpoint_loop or console.stale_breakpoint(outcome.findings)
    spoilt = ("kept a stale breakpoint (QEMU before 8.1)" if stale
              else "hung" if outcome.emulator_hung else "")
    if spoilt and machine.parallel:
        print(f"   the emulator {spoilt}: again{'' if machine.icount else ', its CPUs taking turns'}", flush=True)
        clear()
        outcome = run(replace(machine, parallel=False, timeout_s=2 * machine.timeout_s), log, watch)
    return outcome


def _ended(process: subprocess.Popen, limit_s: float) -> bool:
    """Whether QEMU, its console closed, is gone in time."""
    try:
        process.wait(timeout=max(limit_s, 1.0))
    except subprocess.TimeoutExpired:
        return False
    return True


class _ConsoleReader:
    """Turns QEMU's output into lines, a log and findings, until it ends or time is up."""

    TAIL_LINES = 30
    TROUBLE_S = 60.0  # what a guest may still say after its kernel reported trouble
    LAST_WORDS = "9lt"  # SysRq keys for one that hung: print all, what runs on each CPU, each task's stack
    LAST_WORDS_S = 20.0  # what it may say to each of them
    QUIET_S = 3.0  # it has said all when nothing came for so long
    SILENT_S = 60.0  # after so long without a word QEMU is asked whether it still runs

    def __init__(self, machine: Machine, monitor: Path, log: Path, watch: Callable[[str], None], started: float):
        self.findings = console.Findings()
        self.tail: list[str] = []
        self.emulator_hung = self.breakpoint_loop = False
        self._machine, self._monitor, self._watch, self._started = machine, monitor, watch, started
        self._rest = b""
        try:
            self._log = log.open("w", buffering=1, errors="replace")
        except OSError as error:
            raise HarnessError(f"cannot write {log}: {error.strerror}") from error

    def read(self, process: subprocess.Popen) -> bool:
        """Returns whether time ran out."""
        deadline, troubled = math.inf, False
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            # The limit is asked for each time: what watches the console may shorten it.
            while (left := min(deadline, self._started + self._machine.timeout_s) - time.monotonic()) > 0:
                if not selector.select(min(left, self.SILENT_S)):
                    if left > self.SILENT_S and not self._is_spoilt():
                        continue
                    break
                if self.findings.trouble and not troubled:
                    troubled, deadline = True, time.monotonic() + self.TROUBLE_S
                data = os.read(process.stdout.fileno(), 65536)
                if not data:
                    return not _ended(process, left)
                self._take(data)
            if not self.emulator_hung and not self.breakpoint_loop:
                self._take_last_words(process, selector)
        return True

    def _is_spoilt(self) -> bool:
        """Whether the emulator hung, or keeps a CPU at a stale breakpoint; a monitor that others use is left to them."""
        if self._machine.monitor:
            return False
        try:
            with qmp.Monitor(self._monitor) as monitor:
                self.breakpoint_loop = monitor.is_in_breakpoint_loop()
        except HarnessError as error:
            self._write_log(f"-- {error}")
            self.emulator_hung = True
        return self.emulator_hung or self.breakpoint_loop

    def _take_last_words(self, process: subprocess.Popen, selector: selectors.BaseSelector) -> None:
        """Asks a kernel that still answers interrupts where its tasks are, for the log and nothing else.  Its console
        is a serial line: a break and a key are a SysRq, and QEMU sends a break for Ctrl-A b."""
        self._write_log("-- hung: asked for its tasks")
        answered = False
        for key in self.LAST_WORDS:
            deadline = time.monotonic() + self.LAST_WORDS_S
            try:
                process.stdin.write(b"\x01b" + key.encode())
                while time.monotonic() < deadline and selector.select(self.QUIET_S):
                    if not (data := os.read(process.stdout.fileno(), 65536)):
                        return
                    answered = True
                    *lines, self._rest = (self._rest + data).split(b"\n")
                    for raw in lines:
                        self._write_log(console.clean(raw.decode(errors="replace")))
            except BrokenPipeError:
                return
        self._rest = b""
        if not answered:
            self._take_cpu_places()

    def _take_cpu_places(self) -> None:
        """Of a kernel that answers no interrupt its CPUs say where they are, in what is printed of a failed case, too."""
        try:
            with qmp.Monitor(self._monitor) as monitor:
                lines = monitor.cpu_places()
                self.breakpoint_loop = monitor.is_in_breakpoint_loop()
        except HarnessError as error:
            lines = [str(error)]
        for line in lines:
            self._write_log(line)
        self.tail += ["-- it answers no interrupt; its CPUs are at:", *lines]

    def close(self) -> None:
        if self._rest:
            self._take(b"\n")
        self._log.close()

    def _take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for raw in lines:
            line = console.clean(raw.decode(errors="replace"))
            self._write_log(line)
            self.tail = [*self.tail[1 - self.TAIL_LINES:], line]
            console.read_line(self.findings, line, self._machine.expected)
            self._watch(line)

    def _write_log(self, line: str) -> None:
        self._log.write(f"{time.monotonic() - self._started:8.3f} {line}\n")
