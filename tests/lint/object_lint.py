# SPDX-License-Identifier: Apache-2.0
"""What the lints of objects have in common: their arguments, what they print, and how they test themselves."""
import pathlib
import subprocess
import sys
import tempfile


def self_test(source, flags, cases, check):
    """Compiles `source` with the options of each case, and has `check(object, command)` find a problem that has the case's word; None: no problem.

    Returns what was otherwise, "": nothing.
    """
    with tempfile.TemporaryDirectory() as name:
        text, out = pathlib.Path(name, "t.c"), pathlib.Path(name, "t.o")
        text.write_text(source)
        for options, expected in cases:
            command = ["gcc", "-O1", *flags.split(), *options.split(), "-c", str(text), "-o", str(out)]
            subprocess.run(command, check=True)
            problems, _ = check(out, command)
            if (expected is None) != (not problems) or (expected or "") not in "\n".join(problems):
                return f"self-test {options}: expected {expected}, got {problems}"
    return ""


def main(documentation, check, test):
    """`check` has the problems that arguments name, and what is said when there are none; it returns None if they are wrong."""
    name, arguments = pathlib.Path(sys.argv[0]).stem, sys.argv[1:]
    if arguments == ["--self-test"]:
        wrong = test()
        print(wrong or f"{name}: self-test passed")
        return 1 if wrong else 0
    found = check(arguments)
    if found is None:
        print(documentation.strip())
        return 2
    problems, summary = found
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{name}: {summary}")
    return 1 if problems else 0
