#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DOF between Daybreak and others.

    run.py --daybreak PROGRAM ours       every program of tests/d, compiled, is accepted by strict_dof.py
    run.py --daybreak PROGRAM theirs     programs laid out as others do run, and print what they should
    run.py --daybreak PROGRAM damage     strict_dof.py finds each of many kinds of damage
"""

import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import foreign_dof
import strict_dof

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "d"))
import run as d_run  # noqa: E402

LAYOUTS = {
    "plain": foreign_dof.Layout(),
    "version 2": foreign_dof.Layout(version=2),
    "DIF version 1": foreign_dof.Layout(dif_version=1),
    "references lead forward": foreign_dof.Layout(reverse=True),
    "gaps": foreign_dof.Layout(gap=24, section_gap=16),
    "no variable tables": foreign_dof.Layout(variables=False),
    "statements not said": foreign_dof.Layout(statements=False),
    "comments": foreign_dof.Layout(comments=True, reverse=True),
}


def execute(*command):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DTRACE_", "_DTRACE"))}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                          env=environment, timeout=1800)


def ours(daybreak, folder):
    """Returns what strict readers refuse of our DOF."""
    findings, count = [], 0
    for bundle in sorted((HERE.parent / "d").rglob("*.cases")):
        for case in d_run.bundle_cases(bundle):
            if case.kind == "err" or case.command or case.lacks:
                continue
            source, image = folder / "case.d", folder / "case.dof"
            source.write_text(case.program)
            image.unlink(missing_ok=True)
            execute(daybreak, "compile", "-s", source, "-o", image, *case.options, *case.args)
            if not image.exists():
                continue  # has options that only `sim` has
            count += 1
            try:
                strict_dof.Image(image.read_bytes()).check()
            except strict_dof.Violation as violation:
                findings.append(f"{case.place}: {violation}")
    return findings if count > 100 else [*findings, f"only {count} programs were compiled"], f"{count} programs"


def theirs(daybreak, folder):
    """Returns which foreign programs do not run as they should."""
    findings, count = [], 0
    for dialect in foreign_dof.DIALECTS:
        for name, layout in LAYOUTS.items():
            sample = foreign_dof.sample(dialect, layout)
            program, options, joined = folder / "program.dof", folder / "options.dof", folder / "joined.dof"
            program.write_bytes(sample.program)
            options.write_bytes(sample.options)
            what = f"{dialect.name}, {name}"
            runs = [("sim", execute(daybreak, "sim", "--dof", program, "--dof", options, "--dialect", dialect.name))]
            made = execute(daybreak, "dof", program, options, "--dialect", dialect.name, "-o", joined)
            if made.returncode:
                findings.append(f"{what}: {made.stderr}")
                continue
            runs.append(("joined", execute(daybreak, "sim", "--dof", joined)))
            printed = execute(daybreak, "dof", program)
            if printed.returncode:
                findings.append(f"{what}: cannot be printed: {printed.stderr}")
            try:
                strict_dof.Image(joined.read_bytes()).check()
            except strict_dof.Violation as violation:
                findings.append(f"{what}: joined: {violation}")
            for kind, done in runs:
                count += 1
                lines = done.stdout.strip("\n").split("\n")
                if (done.returncode != sample.status or not done.stdout.lstrip("\n").startswith(sample.expected)
                        or lines[-1] != "END" or "| " not in done.stdout or done.stderr):
                    findings.append(f"{what}, {kind}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return findings, f"{count} runs"


def damage(daybreak, folder):
    """Returns the kinds of damage that the strict reader overlooks."""
    source, image = folder / "good.d", folder / "good.dof"
    source.write_text('#pragma D option quiet\nBEGIN /pid != 0/ { @a["k", pid] = sum(1); printf("%d", arg0); }\n')
    execute(daybreak, "compile", "-s", source, "-o", image)
    good = image.read_bytes()
    strict_dof.Image(good).check()
    count, offset = struct.unpack_from("<IQ", good, 28)
    section = {}
    for index in range(count):
        kind, _, _, _, at, size = struct.unpack_from("<IIIIQQ", good, offset + 32 * index)
        section.setdefault(kind, (offset + 32 * index, at, size))
    damages = {
        "magic": (0, "<B", 0), "model": (4, "<B", 1), "version": (6, "<B", 3), "ident": (12, "<B", 1),
        "registers": (8, "<B", 1), "flags": (16, "<I", 1), "load size": (40, "<Q", 1 << 40),
        "unknown section": (section[7][0], "<I", 99), "alignment": (section[19][0] + 4, "<I", 4),
        "section flags": (section[7][0] + 8, "<I", 3), "entry size": (section[5][0] + 12, "<I", 16),
        "section end": (section[5][0] + 24, "<Q", 1 << 30), "overlap": (section[19][0] + 16, "<Q", section[5][1]),
        "probe": (section[3][1], "<I", 0), "predicate": (section[3][1] + 4, "<I", 0),
        "enabling's padding": (section[3][1] + 12, "<I", 7), "name": (section[4][1] + 4, "<I", 1 << 20),
        "action's object": (section[5][1], "<I", 0), "action's kind": (section[5][1] + 8, "<I", 0x999),
        "tuple": (section[5][1] + 12, "<I", 3), "no statement": (section[5][1] + 24, "<Q", 0),
        "type": (section[6][1], "<B", 5), "link": (section[6][1] + 8, "<I", 0),
        "opcode": (section[7][1], "<I", 0x50000001), "write to %r0": (section[7][1], "<I", 0x29011600),
        "branch back": (section[7][1], "<I", 0x11000000), "no ret": (section[7][1] + section[7][2] - 4, "<I", 0x24000000),
        "variable": (section[9][1] + 4, "<I", 1 << 20), "option": (section[14][1], "<I", 77),
        "option's text": (section[14][1] + 4, "<I", 0), "unset option": (section[14][1] + 8, "<Q", (1 << 64) - 2),
    }
    findings = []
    for name, (at, form, value) in damages.items():
        bad = bytearray(good)
        struct.pack_into(form, bad, at, value)
        try:
            strict_dof.Image(bytes(bad)).check()
            findings.append(f"{name}: overlooked")
        except strict_dof.Violation:
            pass
    return findings, f"{len(damages)} kinds of damage"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daybreak", required=True, type=pathlib.Path)
    parser.add_argument("what", choices=("ours", "theirs", "damage"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="daybreak-interop.") as folder:
        tests = {"ours": ours, "theirs": theirs, "damage": damage}
        findings, summary = tests[options.what](options.daybreak.resolve(), pathlib.Path(folder))
    for finding in findings:
        print(finding)
    print(f"{options.what}: {summary}, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
