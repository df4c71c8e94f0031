"""Assertions as text -> syntax trees: `total <= 7B`, `d_ff % 256 == 0`, `params.total == 7B ± 1 %`, `6B < total < 7B`.

    assertion  = sum (("==" | "!=" | "<" | "<=" | ">" | ">=") sum)+      a chain holds where each of its links does
    sum        = product (("+" | "-") product)*
    product    = factor (("*" | "×" | "/" | "%") factor)*
    factor     = "-" factor | number ["%"] | path | "(" sum ")"
    path       = name ("." name | "[" whole "]" | "[*]")*                [*]: each one of a list

A side of == or != may end in a tolerance, `± 1 %` of it or `± 1_000`. After a number, `%` is a percent sign unless an
operand follows it. Numbers are exact fractions. Nothing is ever evaluated as Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from ffncalc.errors import InputError
from ffncalc.number import NUMBER, of_match, shortened

MAX_LENGTH = 2000
MAX_DEPTH = 40


class Number(NamedTuple):
    """A number as written; `percent` says that a percent sign stood behind it (the value is divided already)."""

    value: Fraction
    percent: bool = False


class Path(NamedTuple):
    """A number that ffncalc reports, by keys, indices and "*"; of the model under check unless another is named."""

    text: str
    steps: tuple[str | int, ...]
    model: str | None = None


class Negative(NamedTuple):
    """Minus an operand."""

    of: Node


class Binary(NamedTuple):
    """Two operands and `+ - * / %`."""

    operator: str
    left: Node
    right: Node


class Tolerance(NamedTuple):
    """Everything from `middle` - `off` to `middle` + `off`; where `relative`, `off` is a share of the middle."""

    middle: Node
    off: Node
    relative: bool


class Choices(NamedTuple):
    """Any one of these; a checks file's `one_of`."""

    of: tuple[Node, ...]


Node = Number | Path | Negative | Binary | Tolerance | Choices


class Side(NamedTuple):
    """One side of a comparison, and its text."""

    text: str
    node: Node


class Assertion(NamedTuple):
    """A chain of comparisons: one more side than operators."""

    text: str
    sides: tuple[Side, ...]
    operators: tuple[str, ...]


class Token(NamedTuple):
    """A piece of the text: its kind (number, path, or the operator itself), where it starts and ends."""

    kind: str
    start: int
    end: int


OPERATORS = {"≤": "<=", "≥": ">=", "≠": "!=", "×": "*", "·": "*", "+-": "±", "+/-": "±", "−": "-"}
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
PATH = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*|\[(?:[0-9]{1,9}|\*)\])*"
TOKEN = re.compile(rf"(?P<path>{PATH})|(?P<operator>\+/-|\+-|[=!<>]=|[-+*/%×·−±()<>≤≥≠=])")
STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\*|[0-9]+")


def parse(text: str, where: str) -> Assertion:
    """The assertion that a text is. Raises InputError with the column of what is wrong, `where` in front."""
    parser = _Parser(text, where)
    sides, operators = [parser.side()], []
    while parser.next in COMPARISONS:
        operators.append(parser.take())
        sides.append(parser.side())
    if parser.next == "=":
        parser.fail("= sets nothing here; write == to compare")
    if parser.next != "end":
        parser.fail(f"{parser.shown()} is not expected; write a comparison, such as total <= 7B")
    if not operators:
        parser.fail("nothing is compared; write a comparison, such as total <= 7B")
    return Assertion(text.strip(), tuple(sides), tuple(operators))


def parse_number(text: str, where: str) -> Node:
    """A number that a checks file states: 7B, 2 * 4096, 66 % ± 1 %. Raises InputError; names of numbers are none."""
    parser = _Parser(text, where, names=False)
    node = parser.side().node
    if parser.next != "end":
        parser.fail(f"{parser.shown()} is not expected; write one number, such as 7B, 6.74e9 or 7B ± 1 %")
    return node


