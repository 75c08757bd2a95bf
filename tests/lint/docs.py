#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents against the tree.

  readme     README.md has at most 120 lines
  path       what a document names in backticks as a path of this tree is there

Prints one line per finding, `file:line: rule: text`, then a count. Exit status 1 if any was found.
`--self-test` feeds each rule something wrong and fails if it is not found.
"""

import re
import sys
from pathlib import Path

from tree import tracked

README_LINES_MAX = 120


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


CHECKS = {"readme": check_readme, "path": check_paths}


def self_test():
    right = {"README.md": "`docs/boot.md`\n", "docs/boot.md": ""}
    wrong = {"readme": {"README.md": "\n" * 121}, "path": {"README.md": "`docs/none.md`\n"}}
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
        if (root / path).is_file() and path.endswith(".md"):
            files[path] = (root / path).read_text(errors="replace")
    found = [line for check in CHECKS.values() for line in check(files)]
    print("\n".join([*found, f"docs: {len(documents(files))} documents, {len(found)} findings"]))
    return 1 if found or not documents(files) else 0


if __name__ == "__main__":
    sys.exit(main())
