#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random integer expressions: what D computes is what C computes.

Each expression is printed three times by a D program: with its values as constants, which the compiler folds; as
variables, which the engine computes; and half and half. The expectation is computed here by C's rules: promotion, the
usual conversions, 64-bit wrap-around. Expressions on which C and D may rightly differ (32-bit overflow, which D carries
in 64 bits) are not made.
"""

import random
import sys

import prop

EXPRESSIONS_PER_PROGRAM = 24
DEPTH_MAX = 4


class Type:
    def __init__(self, name, bits, signed):
        self.name, self.bits, self.signed = name, bits, signed

    def wrap(self, value):
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value

    def holds(self, value):
        return self.wrap(value) == value


CHAR, SHORT, INT, LONG = (Type(n, b, True) for n, b in (("int8_t", 8), ("int16_t", 16), ("int", 32), ("long long", 64)))
UCHAR, USHORT, UINT, ULONG = (Type(n, b, False) for n, b in (("uint8_t", 8), ("uint16_t", 16), ("unsigned int", 32),
                                                             ("unsigned long long", 64)))
TYPES = [CHAR, SHORT, INT, LONG, UCHAR, USHORT, UINT, ULONG]


class Rejected(Exception):
    """C and D need not agree on this one."""


def promoted(t):
    return INT if t.bits < 32 else t


def common(a, b):
    a, b = promoted(a), promoted(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if not a.signed else b


def convert(value, t):
    if t.bits == 64:
        return t.wrap(value)
    if not t.holds(value):
        raise Rejected
    return value


def interesting(rng, t):
    low, high = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.signed else (0, (1 << t.bits) - 1)
    return rng.choice([0, 1, 2, 3, 7, 10, 100, high, low, high - 1, low + 1, max(low, -1), max(low, -5),
                       rng.randint(low, high), rng.randint(max(low, -1000), min(high, 1000))])


def literal(value, t):
    """A D constant of that type and value."""
    suffix = {INT: "", UINT: "U", LONG: "LL", ULONG: "ULL"}.get(t)
    if suffix is None:
        return f"({t.name}){literal(value, INT)}"
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    if t is INT and value == -(1 << 31):
        return "(-2147483647 - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


class Leaf:
    def __init__(self, rng):
        self.type = rng.choice(TYPES)
        self.value = interesting(rng, self.type)
        self.index = None
        self.folded = rng.random() < 0.5  # in the printing that is half and half

    def text(self, style, variables):
        """`style` says whether this leaf is a constant in this printing."""
        if style(self):
            return literal(self.value, self.type)
        if self.index is None:
            self.index = len(variables)
            variables.append(self)
        return f"v{self.index}"


class Unary:
    def __init__(self, rng, depth):
        self.operator = rng.choice(["-", "~", "!"])
        self.operand = make(rng, depth - 1)
        t = promoted(self.operand.type)
        value = convert(self.operand.value, t)
        if self.operator == "!":
            self.type, self.value = INT, int(value == 0)
            return
        self.type = t
        self.value = convert(-value if self.operator == "-" else ~value, t)

    def text(self, style, variables):
        return f"{self.operator}({self.operand.text(style, variables)})"


class Cast:
    def __init__(self, rng, depth):
        self.type = rng.choice(TYPES)
        self.operand = make(rng, depth - 1)
        self.value = self.type.wrap(self.operand.value)

    def text(self, style, variables):
        return f"({self.type.name})({self.operand.text(style, variables)})"


def divide(a, b):
    if b == 0 or (b == -1 and a == -(1 << 63)):
        raise Rejected
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "%": lambda a, b: a - b * divide(a, b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
COMPARISONS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
LOGICAL = {
    "&&": lambda a, b: a and b,
    "||": lambda a, b: a or b,
    "^^": lambda a, b: a != b,
}


class Binary:
    def __init__(self, rng, depth):
        self.operator = rng.choice([*ARITHMETIC, *ARITHMETIC, *COMPARISONS, *LOGICAL])
        self.left, self.right = make(rng, depth - 1), make(rng, depth - 1)
        if self.operator in LOGICAL:
            self.type = INT
            self.value = int(bool(LOGICAL[self.operator](self.left.value != 0, self.right.value != 0)))
            return
        t = common(self.left.type, self.right.type)
        a, b = convert(self.left.value, t), convert(self.right.value, t)
        if self.operator in COMPARISONS:
            self.type, self.value = INT, int(COMPARISONS[self.operator](a, b))
        else:
            self.type, self.value = t, convert(ARITHMETIC[self.operator](a, b), t)

    def text(self, style, variables):
        return f"({self.left.text(style, variables)}) {self.operator} ({self.right.text(style, variables)})"


class Shift:
    def __init__(self, rng, depth):
        self.operator = rng.choice(["<<", ">>"])
        self.operand = make(rng, depth - 1)
        self.type = promoted(self.operand.type)
        self.count = rng.randrange(self.type.bits)
        value = convert(self.operand.value, self.type)
        self.value = convert(value << self.count if self.operator == "<<" else value >> self.count, self.type)

    def text(self, style, variables):
        return f"({self.operand.text(style, variables)}) {self.operator} {self.count}"


class Ternary:
    def __init__(self, rng, depth):
        self.condition, self.left, self.right = (make(rng, depth - 1) for _ in range(3))
        self.type = common(self.left.type, self.right.type)
        left, right = convert(self.left.value, self.type), convert(self.right.value, self.type)
        self.value = left if self.condition.value != 0 else right

    def text(self, style, variables):
        parts = (part.text(style, variables) for part in (self.condition, self.left, self.right))
        return "({}) ? ({}) : ({})".format(*parts)


def make(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        return Leaf(rng)
    return rng.choice([Unary, Cast, Binary, Binary, Binary, Shift, Ternary])(rng, depth)


def make_expression(rng):
    while True:
        try:
            return make(rng, rng.randint(1, DEPTH_MAX))
        except Rejected:
            pass


def make_program(rng):
    """Returns (D text, expected lines, the expressions as written)."""
    variables, statements, expected, texts = [], [], [], []
    styles = [lambda leaf: True, lambda leaf: False, lambda leaf: leaf.folded]
    for _ in range(EXPRESSIONS_PER_PROGRAM):
        expression = make_expression(rng)
        for style in styles:
            text = expression.text(style, variables)
            texts.append(text)
            statements.append(f'BEGIN {{ printf("%d\\n", (long long)({text})); }}')
            expected.append(str(LONG.wrap(expression.value)))
    lines = [f"{leaf.type.name} v{leaf.index};" for leaf in variables]
    lines.append("BEGIN {")
    lines += [f"\tv{leaf.index} = {literal(leaf.value, leaf.type)};" for leaf in variables]
    lines.append("}")
    return "\n".join([*lines, *statements, "BEGIN { exit(0); }", ""]), expected, texts


def main():
    options = prop.arguments(__doc__.split("\n")[0], rounds=40)
    failed = checked = 0
    for round_number in range(options.rounds):
        program, expected, texts = make_program(random.Random(options.seed + round_number))
        stdout, stderr, status = prop.simulate(options.daybreak, program)
        lines = stdout.strip("\n").split("\n")
        if stderr or status != 0 or len(lines) != len(expected):
            print(f"round {round_number}: status {status}, {len(lines)} lines of {len(expected)}\n{stderr[:2000]}")
            failed += 1
            continue
        for text, want, got in zip(texts, expected, lines):
            checked += 1
            if want != got:
                failed += 1
                print(f"round {round_number}: {text}\n  expected {want}, printed {got}")
                for line in program.split("\n"):
                    if any(f"{v} = " in line for v in set(w for w in text.replace("(", " ").replace(")", " ").split()
                                                          if w.startswith("v") and w[1:].isdigit())):
                        print(f"  {line.strip()}")
    print(f"{checked} printed values compared, {failed} failures, seed {options.seed}")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
