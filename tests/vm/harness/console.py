# SPDX-License-Identifier: Apache-2.0
"""What a guest's console log says: checks, trouble in the kernel, and whether it ended well."""

import re
from dataclasses import dataclass, field

# The guest's init prints this last; a log without it is of a guest that died on the way.
DONE_MARK = "GUEST done"

# How it reports a CPU or a task that does not go on.
STUCK = r"\b[Ll]ockup\b|\bLOCKUP\b|\bstall(s|ed)?\b"

# Lines by which a Linux kernel reports that something in it went wrong.  A case that provokes some names them (`expected`).
_TROUBLE = re.compile(
    r"Kernel panic|\bBUG\b|\bOops\b|\bint3: 0000|\bWARNING: |Call Trace:|INFO: task |blocked for more than"
    rf"|general protection fault|unable to handle (kernel|page fault)|{STUCK}"
    r"|KASAN|UBSAN|KFENCE|KCSAN|kmemleak: [1-9]|list_(add|del) corruption|refcount_t: |scheduling while atomic"
    r"|sleeping function called|Bad page state|possible recursive locking|circular locking|hogged CPU|Failed to execute"
    r"|Invalid ELF|segfault at|traps: |unable to mount root|NMI received for unknown reason")

_PLACE = re.compile(r"RIP: 0010:(\S+?)/\S+( \[\w+\])?")
_CHECK = re.compile(r"CHECK (?P<name>\S+) (?P<verdict>ok|fail|skip)(?: (?P<detail>.*))?$")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Check:
    """One claim that a guest or a host script tested."""

    name: str
    verdict: str
    detail: str = ""

    @property
    def failed(self) -> bool:
        return self.verdict == "fail"


@dataclass
class Findings:
    """What was read so far."""

    checks: list[Check] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)  # function+offset of each instruction reported
    done: bool = False


def clean(line: str) -> str:
    """A line of the console without what is meant for a terminal."""
    return _CONTROL.sub("", line).rstrip()


def read_line(findings: Findings, line: str, expected: list[re.Pattern]) -> None:
    """Takes one line in.  Trouble that matches one of `expected` is what the test provoked."""
    if match := _CHECK.search(line):
        findings.checks.append(Check(match["name"], match["verdict"], match["detail"] or ""))
    elif DONE_MARK in line:
        findings.done = True
    elif match := _PLACE.search(line):
        findings.places.append(match[1] + (match[2] or ""))
    elif _TROUBLE.search(line) and not any(pattern.search(line) for pattern in expected):
        findings.trouble.append(line.strip())


def stale_breakpoint(findings: Findings) -> bool:
    """Whether the emulator is to blame.  Before QEMU 8.1 two CPUs in parallel may race: one translates
    a page of code while the other patches it, and the kernel's temporary int3 stays in the translation
    for good.  Then the kernel meets a breakpoint that is not in memory: 6.12 gives up with an oops, 6.1
    tries the same instruction, in its own code, again and again."""
    if any("int3: 0000" in line for line in findings.trouble):
        return True
    if not any(re.search(STUCK, line) for line in findings.trouble):
        return False
    places = {re.sub(r"\+0x[0-9a-f]+$", "", place) for place in findings.places if not place.startswith("asm_exc_int3")}
    offsets = {int(place.rsplit("+", 1)[1], 16) for place in findings.places
               if re.search(r"\+0x[0-9a-f]+$", place) and not place.startswith("asm_exc_int3")}
    return len(places) == 1 and "[" not in min(places) and max(offsets) - min(offsets) <= 1


def parse_checks(text: str) -> list[Check]:
    """The checks that a host script printed."""
    findings = Findings()
    for line in text.splitlines():
        read_line(findings, line, [re.compile("")])
    return findings.checks
