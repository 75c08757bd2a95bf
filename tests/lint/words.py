#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that messages, documents and comments use the ordinary word.

Of code the strings and comments are checked, of all else, scripts too, the whole text. Prints `file:line: word: the line` for each find, then a count; exit status 1 if there was any.
`--self-test` feeds each word to it and fails if it is not found. ALLOWED has what may stay, each with its reason.
"""

import re
import sys
from pathlib import Path

from tree import CODE, tracked

# what is found -> what to write
WORDS = {
    r"behind": "after, past the end of, later in",
    r"tells|told": "reports, prints, says, is reported",
    r"nobody|somebody|whoever": "the reader, the caller, the host, another process, a person, who",
    r"of ours": "our, Daybreak's",
    r"row of (?:trace )?files": "series of files",
    r"(?:went|goes|go|going) round": "wrapped, wraps",
    r"(?<!there )is no (?!longer|more|less|larger|smaller|newer|older|better)\w+": "is not a, no such",
}
FOUND = re.compile(r"\b(?:" + "|".join(WORDS) + r")\b", re.IGNORECASE)
# (file, text of the line) -> why it may stay
ALLOWED = {
    ("tests/lint/words.py", ""): "the list itself",
    ("LICENSES/", ""): "published texts",
    ("tests/vm/cases/service/", "User=nobody"): "the system's user",
}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def pieces(path, text):
    """(offset, text) of what is checked in a file."""
    if Path(path).suffix in CODE | {".d"}:
        for token in TOKEN.finditer(text):
            if token[0][0] != "'":
                yield token.start(), token[0]
    else:
        yield 0, text


def allowed(path, line):
    return any(path.startswith(file) and words in line for file, words in ALLOWED)


def findings(path, text):
    for offset, piece in pieces(path, text):
        # A sentence goes on over the end of a line and the signs of a comment.
        flat = re.sub(r"\n[ \t]*(?:\*|//|#)?[ \t]*", lambda gap: " " * len(gap[0]), piece)
        for match in FOUND.finditer(re.sub(r" +", lambda gap: gap[0], flat)):
            at = offset + match.start()
            line = text[text.rfind("\n", 0, at) + 1:][:200].split("\n")[0]
            if not allowed(path, line):
                yield f"{path}:{text.count(chr(10), 0, at) + 1}: {match[0]}: {line.strip()}"


def self_test():
    wrong = ["behind the header", "it tells", "is told", "Nobody knows", "somebody", "whoever", "one of ours", "a row of files",
             "a row of trace files", "it went round", "goes round", "is no probe"]
    right = ["there is no such ring", "it is no longer there", "the tellers"]
    bad = [text for text in wrong if not list(findings("docs/a.md", text))] + [text for text in right
                                                                               if list(findings("docs/a.md", text))]
    if not list(findings("tests/a.py", "behind = 1\n")) or len(list(findings("base/a.cpp", 'f(told, "told"); // told\n'))) != 2:
        bad.append("code")
    print("\n".join(f"self-test: {text}" for text in bad))
    return 1 if bad else 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    count = files = 0
    for path in tracked(root):
        full = root / path
        if not full.is_file() or full.is_symlink():
            continue
        files += 1
        for line in findings(path, full.read_text(errors="replace")):
            print(line)
            count += 1
    print(f"words: {files} files, {count} findings")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
