#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents against the tree.

  readme     README.md has at most 80 lines
  path       what a document names in backticks as a path of this tree is there
  form       each docs/design/NNNN-*.md has its number and title, says what was asked, and `## What was decided`
  index      docs/design/README.md has each of them, once, in order
  cited      each of them is named by a file of code or tests; each one that is named exists
  glossary   each type that docs/glossary.md names is declared in the tree

Prints one line per finding, `file:line: rule: text`, then a count. Exit status 1 if any was found.
`--self-test` feeds each rule something wrong and fails if it is not found.
"""

import re
import sys
from pathlib import Path

from tree import CODE, is_source, tracked

README_LINES_MAX = 80
DESIGN = "docs/design/"


def documents(files):
    return {path: text for path, text in files.items() if path.endswith(".md")}


def check_readme(files):
    count = files["README.md"].count("\n")
    if count > README_LINES_MAX:
        yield f"README.md:{count}: readme: {count} lines, at most {README_LINES_MAX}"


def check_paths(files):
    """A path begins with a folder of the tree; what has blanks, patterns or capitals to fill in is not one."""
    folders = {path.split("/")[0] for path in files if "/" in path}
    known = set(files) | {str(parent) for path in files for parent in Path(path).parents}
    for path, text in documents(files).items():
        for number, line in enumerate(text.split("\n"), 1):
            for name in re.findall(r"`([\w.@/-]+)`", line):
                if name.split("/")[0] in folders and "/" in name and "NNNN" not in name \
                        and name.rstrip("/") not in known and not beside(path, name, known):
                    yield f"{path}:{number}: path: {name} is not in the tree"


def beside(path, name, known):
    return str(Path(path).parent / name.rstrip("/")) in known


def designs(files):
    return sorted(path for path in files if re.fullmatch(DESIGN + r"\d{4}-[\w-]+\.md", path))


def check_form(files):
    for path in designs(files):
        number = path[len(DESIGN):][:4]
        lines = [line for line in files[path].split("\n") if line]
        if len(lines) < 3 or not re.match(rf"# {number}: \S", lines[1]):
            yield f"{path}:2: form: the title is not `# {number}: ...`"
        elif lines[2][0] in "#-*|":
            yield f"{path}:4: form: no paragraph after the title that says what was asked"
        if "## What was decided" not in lines:
            yield f"{path}:1: form: no section `## What was decided`"


def check_index(files):
    index = re.findall(r"^- \[\d{4}\]\(([\w.-]+)\) \S", files.get(DESIGN + "README.md", ""), re.MULTILINE)
    expected = [path[len(DESIGN):] for path in designs(files)]
    for name in sorted(set(index) ^ set(expected)):
        yield f"{DESIGN}README.md:1: index: {name} is " + ("not there" if name in index else "left out")
    if set(index) == set(expected) and index != expected:
        yield f"{DESIGN}README.md:1: index: not one line each, in order"


def check_cited(files):
    known = {path[len(DESIGN):][:4]: path for path in designs(files)}
    cited = set()
    for path, text in files.items():
        if path in (DESIGN + "README.md", "tests/lint/docs.py"):
            continue
        for number, rest in re.findall(r"docs/design/(\d{4})(-[\w-]+\.md)?", text):
            if number not in known or (rest and known[number] != f"{DESIGN}{number}{rest}"):
                line = text[:text.index(f"docs/design/{number}{rest}")].count("\n") + 1
                yield f"{path}:{line}: cited: docs/design/{number}{rest} is not there"
            elif not path.endswith(".md"):
                cited.add(number)
    for number in sorted(known.keys() - cited):
        yield f"{known[number]}:1: cited: the code that it explains does not name it"


def check_glossary(files):
    """The third column's names in backticks: a C or C++ type, or a macro, declared in a header."""
    declared = set()
    for path, text in files.items():
        if Path(path).suffix in CODE:
            declared |= set(re.findall(r"\b(?:struct|class|union|enum(?: class)?|using)\s+(\w+)", text))
            declared |= set(re.findall(r"#\s*define\s+(\w+)", text))
            declared |= set(re.findall(r"^\s+(D(?:BK|IF|OF)_\w+)\b", text, re.MULTILINE))
    for number, line in enumerate(files.get("docs/glossary.md", "").split("\n"), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4:
            for name in re.findall(r"`(?:(?:struct|enum) )?(?:\w+::)*(\w+)`", cells[2]):
                if name not in declared:
                    yield f"docs/glossary.md:{number}: glossary: no type {name} is declared"


CHECKS = {"readme": check_readme, "path": check_paths, "form": check_form, "index": check_index, "cited": check_cited,
          "glossary": check_glossary}


def self_test():
    spdx, good = "<!-- SPDX -->\n", DESIGN + "0001-first.md"
    right = {"README.md": "`docs/design/0001-first.md`\n", good: spdx + "# 0001: First\n\nWhat?\n\n## What was decided\n",
             DESIGN + "README.md": "- [0001](0001-first.md) What.\n", "engine/a.h": "/* docs/design/0001 */ struct a;\n",
             "docs/glossary.md": "| probe | probe | `struct a` | a place |\n"}
    wrong = {"readme": {"README.md": "\n" * 81}, "path": {"README.md": "`docs/none.md`\n"}, "form": {good: spdx + "# 1. First\n"},
             "index": {DESIGN + "README.md": ""}, "cited": {"engine/a.h": "/* docs/design/0002-x.md */ struct a;\n"},
             "glossary": {"docs/glossary.md": "| probe | probe | `struct b` | a place |\n"}}
    bad = [f"found something wrong in something right: {line}" for check in CHECKS.values() for line in check(right)]
    bad += [f"rule {rule} found nothing wrong in something wrong" for rule, change in wrong.items()
            if not list(CHECKS[rule]({**right, **change}))]
    for line in bad:
        print(f"self-test: {line}")
    return 1 if bad else 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = {path: "" for path in tracked(root)}
    for path in files:
        if (root / path).is_file() and (is_source(path) or not Path(path).suffix or path.endswith((".md", ".toml"))):
            files[path] = (root / path).read_text(errors="replace")
    found = [line for check in CHECKS.values() for line in check(files)]
    print("\n".join([*found, f"docs: {len(documents(files))} documents, {len(found)} findings"]))
    return 1 if found or not documents(files) else 0


if __name__ == "__main__":
    sys.exit(main())
