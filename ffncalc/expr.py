"""Numbers that know their formula.

A size is a leaf (`size("d_model", 4096, "hidden_size")`); sums and products of sizes are expressions. An expression is
kept as the polynomial it is, {monomial: coefficient}, so like terms are collected as it is built, and the text of a
formula is always read off the very object that gives the number:

    >>> d, d_ff = size("d_model", 768), size("d_ff", 3072)
    >>> ffn = 2 * d * d_ff + d_ff + d
    >>> ffn.formula(), ffn.substituted(), ffn.value
    ('2·d_model·d_ff + d_ff + d_model', '2 × 768 × 3,072 + 3,072 + 768', 4722432)

Values are Python ints: exact at any size. What is not a polynomial of sizes (a minimum, a rounded width, the number of
causal pairs) is a leaf with a telling name and the value it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# The order in which the factors of a term are written; a name that isn't here stands between the widths and T.
_COUNTS = ("batch", "n_layers", "n_vocab", "n_positions", "n_experts", "n_shared", "top_k")
_WIDTHS = ("d_model", "d_ff", "n_heads", "n_kv_heads", "d_head")
_ORDER = {name: rank for rank, name in enumerate(_COUNTS + _WIDTHS)} | {"T": 98, "S": 99}
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Leaf(NamedTuple):
    """A named size. The rank comes first, so that leaves sort in the order in which they are written."""

    rank: int
    name: str
    value: int
    origin: str


Monomial = tuple[Leaf, ...]


class Expr:
    """An integer expression: its value, and the terms that say how it came about. Immutable.

    Two expressions are equal when their terms are; an expression equals a plain int of its value.
    """

    __slots__ = ("terms", "value")

    def __init__(self, terms: dict[Monomial, int], value: int) -> None:
        self.terms = terms
        self.value = value

    def __add__(self, other: Expr | int) -> Expr:
        other = as_expr(other)
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Expr(terms, self.value + other.value)

    __radd__ = __add__

    def __mul__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            scaled = {monomial: c * other for monomial, c in self.terms.items()} if other else {}
            return Expr(scaled, self.value * other)
        terms: dict[Monomial, int] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = tuple(sorted(left + right))
                terms[monomial] = terms.get(monomial, 0) + a * b
        return Expr(terms, self.value * other.value)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.value == other
        return isinstance(other, Expr) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.value)

    def __int__(self) -> int:
        return self.value

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __repr__(self) -> str:
        return f"<{self.formula()} = {self.value}>"

    def leaves(self) -> list[Leaf]:
        """The sizes it is made of, each once, in the order in which they are written."""
        return sorted({leaf for monomial in self.terms for leaf in monomial})

    def formula(self) -> str:
        """The symbolic text, `3·d_model·d_ff`. Of two sizes with one name, each has an index."""
        return self._text("·", _names(self.leaves()), powers=True)

    def substituted(self) -> str:
        """The same with every size replaced by its value, `3 × 4,096 × 11,008`; evaluating it gives `value`."""
        return self._text(" × ", {leaf: f"{leaf.value:,}" for leaf in self.leaves()}, powers=False)

    def _text(self, times: str, names: dict[Leaf, str], powers: bool) -> str:
        if not self.terms:
            return "0"
        highest_first = sorted(self.terms.items(), key=lambda term: -len(term[0]))
        return " + ".join(_term(monomial, c, times, names, powers) for monomial, c in highest_first)


ZERO = Expr({}, 0)
ONE = Expr({(): 1}, 1)


def size(name: str, value: int, origin: str = "") -> Expr:
    """A leaf: the size called `name`, its value, and where that came from (a key, a default, a rule)."""
    return Expr({(Leaf(_ORDER.get(name, 50), name, value, origin),): 1}, value) if value else ZERO


def indexed(name: str, i: int) -> str:
    """The i-th of several sizes of one name, `L₂`."""
    return name + str(i).translate(_SUBSCRIPT)


def as_expr(number: Expr | int) -> Expr:
    """A plain int is an expression without leaves."""
    if isinstance(number, Expr):
        return number
    return Expr({(): number}, number) if number else ZERO


def total(parts: Iterable[Expr | int]) -> Expr:
    """The sum of any number of expressions."""
    terms: dict[Monomial, int] = {}
    value = 0
    for part in map(as_expr, parts):
        value += part.value
        for monomial, coefficient in part.terms.items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
    return Expr({monomial: coefficient for monomial, coefficient in terms.items() if coefficient}, value)


def product(factors: Iterable[Expr | int]) -> Expr:
    """The product of any number of expressions."""
    result = ONE
    for factor in factors:
        result = result * factor
    return result


def _names(leaves: list[Leaf]) -> dict[Leaf, str]:
    """Leaf -> the name it is written with; an index tells apart leaves that share a name but not a value."""
    groups: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        groups.setdefault(leaf.name, []).append(leaf)
    return {
        leaf: leaf.name if len(group) == 1 else indexed(leaf.name, i)
        for group in groups.values()
        for i, leaf in enumerate(group, 1)
    }


def _term(monomial: Monomial, coefficient: int, times: str, names: dict[Leaf, str], powers: bool) -> str:
    factors = [] if coefficient == 1 and monomial else [f"{coefficient:,}"]
    for leaf in dict.fromkeys(monomial):
        power = monomial.count(leaf)
        if powers and power > 1:
            factors.append(names[leaf] + str(power).translate(SUPERSCRIPT))
        else:
            factors += [names[leaf]] * power
    return times.join(factors)
