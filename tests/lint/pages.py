#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The code blocks of what a user reads, and what becomes of each when a newcomer tries it.

A comment before each block says it (in a man page `.\\" newcomer: ...` before .nf):

    <!-- newcomer: guest -->              each line is run in a guest, as written, and must succeed (status 3: with drops)
    <!-- newcomer: background -->         the same for a command that goes on: until a setup ends it with `end_background`
    <!-- newcomer: shows -->              what the commands before it print; compared by shapes()
    <!-- newcomer: file NAME -->          the text is that file
    <!-- newcomer: elsewhere PATH... -->  that test runs the commands: each of their words is in it
    <!-- newcomer: like PATH... -->       that test runs such commands, of other files, sizes and numbers: program, subcommand, options and probes are in it
    <!-- newcomer: printed PATH -->       as that test prints it, which compares what it is about
    <!-- newcomer: not run, REASON -->

and, by itself, `<!-- newcomer: setup COMMAND -->`: what the page takes for granted. tests/vm/cases/newcomer runs them, page by page.

As a lint: each block has its mark, and each test that is named is there and has what it should. Prints `file:line: ...` for each that has not, and a
count; exit status 1 if there was any.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

PAGES = ("README.md", "docs/boot.md", "docs/live.md", "docs/user-space.md", "docs/crash.md", "docs/always-on.md", "docs/packages.md", "docs/probes.md", "docs/from-bpftrace.md",
         "docs/glossary.md", "docs/conformance.md", "packaging/man/daybreak.1", "packaging/man/daybreak-dtrace.1", "packaging/man/daybreak-selftest.1")
KINDS = ("guest", "background", "shows", "file", "elsewhere", "like", "printed", "not run", "setup")
MARK = re.compile(r'^(?:<!-- |\.\\" )newcomer: (guest|background|shows|file|elsewhere|like|printed|not run|setup)\b,? ?(.*?)(?: ?-->)?$')
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


def words_of(line, only_names):
    """The words of a command's line; or program, subcommand, options, parameters of the kernel and probes, without what they are given."""
    line = re.sub(r"(^|\s)# .*", "", line)
    if only_names:
        line = re.sub(r" -c '[^']*'", " -c", line)  # what is traced is what is given
    words = [word for word in re.split(r"[\s'\"]+", line) if re.search(r"\w", word)]
    if not only_names:
        return words
    names = [words[0].split("/")[-1].split("=")[0]] if words else []
    names += [word for word in words[1:2] if re.fullmatch(r"[a-z-]+", word)]
    return names + [word.split("=")[0] for word in words[1:] if "::" in word or re.match(r"--?[\w-]+(=|$)|[\w.]+=", word)]


def not_there(block, test):
    """Words that the test of a block should have, and has not."""
    return [word for line in block.text for word in words_of(line, block.kind == "like") if word not in test]


def text_of(path):
    if not path.exists():
        return ""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return "\n".join(file.read_text(errors="replace") for file in files)


def findings(page, text, test_of):
    """test_of: the text of a test; "": there is none."""
    for block in blocks(page, text):
        if not block.kind:
            yield f"{page}:{block.line}: no comment before the block says what a newcomer does with it"
        elif block.kind in ("elsewhere", "like", "printed"):
            test = test_of(block.rest) if block.rest.startswith("tests/") else ""
            if not test:
                yield f"{page}:{block.line}: no test {block.rest}"
            elif block.kind != "printed" and (words := not_there(block, test)):
                yield f"{page}:{block.line}: {block.kind} {block.rest}, which has not: {' '.join(words)}"
        elif block.kind in ("not run", "file") and not block.rest:
            yield f"{page}:{block.line}: {block.kind}, without a word more"


def self_test():
    right = "<!-- newcomer: setup true -->\n<!-- newcomer: guest -->\n    ls\n    pwd\n\nText.\n\n<!-- newcomer: file a.d -->\n```d\nx\n```\n"
    wrong = ["Text.\n\n    ls\n", "<!-- newcomer: elsewhere none -->\n\n    ls\n", "<!-- newcomer: elsewhere -->\n\n    ls\n", "<!-- newcomer: not run -->\n\n    ls\n"]
    assert [(b.kind, b.rest, b.text) for b in blocks("a.md", right)] == [
        ("setup", "", ["true"]), ("guest", "", ["ls", "pwd"]), ("file", "a.d", ["x"])]
    assert [b.text for b in blocks("a.1", '.\\" newcomer: guest\n.nf\nls \\-l\n.fi\n')] == [["ls -l"]]
    assert not list(findings("a.md", right, lambda path: ""))
    assert all(list(findings("a.md", text, lambda path: "")) for text in wrong)
    block = "<!-- newcomer: {} tests/a -->\n    cmd/dtrace run -x size=4k 'p$target::f:entry' a.dbrk  # what\n"
    for kind, test, found in (("elsewhere", "cmd/dtrace run -x size=4k p$target::f:entry a.dbrk", 0), ("elsewhere", "dtrace run -x size=8k p$target::f:entry b", 1),
                              ("like", "dtrace run -x size=8k p$target::f:entry b", 0), ("like", "dtrace run -x size=8k p$target::g:entry b", 1),
                              ("printed", "x", 0), ("printed", "", 1)):
        assert len(list(findings("a.md", block.format(kind), lambda path: test))) == found, (kind, test)
    shown = "NAME    12 ms\n...\n   4 |@@@@   7\n"
    assert not missing(shown, "NAME 7 us\nother\n 1024 |   1\n") and missing(shown, "NAME\n") == ["NAME N", "N | N"]
    return 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = [line for page in PAGES for line in findings(page, (root / page).read_text(), lambda paths: "".join(text_of(root / path) for path in paths.split()))]
    print("\n".join([*found, f"pages: {len(PAGES)} pages, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
