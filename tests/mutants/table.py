# SPDX-License-Identifier: Apache-2.0
"""The mutants: what *.mutants in this folder say, and how an edit is made.

    @ FILE FUNCTION          the function (or table of data) that is changed; "-": the whole file
    - OLD                    text that must occur once in it; more such lines are one text with line ends
    + NEW                    what comes in its place; none: nothing, or an empty statement for one
    # what a user would lose
    = why no user can see it an equivalent mutant
    ! CASE                   a VM case that is nearest (instead of the tests of its folder), or `races`: what looks for data races

Edits name a function and its text, not lines, so they outlive changes elsewhere. Leading and trailing blanks of
OLD and NEW do not count.
"""

import re
from dataclasses import dataclass
from pathlib import Path


class EditError(Exception):
    """An edit that cannot be read, or that no longer applies."""


@dataclass(frozen=True)
class Mutant:
    """One edit."""

    file: str
    function: str
    old: str
    new: str
    number: int  # among those of the same function
    loss: str = ""
    equivalent: str = ""
    case: str = ""

    @property
    def name(self) -> str:
        return f"{self.file}:{self.function}:{self.number}"

    @property
    def folder(self) -> str:
        parts = self.file.split("/")
        deep = parts[0] in ("engine", "formats", "kmod", "compiler", "recorder", "analyze")
        return "/".join(parts[:2] if deep and len(parts) > 2 else parts[:1])

    def apply(self, text: str) -> str:
        """Returns the file with the edit made; it fails unless that is possible in one way."""
        places = [(begin, end) for begin, end in _bodies(text, self.function)]
        if not places:
            raise EditError(f"no function {self.function}")
        found = [(begin + match.start(), begin + match.end()) for begin, end in places
                 for match in re.finditer(_pattern(self.old), text[begin:end])]
        if len(found) != 1:
            raise EditError(f"'{self.old}' is there {len(found)} times, not once")
        begin, end = found[0]
        return text[:begin] + self.new + text[end:]


def _pattern(old: str) -> str:
    """Blanks and line ends may have changed."""
    return r"\s+".join(re.escape(word) for word in old.split())


def _matching(text: str, at: int) -> int:
    """Past the bracket that closes the one at `at`; strings, character constants and comments are passed over."""
    pairs, depth = {"(": ")", "{": "}"}, 0
    opening, closing = text[at], pairs[text[at]]
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[(){}]', re.S)
    for match in token.finditer(text, at):
        depth += (match[0] == opening) - (match[0] == closing)
        if depth == 0:
            return match.end()
    return len(text)


def _bodies(text: str, function: str):
    """(begin, end) of each body of a function of this name, or of a table's initializer."""
    if function == "-":
        yield 0, len(text)
        return
    for match in re.finditer(rf"(?<![\w.>]){re.escape(function)}\b\s*", text):
        at = match.end()
        if text[at:at + 1] == "(":
            at = _matching(text, at)
            # Qualifiers, a return type, initializers of members; a call ends with another character.
            rest = re.compile(r"(?:\s|const\b|noexcept\b|override\b|->[\w:<>&*, ]+|//[^\n]*\n|__\w+"
                              r"|:(?!:)[^;{}]*(?:\{[^{}]*\}[^;{}]*)*?(?=\{))*\{").match(text, at)
            if rest:
                yield rest.end() - 1, _matching(text, rest.end() - 1)
        else:
            rest = re.compile(r"(?:\[[^\]]*\]\s*)*(?:=\s*)?\{").match(text, at)
            if rest:
                yield rest.end() - 1, _matching(text, rest.end() - 1)


_FIELDS = {"-": "old", "+": "new", "#": "loss", "=": "equivalent", "!": "case"}


def _read_block(block: list[str], where: str, seen: dict) -> Mutant:
    head = block[0].split()
    if len(head) != 3 or head[0] != "@":
        raise EditError(f"{where}: '{block[0]}' is not '@ FILE FUNCTION'")
    values: dict[str, list[str]] = {}
    for line in block[1:]:
        if line[:1] not in _FIELDS:
            raise EditError(f"{where}: '{line}' begins with none of {' '.join(_FIELDS)}")
        values.setdefault(_FIELDS[line[0]], []).append(line[1:].strip())
    if "old" not in values:
        raise EditError(f"{where}: no line with '-'")
    text = {name: "\n".join(lines) for name, lines in values.items()}
    key = (head[1], head[2])
    seen[key] = seen.get(key, 0) + 1
    nothing = ";" if text["old"].endswith(";") else ""
    return Mutant(head[1], head[2], text["old"], text.get("new", nothing), seen[key],
                  *(" ".join(text.get(name, "").split("\n")) for name in ("loss", "equivalent", "case")))


def load(folder: Path) -> list[Mutant]:
    """All mutants of the tables in a folder."""
    mutants, seen = [], {}
    for file in sorted(folder.glob("*.mutants")):
        block: list[str] = []
        for number, line in enumerate([*file.read_text().splitlines(), ""], 1):
            if line.startswith("# SPDX") or (line.startswith("##")):
                continue
            if line.strip():
                block.append(line)
            elif block:
                mutants.append(_read_block(block, f"{file.name}:{number}", seen))
                block = []
    return mutants
