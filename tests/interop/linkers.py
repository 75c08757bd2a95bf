#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Probes of `daybreak dtrace -h` in programs of each compiler and linker: they are where the program executes them.

    linkers.py --daybreak PROGRAM

Each program is built and asked for its probes by path, as the compiler writes them into DOF. It must run as it is; with a
breakpoint for the instruction of each probe that it executes it must die of that, and with the count of tracers set in its file
find its probe enabled. A build whose compiler or linker is not installed is skipped, and counted.
"""

import argparse
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

PROVIDER = "provider shop { probe sold(int, char *); probe looked__at(); };\n"
HEADER = """
#include "shop.h"
static inline __attribute__((always_inline)) int sells(int n) {
    if (n > 100)
        SHOP_LOOKED_AT();
    SHOP_SOLD(n, "inline");
    return SHOP_SOLD_ENABLED() ? 7 : 0;
}
int of_other(int n);
"""
MAIN = """
#include "sells.h"
void left_out(int n) { SHOP_SOLD(n, "left out"); }
int main(int argc, char** argv) { (void)argv; return sells(argc) | of_other(argc); }
"""
OTHER = """
#include "sells.h"
__attribute__((noinline)) int of_other(int n) { return sells(n + 1); }
"""
LINKERS = {"bfd": "ld.bfd", "lld": "ld.lld", "gold": "ld.gold"}
OPTIONS = {"plain": [], "lto": ["-flto"], "gc-sections": ["-ffunction-sections", "-Wl,--gc-sections"]}
# What each compiler's own objects of -flto need is its plugin in the linker, which clang has for its own linker alone.
LEFT_OUT = {("gcc", "lld", "lto"), ("clang", "bfd", "lto"), ("clang", "gold", "lto")}
# docs/user-space.md: gold does not link a program of which it leaves out a function with a probe.
REFUSED = {("gcc", "gold", "gc-sections"), ("clang", "gold", "gc-sections")}
PLACES = 0x44420007  # DBK_DOF_SECT_PLACES
STRINGS = 0x44420005  # DBK_DOF_SECT_STRINGS


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
                          **options)


def must(command, **options):
    ran = run(command, **options)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {ran.returncode}: {ran.stdout.strip()}")


def places_of(dof):
    """(function, name, operands, offset, semaphore) of each place in DOF."""
    section_bytes, count, at = struct.unpack_from("<IIQ", dof, 24)
    sections = [struct.unpack_from("<IIIIQQ", dof, at + i * section_bytes) for i in range(count)]
    _, _, _, entry_bytes, begin, size = next(one for one in sections if one[0] == PLACES)
    tables = [dof[one[4]:one[4] + one[5]] for one in sections if one[0] == STRINGS]

    def text(offset):
        return tables[0][offset:tables[0].index(b"\0", offset)].decode()

    for i in range(begin, begin + size, entry_bytes):
        entry = struct.unpack_from("<8I3Q", dof, i)
        yield text(entry[2]), text(entry[3]), text(entry[5]), entry[8], entry[10]


def status_with(program, offset, replaced):
    """How a copy of the program ends that has other bytes at an offset."""
    changed = bytearray(open(program, "rb").read())
    changed[offset:offset + len(replaced)] = replaced
    with open(program + ".changed", "wb") as file:
        file.write(changed)
    os.chmod(program + ".changed", 0o755)
    return run([program + ".changed"]).returncode


def wrong_with(daybreak, program, build):
    """What is wrong with the probes of a program; "": nothing."""
    ran = run([program]).returncode
    if ran != 0:
        return f"as it is it ends with status {ran}"
    must([daybreak, "compile", "-qn", f"shop*:{program}:: {{}}", "-o", program + ".dof"])
    places = list(places_of(open(program + ".dof", "rb").read()))
    image = open(program, "rb").read()
    sold = [place for place in places if place[1] == "sold"]
    looked = [place for place in places if place[1] == "looked-at"]
    if len(sold) + len(looked) != len(places) or not looked:
        return f"its probes are {places}"
    if any(len(place[2].split()) != 2 for place in sold) or any(place[2] for place in looked):
        return f"its arguments are not those of the provider: {places}"
    if any(image[place[3]] != 0x90 for place in places):
        return "a probe is not where there is an instruction for it"
    if {place[0].split(".")[0] for place in sold} - {"left_out", "main", "of_other"}:
        return f"its functions are {sorted({place[0] for place in sold})}"
    # GNU ld and gold keep it for its note; with -flto and lld's --gc-sections it is gone.
    if build[1] == "lld" and build[2] == "gc-sections" and any(place[0] == "left_out" for place in places):
        return "a function that was left out has a probe"
    traps = [place for place in sold if status_with(program, place[3], b"\xcc") == -signal.SIGTRAP]
    if {place[0] for place in traps} & {"left_out"} or len(traps) < 2:
        return f"it executes {len(traps)} of its probes, and has two inline functions with one each"
    if len({place[4] for place in sold}) != 1 or sold[0][4] == 0:
        return f"the probe has several counts of tracers, or none: {places}"
    if image[sold[0][4]:sold[0][4] + 2] != b"\0\0":
        return "the count of tracers is not 0"
    if (status := status_with(program, sold[0][4], b"\1\0")) != 7:
        return f"with a tracer it ends with status {status}, not 7"
    if (status := status_with(program, looked[0][4], b"\1\0")) != 0:
        return f"with a tracer of another probe it ends with status {status}, not 0"
    return ""


def build_and_try(daybreak, folder, build):
    compiler, linker, options = build
    flags = ["-O2", "-Wall", "-Wextra", "-I" + folder, *OPTIONS[options]]
    objects = []
    for name in ("main", "other"):
        objects.append(f"{folder}/{name}-{compiler}-{options}.o")
        must([compiler, *flags, "-c", f"{folder}/{name}.c", "-o", objects[-1]])
    program = f"{folder}/{compiler}-{linker}-{options}"
    link = [compiler, *flags, f"-fuse-ld={linker}", *objects, f"{folder}/link.o", "-o", program]
    if build in REFUSED:
        ran = run(link)
        return "" if ran.returncode != 0 and "discarded section" in ran.stdout else \
            f"it is linked, or refused otherwise than docs/user-space.md says: {ran.stdout.strip()}"
    must(link)
    return wrong_with(daybreak, program, build)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--daybreak", required=True, type=os.path.abspath)
    daybreak = parser.parse_args().daybreak
    passed = skipped = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("shop.d", PROVIDER), ("sells.h", HEADER), ("main.c", MAIN), ("other.c", OTHER)):
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        must([daybreak, "dtrace", "-h", "-s", "shop.d"], cwd=folder)
        must([daybreak, "dtrace", "-G", "-s", "shop.d", "-o", "link.o"], cwd=folder)
        for build in [(c, l, o) for c in ("gcc", "clang") for l in LINKERS for o in OPTIONS]:
            missing = [tool for tool in (build[0], LINKERS[build[1]]) if shutil.which(tool) is None]
            if build in LEFT_OUT:
                continue
            if missing:
                print(f"SKIP {' '.join(build)}: {missing[0]} is not installed")
                skipped += 1
                continue
            try:
                wrong = build_and_try(daybreak, folder, build)
            except RuntimeError as error:
                wrong = str(error)
            if wrong:
                print(f"FAIL {' '.join(build)}: {wrong}")
            failed += wrong != ""
            passed += wrong == ""
    print(f"{passed} passed, {skipped} skipped, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
