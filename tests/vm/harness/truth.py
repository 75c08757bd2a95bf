# SPDX-License-Identifier: Apache-2.0
"""What the counting workload (tests/vm/guest/counter.c) did, against what a trace says it did.

The truth lies in memory that outlives the crash: per CPU the number of the last system call that was
begun, and of the last that was over.  A trace is right when, CPU by CPU, its numbers follow each other
without a hole, each with its own mix, up to the last call that was over, and at most one further.
"""

import struct
from dataclasses import dataclass

PAGE_BYTES = 4096
_MAGIC = int.from_bytes(b"DBKCOUNT", "little")
_FACTOR, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


@dataclass(frozen=True)
class Count:
    """What one CPU's workload had done when the machine died."""

    cpu: int
    started: int
    done: int


def read_witness(memory: bytes, cpus: int) -> list[Count]:
    """The counts of all CPUs, from the witness memory; empty when the workload never began on one."""
    counts = []
    for cpu in range(cpus):
        magic, started, done, own = struct.unpack_from("<4Q", memory, cpu * PAGE_BYTES)
        if magic != _MAGIC or own != cpu or done not in (started, started - 1):
            return []
        counts.append(Count(cpu, started, done))
    return counts


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _numbers(report: str) -> tuple[dict[int, list[int]], list[str]]:
    """The numbers that each CPU recorded, in order, and the records that no workload made."""
    numbers: dict[int, list[int]] = {}
    wrong = []
    for line in report.splitlines():
        words = line.split()
        if len(words) != 4 or not all(word.lstrip("-").isdigit() for word in words):
            continue  # another clause's
        cpu, own, n, mixed = map(int, words)
        if own != cpu or n <= 0 or mixed != _signed(n * _FACTOR & _MASK):
            wrong.append(f"a record no workload made: '{line}'")
        numbers.setdefault(cpu, []).append(n)
    return numbers, wrong


def check(report: str, truth: list[Count]) -> tuple[list[str], list[str]]:
    """Compares a report of the recording with the truth.

    Returns (wrong, lost): records that are not what happened, and records that should be there.
    """
    numbers, wrong = _numbers(report)
    lost = []
    for count in truth:
        have = numbers.get(count.cpu, [])
        if not have:
            if count.done:
                lost.append(f"cpu {count.cpu}: nothing of {count.done} calls")
            continue
        for before, after in zip(have, have[1:]):
            if after <= before:
                wrong.append(f"cpu {count.cpu}: {after} after {before}")
            elif after != before + 1:
                lost.append(f"cpu {count.cpu}: {before + 1} to {after - 1} are missing")
        if have[-1] > count.started:
            wrong.append(f"cpu {count.cpu}: {have[-1]} was recorded, {count.started} was the last call begun")
        elif have[-1] < count.done:
            lost.append(f"cpu {count.cpu}: ends with {have[-1]}, {count.done} were over")
    wrong += [f"cpu {cpu}: no workload ran there" for cpu in numbers.keys() - {count.cpu for count in truth}]
    return wrong, lost
