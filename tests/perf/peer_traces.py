# SPDX-License-Identifier: Apache-2.0
"""Traces of other tracers, made now with what Debian's packages have, and the commands that read them.

perf, trace-cmd and Daybreak record one load (guest/load.c) in one guest of two CPUs, one after the other: each system call, what
it returns, each switch of context. LTTng's modules for the kernel do not compile against Debian's 6.1 (docs/design/0069), so LTTng
records a tracepoint of user space instead, on this host, in namespaces that end with all that was started in them.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vm"))
from harness import HarnessError, case, guest, kernels, paths, qemu

LOAD = "4,20000"  # processes and rounds: 0.9 million events
FIRED = 5_000_000
EVENTS_MIN = 500_000
SYSTEM_CALLS, TRACEPOINT = "system calls and switches of a guest's load", "a tracepoint of user space, with procname"
LTTNG_TOOLS = {"lttng": "lttng-tools", "lttng-sessiond": "lttng-tools", "lttng-gen-tp": "liblttng-ust-dev", "babeltrace2": "babeltrace2"}
GUEST_TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}
NAMESPACES = ["setpriv", "--pdeathsig", "KILL", "unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork",
              "--kill-child=KILL", "--mount-proc"]
QUESTION = "syscall:::entry, syscall:::return, sched:::off-cpu { @[execname, probefunc] = count(); }"
AWK = "awk 'NR > %d { c[$1 \" \" $%d]++ } END { for (k in c) print k, c[k] }'"  # lines before the first event, column of its name


@dataclass(frozen=True)
class Peer:
    """A reader, and its trace."""

    reader: str
    kind: str  # of the events
    trace: str  # its name in the folder of traces
    command: str  # {trace}, {daybreak}
    tools: dict[str, str] = field(default_factory=dict)  # the commands it takes -> their packages
    count: str = r" (\d+)$"  # what finds the numbers of events in what the command prints

    def missing(self) -> str:
        """Which tool is missing, or an empty string."""
        try:
            for name, package in self.tools.items():
                paths.tool(name, package)
        except HarnessError as error:
            return str(error)
        return ""

    def command_for(self, daybreak: Path, trace: Path) -> str:
        return self.command.replace("{daybreak}", shlex.quote(str(daybreak))).replace("{trace}", shlex.quote(str(trace)))

    def events(self, text: str) -> int:
        return sum(int(number) for number in re.findall(self.count, text, re.MULTILINE))


PEERS = (
    Peer("daybreak report, rows", SYSTEM_CALLS, "rows.dbrk", "{daybreak} report {trace}", GUEST_TOOLS),
    Peer("daybreak report, columns", SYSTEM_CALLS, "load.dbrk", "{daybreak} report {trace}", GUEST_TOOLS),
    Peer("daybreak replay, columns", SYSTEM_CALLS, "load.dbrk", "{daybreak} replay -q -n " + shlex.quote(QUESTION) + " {trace}", GUEST_TOOLS),
    Peer("perf script | awk", SYSTEM_CALLS, "perf.data", "perf script -i {trace} -F comm,event | " + AWK % (0, 2),
         {"perf": "linux-perf", **GUEST_TOOLS}),
    Peer("trace-cmd report | awk", SYSTEM_CALLS, "trace.dat", "trace-cmd report {trace} | " + AWK % (1, 4),
         {"trace-cmd": "trace-cmd", **GUEST_TOOLS}),
    Peer("babeltrace2 -c sink.utils.counter", TRACEPOINT, "ctf", "babeltrace2 {trace} -c sink.utils.counter -p step=+0", LTTNG_TOOLS,
         r"^ *(\d+) Event messages"),
)


def record_load(daybreak: Path, folder: Path) -> None:
    """Records the load in a guest, under each tracer that this host has, into folder/out."""
    kernel, image, module = kernels.get("6.1"), folder / "peers.dof", folder / "peers.ko"
    paths.run([daybreak, "compile", "-s", HERE / "programs/peers.d", "-o", image, "--kernel", kernel.image],
              "compiling peers.d failed")
    paths.run([daybreak, "embed", image, "--module", case.module_of(kernel), "-o", module], "embedding failed")
    paths.run([paths.tool("gcc", "build-essential"), "-O2", "-static", "-o", folder / "load", HERE / "guest/load.c"],
              "building load.c failed")
    files = [(module, "perf/peers.ko")]
    for peer in PEERS:
        name = next(iter(peer.tools))
        if peer.kind == SYSTEM_CALLS and name not in GUEST_TOOLS and not peer.missing():
            guest.portable(Path(paths.tool(name, "")).resolve(), folder / name)
            files += [(file, f"daybreak-vm/bin/{file.relative_to(folder / name)}") for file in (folder / name).rglob("*")
                      if file.is_file()]
    guest.Guest(kernel, HERE / "guest/peers.sh", programs=[daybreak, folder / "load"],
                files=files).write_initrd(folder / "initrd")
    log = paths.BUILD / "perf/peers.log"
    machine = qemu.Machine(kernel.unpacked, folder / "initrd", [f"perf.load={LOAD}"], share=folder, memory_mib=2048, timeout_s=1200.0)
    if problem := qemu.run_soundly(machine, log).problem():
        raise HarnessError(f"{problem} (log: {log})")
    out = folder / "out"
    paths.run_ending([daybreak, "pack", "-q", "--rows", out / "load.dbrk", "-o", out / "rows.dbrk"], (0, 3), "packing failed")


def record_tracepoint(folder: Path) -> None:
    """Records a tracepoint of user space with LTTng into folder/out/ctf."""
    paths.run([paths.tool("gcc", "build-essential"), "-O2", f"-I{HERE / 'lttng'}", HERE / "lttng/fired.c", "-o", folder / "fired",
               "-llttng-ust"], "building fired.c failed")
    try:
        paths.run([*NAMESPACES, "sh", HERE / "lttng/session.sh", folder, FIRED], "recording with LTTng failed", timeout=600)
    except subprocess.TimeoutExpired as error:
        raise HarnessError("recording with LTTng took ten minutes") from error


def make(daybreak: Path, folder: Path) -> Iterator[tuple[Peer, Path | None, str]]:
    """Makes the traces; of each peer (the peer, its trace or None, why there is none)."""
    (folder / "out").mkdir()
    failed = {}
    for kind, record in ((SYSTEM_CALLS, lambda: record_load(daybreak, folder)), (TRACEPOINT, lambda: record_tracepoint(folder))):
        if any(peer.kind == kind and not peer.missing() for peer in PEERS):
            try:
                record()
            except HarnessError as error:
                failed[kind] = str(error)
    for peer in PEERS:
        trace = folder / "out" / peer.trace
        why = peer.missing() or failed.get(peer.kind, "") or ("" if trace.exists() else "its tracer recorded nothing")
        yield peer, None if why else trace, why
