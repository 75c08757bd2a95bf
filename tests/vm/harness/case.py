# SPDX-License-Identifier: Apache-2.0
"""One boot that serves many checks.

A case is a folder of tests/vm/cases:

    case.toml   what to boot, see the fields of Case
    guest.sh    run in the guest; prints CHECK lines (tests/vm/guest/checks.sh)
    *.d         programs that case.toml names
    prepare     optional, on the host before the boot: fills $IN, which is the guest's /share/in
    verify      optional, on the host after it: reads $OUT, prints CHECK lines

prepare and verify run with the folder of the boot, where console.log lies, as their working folder
and with DAYBREAK, MODULE (daybreak.ko, nothing embedded), OTHER_MODULE (the other kernel's), SERIES,
VMLINUZ, KERNEL_BUILD, ROOT, IN and OUT in their environment; tests/nightly sets DAYBREAK_NIGHT.
"""

import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path

from . import HarnessError, console, guest, kernels, packages, paths, qemu, qmp, secure_boot

CASES = paths.TESTS_VM / "cases"


@dataclass
class Case:
    """The fields of case.toml; what is left out has the default written here."""

    name: str
    about: str = ""
    like: str = ""  # a case whose scripts and programs this one shares
    kernels: tuple[str, ...] = kernels.SERIES
    left_out: dict[str, str] = field(default_factory=dict)  # kernels of nightly that it is not a case for, and why
    image: str = "busybox"  # "debian"; "grub", "dracut", "crypt", "systemd-boot" or "uki": a disk with Debian, of which early, arguments and modules are no part;
    # "shim": busybox by shim and GRUB under Secure Boot; prepare makes in/esp with grub.cfg and in/owner.der, the owner's key; with-initrd what needs the initrd
    embed: tuple[str, ...] = ()  # D programs embedded into the module that early-init loads; .dof: as prepare made it in /share/in
    beside: tuple[str, ...] = ()  # files of /share/in, compiled or of prepare, beside the module that early-init loads
    wrong_kernel: bool = False  # early-init gets the other kernel's module
    early: str = "none"  # where the early archive lies; "none": the guest script loads what it needs
    compile: tuple[str, ...] = ()  # D programs that lie compiled in /share/in
    embedded_modules: dict[str, tuple[str, ...]] = field(default_factory=dict)  # FILE.ko -> embedded programs
    packages: tuple[str, ...] = ()  # of Debian, whose files prepare and verify find in the folder PACKAGES
    programs: tuple[str, ...] = ()  # of tests/vm/guest, on the guest's PATH
    arguments: tuple[str, ...] = ()
    crash_module: bool = False  # tests/vm/crashes/kernel, as /share/in/crash.ko
    trust_module: bool = False  # tests/vm/trust, as /share/in/trust.ko
    own_providers: bool = False  # examples/provider and tests/vm/misuse, as /share/in/sample.ko and misuse.ko
    nmi_at: str = ""  # when the guest prints this, each of its CPUs gets an NMI
    dump_at: str = ""  # when the guest prints this, its memory is dumped into ./dump, then /share/in/dumped is there
    expected: tuple[str, ...] = ()  # kernel trouble that the test provokes, as regular expressions
    dumps: tuple[str, ...] = ()  # the guest panics; its memory in these forms: dump.elf, dump.kdump-zlib, dump.raw
    memory_mib: int = 512
    cpus: int = 2
    cpus_possible: int = 0  # that the firmware says may be plugged in; 0: no more than there are
    second_node: str = ""  # CPUs of a second memory node, which has half of the memory
    parallel: bool = True  # false: the CPUs take turns, for cases that patch code all the time
    icount: bool = False  # an instruction is a nanosecond, of all CPUs together
    timeout_s: float = 120.0
    nightly: tuple[str, ...] = ()  # of the kernels, those on which only tests/nightly runs it (docs/design/0060-an-hour.md)
    disk_bytes_per_second: int = 0  # a disk /dev/vda of 512 MiB, ext4, which writes no faster; 0: none
    disks: tuple[str, ...] = ()  # empty disks of 64 MiB, by kind (qemu.DISKS)
    modules: tuple[str, ...] = ()  # of the kernel, loaded before the script
    packed: bool = False  # the kernel is vmlinuz, which unpacks itself where it likes (KASLR), as boot loaders start it
    reboot: bool = False  # a reset of the guest boots it again; otherwise it is the guest's end

    @property
    def folder(self) -> Path:
        return CASES / (self.like or self.name)


