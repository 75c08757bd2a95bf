#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The code blocks of what a user reads, and what becomes of each when a newcomer tries it.

A comment before each block says it (in a man page `.\\" newcomer: ...` before .nf):

    <!-- newcomer: guest -->              each line is run in a guest, as written, and must succeed (status 3: with drops)
    <!-- newcomer: background -->         the same for a command that goes on: until a setup ends it with `end_background`
    <!-- newcomer: shows -->              what the commands before it print; compared by shapes()
    <!-- newcomer: file NAME -->          the text is that file
    <!-- newcomer: elsewhere PATH -->     that test runs the commands
    <!-- newcomer: not run, REASON -->

and, by itself, `<!-- newcomer: setup COMMAND -->`: what the page takes for granted. tests/vm/cases/newcomer runs them, page by page.

As a lint: each block has its mark, and each test that is named is there. Prints `file:line: ...` for each that has not, and a
count; exit status 1 if there was any.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

PAGES = ("README.md", "docs/boot.md", "docs/live.md", "docs/crash.md", "docs/always-on.md", "docs/packages.md", "docs/probes.md", "docs/from-bpftrace.md",
         "docs/glossary.md", "docs/conformance.md", "packaging/man/daybreak.1", "packaging/man/daybreak-dtrace.1", "packaging/man/daybreak-selftest.1")
KINDS = ("guest", "background", "shows", "file", "elsewhere", "not run", "setup")
MARK = re.compile(r'^(?:<!-- |\.\\" )newcomer: (guest|background|shows|file|elsewhere|not run|setup)\b,? ?(.*?)(?: ?-->)?$')
# Named filters: what differs from run to run -> what stands for it. In this order.
FILTERS = (
    ("id", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+\b", "ID"),
    ("file", r"\b[0-9a-f]{8}-\d{6}\b", "FILE"),
    ("date", r"\b\d{4} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\b", "DATE"),
    ("bar", r"\|@*\s+", "| "),
    ("address", r"\b0x[0-9a-f]+\b", "ADDRESS"),
    ("release", r"\b\d+\.\d+\.\d+[-+\w]*\b", "RELEASE"),
    ("number", r"-?\b\d+(?:[.:]\d+)*\b", "N"),
    ("unit", r"\bN ?(?:ns|us|ms|s|B|bytes|KiB|MiB|GiB)\b", "N"),
    ("blanks", r"\s+", " "),
)


@dataclass
class Block:
    """A block, or a setup, of a page; kind is empty when nothing marks it."""

    page: str
    line: int
    kind: str
    rest: str
    text: list[str]

    @property
    def name(self):
        return f"{Path(self.page).name}-{self.line}"


def blocks(page, text):
    """Returns the blocks and setups of a page, in order."""
    found, mark, open_kind, man = [], None, None, page.endswith(".1")
    for number, line in enumerate(text.split("\n"), 1):
        fence = line in (".nf", ".fi") if man else line.startswith("```")
        if open_kind == "fence" and not fence:
            found[-1].text.append(line.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "") if man else line)
        elif open_kind == "fence":
            open_kind = None
        elif not man and line.startswith("    ") and (open_kind == "indent" or not previous or MARK.match(previous)):
            if open_kind is None:
                found.append(Block(page, number, *(mark or ("", "")), []))
            open_kind, mark = "indent", None
            found[-1].text.append(line[4:])
        elif fence:
            found.append(Block(page, number, *(mark or ("", "")), []))
            open_kind, mark = "fence", None
        elif line:
            open_kind = None
            match = MARK.match(line)
            mark = (match[1], match[2]) if match else None
            if match and match[1] == "setup":
                found.append(Block(page, number, "setup", "", [match[2]]))
                mark = None
        previous = line
    return found


def shapes(text, also=()):
    """The lines of an output with what differs from run to run filtered; `also`: further filters, before the others."""
    result = []
    for line in text.split("\n"):
        for _, pattern, word in (*also, *FILTERS):
            line = re.sub(pattern, word, line)
        if line.strip():
            result.append(line.strip())
    return result


def missing(shown, printed, also=()):
    """The lines that a page shows and a run did not print, by shape; `...` stands for lines left out."""
    there = set(shapes(printed, also))
    return [line for line in shapes(shown, also) if line != "..." and line not in there]


def findings(page, text, exists):
    for block in blocks(page, text):
        if not block.kind:
            yield f"{page}:{block.line}: no comment before the block says what a newcomer does with it"
        elif block.kind == "elsewhere" and not (block.rest.startswith("tests/") and exists(block.rest)):
            yield f"{page}:{block.line}: no test {block.rest}"
        elif block.kind in ("not run", "file") and not block.rest:
            yield f"{page}:{block.line}: {block.kind}, without a word more"


def self_test():
    right = "<!-- newcomer: setup true -->\n<!-- newcomer: guest -->\n    ls\n    pwd\n\nText.\n\n<!-- newcomer: file a.d -->\n```d\nx\n```\n"
    wrong = ["Text.\n\n    ls\n", "<!-- newcomer: elsewhere none -->\n\n    ls\n", "<!-- newcomer: elsewhere -->\n\n    ls\n", "<!-- newcomer: not run -->\n\n    ls\n"]
    assert [(b.kind, b.rest, b.text) for b in blocks("a.md", right)] == [
        ("setup", "", ["true"]), ("guest", "", ["ls", "pwd"]), ("file", "a.d", ["x"])]
    assert [b.text for b in blocks("a.1", '.\\" newcomer: guest\n.nf\nls \\-l\n.fi\n')] == [["ls -l"]]
    assert not list(findings("a.md", right, lambda path: False))
    assert all(list(findings("a.md", text, lambda path: False)) for text in wrong)
    shown = "NAME    12 ms\n...\n   4 |@@@@   7\n"
    assert not missing(shown, "NAME 7 us\nother\n 1024 |   1\n") and missing(shown, "NAME\n") == ["NAME N", "N | N"]
    return 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = [line for page in PAGES for line in findings(page, (root / page).read_text(), lambda path: (root / path).exists())]
    print("\n".join([*found, f"pages: {len(PAGES)} pages, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