def parse_path(text: str) -> Path | None:
    """The path that a text is; None where it isn't one."""
    return _path(text) if re.fullmatch(PATH, text) else None


def paths(node: Node) -> Iterator[Path]:
    """The numbers that a tree names."""
    if isinstance(node, Path):
        yield node
    elif not isinstance(node, Number):
        parts: tuple[Any, ...] = node.of if isinstance(node, Choices) else node
        for part in parts:
            if isinstance(part, tuple):
                yield from paths(part)  # type: ignore[arg-type]  # whatever is a tuple inside a node is one


def _path(text: str) -> Path:
    return Path(text, tuple(int(step) if step.isdigit() else step for step in STEP.findall(text)))


def _tokens(text: str, where: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        number = NUMBER.match(text, at)
        found = number or TOKEN.match(text, at)
        if found is None:
            raise InputError(f"{where}: column {at + 1}: {text[at]!r} has no meaning here")
        kind = "number" if number else "path" if found["path"] else OPERATORS.get(found[0], found[0])
        yield Token(kind, at, at + len(found[0].rstrip()))
        at = found.end()
    yield Token("end", at, at)


class _Parser:
    """Reads a text from left to right; `next` is the kind of the token that comes."""

    def __init__(self, text: str, where: str, names: bool = True) -> None:
        if len(text) > MAX_LENGTH:
            raise InputError(f"{where}: {len(text):,} characters; an assertion has at most {MAX_LENGTH:,}")
        self.text, self.where, self.names = text, where, names
        self.tokens = list(_tokens(text, where))
        self.at = 0
        self.depth = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at].kind

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1].kind

    def shown(self) -> str:
        token = self.tokens[self.at]
        return "the end" if token.kind == "end" else shortened(self.text[token.start : token.end])

    def fail(self, what: str) -> NoReturn:
        raise InputError(f"{self.where}: column {self.tokens[self.at].start + 1}: {what}")

    def side(self) -> Side:
        start = self.tokens[self.at].start
        node = self.sum()
        if self.next == "±":
            self.take()
            off = self.sum()
            node = Tolerance(node, off, isinstance(off, Number) and off.percent)
        return Side(self.text[start : self.tokens[self.at - 1].end], node)

    def sum(self) -> Node:
        node = self.product()
        while self.next in ("+", "-"):
            node = Binary(self.take(), node, self.product())
        return node

    def product(self) -> Node:
        node = self.factor()
        while self.next in ("*", "/", "%"):
            node = Binary(self.take(), node, self.factor())
        return node

    def factor(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("nested too deeply")
        node = self.operand()
        self.depth -= 1
        return node

    def operand(self) -> Node:
        kind, token = self.next, self.tokens[self.at]
        if kind not in ("number", "path", "-", "("):
            self.fail(f"{self.shown()} stands where a number{' or a name' if self.names else ''} is expected")
        if kind == "path" and not self.names:
            self.fail(f"{self.shown()} is a name; a number is expected, such as 7B, 6.74e9 or 7B ± 1 %")
        self.take()
        if kind == "number":
            return self.number(token)
        if kind == "-":
            return Negative(self.factor())
        return _path(self.text[token.start : token.end]) if kind == "path" else self.inside()

    def number(self, token: Token) -> Number:
        found = NUMBER.match(self.text, token.start)
        assert found  # it was, when the token was made
        try:
            value = of_match(found)
        except InputError as error:
            raise InputError(f"{self.where}: column {token.start + 1}: {error}") from None
        if self.next == "%" and self.tokens[self.at + 1].kind not in ("number", "path", "("):
            self.take()
            return Number(value / 100, percent=True)
        return Number(value)

    def inside(self) -> Node:
        node = self.sum()
        if self.next != ")":
            self.fail(f"{self.shown()} stands where ) is expected")
        self.take()
        return node
