# SPDX-License-Identifier: Apache-2.0
"""Where mutants are made and tried: a clone of the tree, its builds, and which tests are near to which folder."""

import os
import re
import resource
import shutil
import signal
import subprocess
import tomllib
from pathlib import Path

import table

CASES = Path(__file__).resolve().parents[1] / "vm/cases"

# Folder -> tests (regular expressions of ctest names, or "vm:CASE"), the nearest first: what one stage lets live
# goes on to the next. The first that fits counts.
UNIT_AND_D = ["^d_(cl|[abd-z])", "^(cli_(anonymous|options|probes|status)|prop_aggregates|interop_(ours|theirs))$"]
NEAREST = [
    ("engine/sim/", ["^engine_sim$", *UNIT_AND_D]),
    ("engine/", ["^engine$", "^(engine_sim|prop_ring|prop_tending|fault_engine)$", *UNIT_AND_D, "^prop_expressions$"]),
    ("compiler/", ["^compiler_", *UNIT_AND_D, "^prop_expressions$"]),
    ("formats/segment/", ["^segment$", "^(trace|recorder|extract|analyze|hostile_files|prop_tending|fault_trace|dump)$", *UNIT_AND_D]),
    ("formats/trace/", ["^trace$", "^(recorder|extract|hostile_files|fault_trace|fault_follow)$", *UNIT_AND_D]),
    ("formats/bank/", ["^bank$", "^(recorder|extract)$"]),
    ("formats/dump/", ["^dump$", "^extract$"]),
    ("formats/kallsyms/", ["^extract$", "^compiler_kernel_symbols$"]),
    ("formats/dof/", ["^formats_dof$", "^compiler_", *UNIT_AND_D]),
    ("formats/status/", ["^formats_status$", "^(recorder|cli_status)$"]),
    ("formats/module/", ["^formats_module$", "^cli_anonymous$", "vm:loading"]),
    ("recorder/", ["^(recorder|extract)$", "^(prop_tending|fault_follow|fault_output)$", *UNIT_AND_D, "vm:follow"]),
    ("live/process/", ["^live_process$", "^cli_", "^d_(cl|[abd-z])"]),
    ("live/session/", ["^live_session$", "^cli_", "^d_(cl|[abd-z])", "vm:session"]),
    ("live/", ["^live$", "^(recorder|engine_sim)$", "^(prop_tending|fault_follow)$", *UNIT_AND_D, "vm:session"]),
    ("analyze/", ["^analyze$", "^engine_sim$", *UNIT_AND_D]),
    ("base/", ["^base$", "^(trace|segment|recorder|extract|formats_dof)$", *UNIT_AND_D, "^fault_output$"]),
    ("cmd/", ["^cli_", "^d_(cl|[abd-z])", "^fault_output$", "vm:session"]),
    ("kmod/providers/fbt", ["^kmod$", "vm:life", "vm:providers"]),
    ("kmod/providers/", ["^kmod$", "vm:early", "vm:life", "vm:io", "vm:providers"]),
    ("kmod/triggers/", ["^kmod$", "vm:trigger", "vm:reports", "vm:bank"]),
    ("kmod/bank/", ["^kmod$", "vm:bank"]),
    ("kmod/host/act", ["^kmod$", "vm:actions"]),
    ("kmod/core/beside", ["^kmod$", "vm:beside"]),
    ("kmod/maps/", ["^kmod$", "vm:user-stacks"]),
    ("kmod/", ["^kmod$", "vm:device", "vm:loading", "vm:session"]),
    ("bootloader-hooks/install/", ["^install$", "^fault_install$", "^cli_install$"]),
    ("bootloader-hooks/", ["^kmod$", "vm:early", "vm:early-wrong"]),
]

# The stage that looks for data races: in a build of its own, a weak barrier is one.
RACES = "races"

# What one test may use of time, of the processor and of memory before it counts as failed. A mutant may run, or wait, for ever.
TEST_SECONDS = 400
CPU_SECONDS = 100
MEMORY_BYTES = 8 << 30