@dataclass
class Result:
    """What a boot of a case showed."""

    checks: list[console.Check]
    problem: str | None
    wall_s: float
    tail: list[str]

    @property
    def failed(self) -> bool:
        return self.problem is not None or any(check.failed for check in self.checks)


def load(name: str) -> Case:
    """Reads a case; an unknown field is an error, so that none is silently without effect."""
    file = CASES / name / "case.toml"
    try:
        values = tomllib.loads(file.read_text())
    except OSError as error:
        raise HarnessError(f"cannot read {file}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise HarnessError(f"{file}: {error}") from error
    unknown = values.keys() - {known.name for known in fields(Case)}
    if unknown:
        raise HarnessError(f"{file}: unknown field {', '.join(sorted(unknown))}")
    found = Case(name, **values)
    for series in set(found.nightly) - set(found.kernels):
        raise HarnessError(f"{file}: nightly has {series}, which is none of its kernels")
    return found


def names() -> list[str]:
    """All cases, by name."""
    return sorted(file.parent.name for file in CASES.glob("*/case.toml"))


class _MemorySaver:
    """Saves a guest's memory once its kernel says that it panicked, and ends the machine."""

    def __init__(self, forms: tuple[str, ...], memory_mib: int, folder: Path, socket: Path):
        self.socket = socket
        self.done = False  # in this boot
        self._forms, self._memory_mib, self._folder = forms, memory_mib, folder

    def watch(self, line: str) -> None:
        if not self._forms or self.done or "end Kernel panic" not in line:
            return
        with qmp.Monitor(self.socket) as monitor:
            monitor.stop()
            for form in self._forms:
                path = self._folder / f"dump.{form}"
                if form == "raw":
                    monitor.save_memory(0, self._memory_mib << 20, path)
                else:
                    monitor.dump(path, None if form == "elf" else form)
            self.done = True
            monitor.execute("quit")


class Boot:
    """One case on one kernel."""

    def __init__(self, case: Case, kernel: kernels.Kernel, programs: paths.Programs):
        self._case, self._kernel, self._programs = case, kernel, programs
        self.folder = paths.BUILD / "vm" / kernel.series / case.name
        self._in, self._out = self.folder / "in", self.folder / "out"

    def run(self) -> Result:
        """Prepares, boots, verifies; alone in its folder, however many harnesses run."""
        with paths.locked(self.folder):
            return self._run()

    def _run(self) -> Result:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._in.mkdir(parents=True)
        self._out.mkdir()
        self._build()
        self._make_by("prepare")
        early = self._early_archive()
        machine = self._machine(early)
        with tempfile.TemporaryDirectory(prefix="daybreak-case.") as sockets:
            socket = Path(sockets) / "monitor"
            saver = _MemorySaver(self._case.dumps, machine.memory_mib, self.folder, socket)
            machine.monitor = socket if self._case.dumps or self._case.dump_at or self._case.nmi_at else None
            watch = saver.watch if self._case.dumps else lambda line: self._watch(machine, line)

            def clear() -> None:
                saver.done = False
                self._clear_output()

            outcome = qemu.run_soundly(machine, self.folder / "console.log", clear, watch)
        if saver.done:  # died as it should; QEMU was asked to go then
            outcome.findings.done = True
        if machine.initrd:
            machine.initrd.unlink(missing_ok=True)
        checks, problem = outcome.findings.checks, outcome.problem()
        if problem is None:
            checks = checks + console.parse_checks(self._host_script("verify"))
            if not checks:
                problem = "nothing was checked"
        return Result(checks, problem, outcome.wall_s, outcome.tail)

    def _watch(self, machine: qemu.Machine, line: str) -> None:
        """Does what the guest asks for: an NMI, or its memory taken while it stands still."""
        if self._case.nmi_at and self._case.nmi_at in line:
            with qmp.Monitor(machine.monitor) as monitor:
                monitor.execute("inject-nmi")
        if not self._case.dump_at or self._case.dump_at not in line:
            return
        with qmp.Monitor(machine.monitor) as monitor:
            monitor.stop()
            monitor.dump(self.folder / "dump")
            (self._in / "dumped").touch()
            monitor.cont()

    def _clear_output(self) -> None:
        (self._in / "dumped").unlink(missing_ok=True)
        shutil.rmtree(self._out)
        self._out.mkdir()

    def _build(self) -> None:
        """Compiles the case's programs and makes its modules."""
        case, module = self._case, module_of(self._kernel)
        for program in {*case.compile, *case.embed, *sum(map(tuple, case.embedded_modules.values()), ())}:
            if not program.endswith(".dof"):
                self._compile(program)
        for name, programs in case.embedded_modules.items():
            self._embed(module, tuple(programs), self._in / name)
        if case.crash_module:
            shutil.copy(crash_module(self._kernel), self._in)
        if case.trust_module:
            shutil.copy(test_module(self._kernel, paths.TESTS_VM / "trust"), self._in)
        if case.own_providers:
            for source in (paths.ROOT / "examples/provider", paths.TESTS_VM / "misuse"):
                shutil.copy(test_module(self._kernel, source, module), self._in)

    def _early_archive(self) -> Path | None:
        """What early-init loads, and itself."""
        case, module = self._case, module_of(self._kernel)
        if case.early == "none":
            return None
        if case.wrong_kernel:
            module = module_of(self._kernel.other())
        elif case.embed:
            embedded = self.folder / "daybreak.ko"
            self._embed(module, case.embed, embedded)
            module = embedded
        archive = self.folder / "early.cpio"
        paths.run([paths.ROOT / "bootloader-hooks/make-cpio", archive, self._programs.early_init, module,
                   *(self._in / file for file in case.beside)],
                  "making the early archive failed")
        return archive

    def _compile(self, program: str) -> None:
        paths.run([self._programs.daybreak, "compile", "-s", self._case.folder / program, "-o",
                   self._in / f"{Path(program).stem}.dof", "--kernel", self._kernel.image],
                  f"compiling {program} failed")

    def _embed(self, module: Path, programs: tuple[str, ...], output: Path) -> None:
        images = [self._in / f"{Path(program).stem}.dof" for program in programs]
        paths.run([self._programs.daybreak, "embed", *images, "--module", module, "-o", output],
                  f"embedding {', '.join(programs)} failed")

    def _machine(self, early: Path | None) -> qemu.Machine:
        case, disks = self._case, self._disks()
        kernel, initrd = self._kernel.image if case.packed else self._kernel.unpacked, self.folder / "initrd"
        efi_variables = None
        if case.image == "shim":
            self._write_initrd(initrd, early, disks)
            disks.insert(0, self._shim_disk(self._kernel.image, initrd))
            efi_variables = self.folder / "efi-variables"
            secure_boot.write_variables(efi_variables, (self._in / "owner.der").read_bytes())
            kernel = initrd = None
        elif case.image in ("grub", "dracut", "crypt", "systemd-boot", "uki"):
            kernel = initrd = None
            disks.insert(0, qemu.Disk(guest.boot_disk(case.image, self._kernel), snapshot=True))
            shutil.copy(case.folder / "guest.sh", self._in)
            if case.image in ("systemd-boot", "uki"):
                efi_variables = self.folder / "efi-variables"
                shutil.copy(qemu.OVMF / "OVMF_VARS_4M.fd", efi_variables)
        else:
            self._write_initrd(initrd, early, disks)
        arguments = ["rdinit=/daybreak/early-init"] if early else []
        return qemu.Machine(kernel, initrd, [*arguments, *case.arguments],
                            case.memory_mib * self._kernel.slowness, case.cpus, case.parallel, case.icount, self.folder,
                            self._limit_s(),
                            [re.compile(pattern) for pattern in case.expected], reboot=case.reboot,
                            disks=disks, cpus_possible=case.cpus_possible, second_node=case.second_node, efi_variables=efi_variables)

    def _shim_disk(self, kernel: Path, initrd: Path) -> qemu.Disk:
        self._make_by("with-initrd", {"INITRD": initrd, "PACKAGES": packages.unpacked(secure_boot.PACKAGES)})
        files = {f"{'EFI/debian/' if file.name == 'grub.cfg' else ''}{file.name}": file for file in (self._in / "esp").iterdir()}
        disk = self.folder / "boot-disk"
        secure_boot.write_disk(disk, files | {"vmlinuz": kernel, "initrd": initrd})
        initrd.unlink()
        return qemu.Disk(disk)

    def _write_initrd(self, initrd: Path, early: Path | None, disks: list[qemu.Disk]) -> None:
        case = self._case
        programs = [self._programs.daybreak, *map(paths.guest_program, case.programs)]
        modules = [*case.modules, *(name for disk in disks for name in qemu.DISKS[disk.kind][1])]
        if case.disk_bytes_per_second:
            modules += ["crc32c_generic", "ext4"]
        image = "busybox" if case.image == "shim" else case.image
        system = guest.Guest(self._kernel, case.folder / "guest.sh", image, modules=tuple(modules), programs=programs,
                             early=early, place=case.early)
        system.write_initrd(initrd)

    def _limit_s(self) -> float:
        return qemu.PATIENCE * self._kernel.slowness * self._case.timeout_s

    def _disks(self) -> list[qemu.Disk]:
        """The case's disks, made anew."""
        disks = []
        if self._case.disk_bytes_per_second:
            disks.append(qemu.Disk(self.folder / "disk",
                                   write_bytes_per_second=self._case.disk_bytes_per_second))
            disks[0].image.write_bytes(b"")
            paths.run([paths.tool("mke2fs", "e2fsprogs"), "-q", "-t", "ext4", disks[0].image, "512M"],
                      "making the disk failed")
        for kind in self._case.disks:
            disks.append(qemu.Disk(self.folder / f"disk-{kind}", kind))
            with disks[-1].image.open("wb") as image:
                image.truncate(64 << 20)
        return disks

    def _make_by(self, name: str, more: dict = {}) -> None:
        """Runs the case's host script that makes what the guest needs, if it has one: there is no guest when it fails."""
        if failures := [one for one in console.parse_checks(self._host_script(name, more)) if one.failed]:
            raise HarnessError(f"{name} of case {self._case.name}: {failures[0].detail}")

    def _host_script(self, name: str, more: dict = {}) -> str:
        """Runs the case's host script, if it has one, with `more` in its environment, and returns what it printed."""
        script = self._case.folder / name
        if not script.exists():
            return ""
        environment = os.environ | {
            "DAYBREAK": str(self._programs.daybreak), "MODULE": str(module_of(self._kernel)),
            "OTHER_MODULE": str(module_of(self._kernel.other())), "SERIES": self._kernel.series,
            "VMLINUZ": str(self._kernel.image),
            "KERNEL_BUILD": str(self._kernel.build),
            "ROOT": str(paths.ROOT), "IN": str(self._in), "OUT": str(self._out),
            "PYTHONPATH": str(paths.TESTS_VM)} | {name: str(value) for name, value in more.items()}
        if self._case.packages:
            environment["PACKAGES"] = str(packages.unpacked(self._case.packages))
        limit_s = self._limit_s()
        try:
            done = subprocess.run([script], cwd=self.folder, env=environment, stdout=subprocess.PIPE, timeout=limit_s,
                                  stderr=subprocess.STDOUT, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return f"CHECK {name} fail did not end in {limit_s:.0f} s\n"
        if done.returncode != 0:
            last = (done.stdout.strip().splitlines() or ["no message"])[-1]
            return f"{done.stdout}\nCHECK {name} fail ended with {done.returncode}: {last}\n"
        return done.stdout


def module_of(kernel: kernels.Kernel) -> Path:
    """Returns daybreak.ko for a kernel, built when it is older than its sources."""
    folder = paths.BUILD / "kmod" / kernel.release
    module = folder / "daybreak.ko"
    sources = [file for part in ("kmod", "engine", "formats/abi") for file in (paths.ROOT / part).rglob("*")
               if file.is_file()]
    with paths.locked(folder / "daybreak.ko"):
        if paths.is_older(module, *sources):
            paths.run([paths.ROOT / "kmod/build", kernel.build, folder],
                      f"building the module for {kernel.release} failed")
            module.touch()
    return module


def crash_module(kernel: kernels.Kernel) -> Path:
    """crash.ko of tests/vm/crashes for a kernel."""
    return test_module(kernel, paths.TESTS_VM / "crashes/kernel")


def test_module(kernel: kernels.Kernel, source: Path, daybreak: Path | None = None) -> Path:
    """The module of a folder for a kernel, built when it is older than its source, or than the Daybreak that it needs."""
    name = next(source.glob("*.c")).stem
    folder = paths.BUILD / "vm" / name / kernel.release
    module = folder / f"{name}.ko"
    with paths.locked(folder):
        needed = [daybreak, paths.ROOT / "kmod/include/daybreak_provider.h"] if daybreak else []
        if paths.is_older(module, source / f"{name}.c", *needed):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
            # Without BTF, as kmod/build: making it takes pahole.
            paths.run(["make", "-s", "-C", kernel.build, f"M={folder}", "CONFIG_DEBUG_INFO_BTF_MODULES=",
                       *([f"DAYBREAK={paths.ROOT}", f"KBUILD_EXTRA_SYMBOLS={daybreak.parent}/tree/Module.symvers"]
                         if daybreak else []), "modules"], f"building {name}.ko failed")
    return module
