# SPDX-License-Identifier: Apache-2.0
"""Running a case, and printing what it found: verdicts as docs/design/0036-verdicts-and-machines.md wants them."""

import resource

from . import case, kernels, paths

# Characters of a check's detail that are printed.  The whole of it is in the console's log.
DETAIL = {"ok": 200, "skip": 200, "fail": 2000}


def run_one(one: case.Case, series: str, programs: paths.Programs) -> bool:
    """Runs a case on a kernel and prints what it found; returns whether all held."""
    boot = case.Boot(one, kernels.get(series), programs)
    print(f"-- {one.name} on {series}: {one.about}", flush=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = boot.run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    for check in sorted(result.checks, key=lambda check: check.failed):  # what failed comes last, where one looks
        limit = DETAIL[check.verdict]
        detail = check.detail if len(check.detail) <= limit else f"{check.detail[:limit]}... ({len(check.detail)} characters)"
        print(f"   {check.verdict:4} {check.name}{': ' if detail else ''}{detail}")
    if result.problem:
        print("\n".join(f"   | {line}" for line in result.tail))
        print(f"   fail {result.problem} (log: {boot.folder / 'console.log'})")
    verdicts = [check.verdict for check in result.checks]
    print(f"   {result.wall_s:.1f} s, {cpu_s:.1f} s of processors, {verdicts.count('ok')} held, {verdicts.count('fail')} failed, "
          f"{verdicts.count('skip')} skipped", flush=True)
    return not result.failed
