# SPDX-License-Identifier: Apache-2.0
"""What report-speed and replay-speed share: running a reader, its instructions, and lines about it."""

import os
import re
import resource
import subprocess
from pathlib import Path

import peer_traces

PEER_RUNS = 3


def run(command):
    """Returns (text printed, seconds of processor time of it and its children)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command}\n{done.stderr.decode(errors='replace')}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def instructions(command, folder):
    """Returns (text, instructions) of a command under callgrind."""
    out = os.path.join(folder, "callgrind.out")
    text, _ = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command])
    totals = re.findall(r"^(?:summary|totals): (\d+)", Path(out).read_text(errors="replace"), re.MULTILINE)
    if not totals:
        raise SystemExit(f"{out} has no total")
    return text, int(totals[-1])


def records_in(text):
    """The sum of the counts that a report or a replay prints."""
    return sum(int(line.split()[-1]) for line in text.decode().splitlines() if line.strip())


def size_of(path):
    return sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())


def heading():
    print(f"{'reader':36} {'events':>9} {'MB':>7} {'seconds':>9} {'M/s':>8}   of")


def row(name, events, size, seconds, kind):
    print(f"{name:36} {events:9d} {size / 1e6:7.1f} {seconds:9.4f} {events / seconds / 1e6:8.2f}   {kind}", flush=True)
    return events / seconds / 1e6


def measure_peers(program, folder):
    """Prints a line for each reader of peer_traces.py; returns whether none failed."""
    sound = True
    for peer, trace, why in peer_traces.make(Path(program).resolve(), Path(folder)):
        if trace is None:
            print(f"{peer.reader:36} not measured: {why}")
            sound = sound and bool(peer.missing())
            continue
        runs = [run(peer.command_for(program, trace)) for _ in range(PEER_RUNS)]
        events = peer.events(runs[0][0].decode(errors="replace"))
        row(peer.reader, events, size_of(trace), min(seconds for _, seconds in runs), peer.kind)
        if events < peer_traces.EVENTS_MIN:
            print(f"{peer.reader}: at least {peer_traces.EVENTS_MIN} events were expected")
            sound = False
    return sound