_running: set[subprocess.Popen] = set()  # of all workshops


def end_all() -> None:
    """Ends what runs, with all that it started."""
    for process in list(_running):
        _end(process)


def _end(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class WorkshopError(Exception):
    """The unchanged tree does not build or does not pass."""


def stages_of(mutant: table.Mutant) -> list[str]:
    near = next((stages for prefix, stages in NEAREST if mutant.file.startswith(prefix)), None)
    if near is None:
        raise WorkshopError(f"{mutant.file}: NEAREST has no tests for its folder")
    return [RACES if case == RACES else f"vm:{case}" for case in mutant.case.split()] or near


def series_of(case: str) -> str:
    """The kernel that a VM case runs on here: 6.1, or the only one it is for."""
    kernels = tomllib.loads((CASES / case / "case.toml").read_text()).get("kernels", ["6.1"])
    return "6.1" if "6.1" in kernels else kernels[0]


def needs_no_vm(mutant: table.Mutant) -> bool:
    return not stages_of(mutant)[0].startswith("vm:")


class Workshop:
    """A clone with its builds; one mutant at a time."""

    def __init__(self, root: Path, folder: Path, vm: bool):
        self._vm = vm
        self._tree, self._build = folder / "tree", folder / "tree/build/mutants"
        self._sound: set[str] = set()  # stages that the unchanged tree passes
        self._programs: dict[str, list[str]] = {}  # stage -> what is built for it
        folder.mkdir(parents=True, exist_ok=True)
        self._copy(root)
        self._must(["cmake", "-S", ".", "-B", self._build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                    "-DCMAKE_C_FLAGS=-O1", "-DCMAKE_CXX_FLAGS=-O1", "-DDAYBREAK_STATIC=OFF"], "configuring failed")

    def _copy(self, root: Path) -> None:
        """The files of the checkout, as they are now; what did not change keeps its time, so that nothing is built twice."""
        self._tree.mkdir(exist_ok=True)
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                               capture_output=True, text=True, check=True).stdout.split("\0")
        wanted = {name for name in names if name and (root / name).exists()}
        for old in self._tree.rglob("*"):
            inside = old.relative_to(self._tree)
            if inside.parts[0] != "build" and old.is_file() and str(inside) not in wanted:
                old.unlink()
        for name in wanted:
            source, target = root / name, self._tree / name
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for name in ("kernels", "images"):  # what guests are made of
            link = self._tree / "build" / name
            link.parent.mkdir(exist_ok=True)
            if (root / "build" / name).exists() and not link.exists():
                link.symlink_to(root / "build" / name)

    def _run(self, command: list, limited: bool = False) -> tuple[int, str]:
        """Runs a command in the tree; it ends with all that it started."""
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        process = subprocess.Popen([str(part) for part in command], cwd=self._tree, text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True, preexec_fn=limit if limited else None)
        _running.add(process)
        try:
            output, _ = process.communicate()
        finally:
            _end(process)
            process.wait()
            _running.discard(process)
        return process.returncode, output

    def _must(self, command: list, what: str) -> None:
        status, output = self._run(command)
        if status != 0:
            raise WorkshopError(f"{what}: {output[-2000:]}")

    def _built(self, stage: str) -> tuple[bool, str]:
        if stage.startswith("vm:"):
            if not (self._tree / "build/release/build.ninja").exists():
                self._must(["cmake", "-S", ".", "-B", "build/release", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                            "-DDAYBREAK_TESTS=OFF"], "configuring failed")
            status, output = self._run(["ninja", "-C", "build/release"])
            return status == 0, output
        if stage == RACES:
            status, output = self._run(["cmake", "-S", ".", "-B", "build/races", "-G", "Ninja", "-DDAYBREAK_SANITIZE=thread"])
            if status == 0:
                status, output = self._run(["ninja", "-C", "build/races", "test_engine"])
            return status == 0, output
        if stage not in self._programs:
            self._programs[stage] = self._targets(stage)
        if not self._programs[stage]:
            return True, ""
        status, output = self._run(["ninja", "-C", self._build, *self._programs[stage]])
        return status == 0, output

    def _targets(self, stage: str) -> list[str]:
        """The programs that a stage's tests run."""
        outputs = set(re.findall(r"^build (\S+):", (self._build / "build.ninja").read_text(), re.M))
        found = set()
        for file in (self._build / "tests").rglob("CTestTestfile.cmake"):
            for name, command in re.findall(r"^add_test\((?:\[=*\[)?([^\s\]]+)(?:\]=*\])? (.*)\)$", file.read_text(), re.M):
                if re.search(stage, name):
                    found |= {os.path.relpath(word, self._build) for word in re.findall(r'"([^"]*)"', command)
                              if word.startswith(str(self._build))}
        return sorted(found & outputs)

    def _ctest(self, stage: str) -> tuple[str, str]:
        """The first test that fails, or "", and where it does if it says so."""
        status, output = self._run(["ctest", "--test-dir", self._build, "-R", stage, "--stop-on-failure", "-LE", "vm|perf",
                                    "--timeout", str(TEST_SECONDS), "--no-tests=error", "--output-on-failure"], limited=True)
        if status == 0 and "tests passed" in output:
            return "", ""
        failed = re.findall(r"^\s*\d+ - (\S+) \(", output, re.M)
        if not failed:  # an expression that ctest cannot read, or that names nothing
            raise WorkshopError(f"ctest -R '{stage}' runs no test: {output[-500:]}")
        where = re.findall(r"([\w.-]+_test\.cpp:\d+): FAILED", output)
        return failed[0], (where or [""])[0]

    def _passes(self, stage: str) -> tuple[bool, str]:
        """Whether a stage passes; if not, by what it was noticed."""
        if stage.startswith("vm:"):
            status, output = self._run([self._tree / "tests/vm/run", "--exact", "--kernel", series_of(stage[3:]), stage[3:]])
            if re.search(r"^run: .*(compil|build)", output, re.M):
                return False, "build of the module"
            failed = re.findall(r"^   fail ([^\n]{,90})", output, re.M)
            return status == 0, f"{stage}: {failed[0] if failed else 'status %d' % status}"
        if stage == RACES:
            status, output = self._run(["build/races/tests/unit/engine/test_engine", "[parallel]"])
            where = re.findall(r"^SUMMARY: ThreadSanitizer: data race \S*?(\w+\.\w+:\d+)", output, re.M)
            return status == 0, f"a data race at {where[0]}" if where else f"test_engine: status {status}"
        for _ in range(3):
            failed, where = self._ctest(stage)
            if not failed:
                break
            # Once more, alone: what failed for another reason than the mutant is not a kill.
            if self._ctest(f"^{re.escape(failed)}$")[0]:
                return False, f"{failed} {where}".rstrip()
        return True, ""

    def _ensure_sound(self, stage: str) -> None:
        if stage in self._sound:
            return
        built, output = self._built(stage)
        if not built:
            raise WorkshopError(f"the unchanged tree does not build: {output[-2000:]}")
        passed, by = self._passes(stage)
        if not passed:
            raise WorkshopError(f"the unchanged tree fails in {by}")
        self._sound.add(stage)

    def judge(self, mutant: table.Mutant) -> tuple[str, str]:
        """Returns the verdict on a mutant, and by what."""
        path = self._tree / mutant.file
        original = path.read_text()
        mutated = mutant.apply(original)
        try:
            for stage in stages_of(mutant):
                if stage.startswith("vm:") and not self._vm:
                    continue
                path.write_text(original)
                self._ensure_sound(stage)
                path.write_text(mutated)
                built, output = self._built(stage)
                if not built:
                    lines = [line for line in output.splitlines() if "error" in line]
                    return ("broken", (lines or [output[-200:]])[0])
                passed, by = self._passes(stage)
                if not passed:
                    return ("broken", by) if by == "build of the module" else ("killed", by)
        finally:
            path.write_text(original)
        return "survived", ""
