#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `report --json` has of a recording with the text that `report` prints, value by value.

    json_as_text.py TEXT JSON

Each clause of the program begins with printf("\\n#KIND:") and then records one value, or prints aggregations (KIND is
printa); KIND is mem where the text is a dump, printf where the text is all. The last is "end": what was never printed
follows. Blanks do not count, nor empty buckets.
"""
import json
import re
import sys

ROW = re.compile(r"\s*([<>=]*) *(-?\d+) \|@*\s+(\d+)\s*")
DUMP = re.compile(r"\s+[0-9a-f]+: ((?:[0-9a-f]{2} )+) .*")


def packed(text):
    """The text without blanks; of a distribution the buckets that are not empty."""
    out = ""
    for line in text.splitlines():
        row = ROW.fullmatch(line)
        if row:
            out += f"{row[1]}{row[2]}={row[3]}" if row[3] != "0" else ""
        elif "Distribution" not in line:
            out += "".join(line.split())
    return out


def dumped(text):
    rows = filter(None, map(DUMP.fullmatch, text.splitlines()))
    return bytes.fromhex("".join(row[1] for row in rows)).rstrip(b"\0")


def shown(value):
    """A value of JSON as the text shows it, packed."""
    if isinstance(value, list):
        return "".join(f"{shown(one['value'])}={one['count']}" if isinstance(one, dict) else one for one in value)
    return "".join(str(value).split())


def in_json(lines):
    """(kind, what the text has to show) of each clause."""
    printed = ""
    for line in map(json.loads, lines):
        if line["kind"] == "aggregation":
            printed += "".join(map(shown, line["key"])) + shown(line["value"])
            continue
        marker, values = line.get("text", ""), line["values"]
        kind, rest = re.match(r"\n#(\w+):", marker), re.sub(r"\n#\w+:", "", marker)
        if not kind:
            assert not values, line
            continue
        if kind[1] == "end":
            continue
        if kind[1] == "printf":
            yield kind[1], packed(rest)
        elif kind[1] == "printa":
            assert not values and not rest, line
            yield kind[1], printed
            printed = ""
        else:
            (value,) = values
            assert not rest, line
            yield kind[1], value if kind[1] == "mem" else shown(value)
    yield "end", printed


def in_text(text):
    parts = re.split(r"\n#(\w+):", text)
    for kind, body in zip(parts[1::2], parts[2::2]):
        yield kind, dumped(body) if kind == "mem" else packed(body)


def main():
    text = list(in_text(open(sys.argv[1], encoding="utf-8").read()))
    with open(sys.argv[2], encoding="utf-8") as lines:
        expected = [(kind, bytes.fromhex(value["hex"]) if isinstance(value, dict) else
                     value.encode() if kind == "mem" else value) for kind, value in in_json(lines)]
    for one, other in zip(text, expected):
        if one != other:
            print(f"text: {one}\njson: {other}")
    print(f"{len(text)} in the text, {len(expected)} in JSON")


if __name__ == "__main__":
    main()
