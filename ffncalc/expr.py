"""Numbers that know their formula.

A size is a leaf (`size("d_model", 4096, "hidden_size")`); sums and products of sizes are expressions. An expression is
kept as the polynomial it is, {monomial: coefficient}, so like terms are collected as it is built, and the text of a
formula is always read off the very object that gives the number:

    >>> d, d_ff = size("d_model", 768), size("d_ff", 3072)
    >>> ffn = 2 * d * d_ff + d_ff + d
    >>> ffn.formula(), ffn.substituted(), ffn.value
    ('2·d_model·d_ff + d_ff + d_model', '2 × 768 × 3,072 + 3,072 + 768', 4722432)
    >>> ffn.in_terms_of(d)
    '8d² + 5d'

Values are Python ints: exact at any size. What is not a polynomial of sizes (a minimum, a rounded width, the number of
causal pairs) is a leaf with a telling name and the value it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

# The order in which the factors of a term are written; a name that isn't here stands between the widths and T.
_COUNTS = ("batch", "n_layers", "n_vocab", "n_positions", "n_experts", "n_shared", "top_k")
_WIDTHS = ("d_model", "d_ff", "n_heads", "n_kv_heads", "d_head")
_ORDER = {name: rank for rank, name in enumerate(_COUNTS + _WIDTHS)} | {"T": 98, "S": 99}
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SHORT = {"d_model": "d", "n_vocab": "V", "n_layers": "L"}
_KEPT_IN_PLAIN_FORM = ("T", "S", "n_vocab", "n_layers", "L", "min(", "batch")


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

    def in_terms_of(self, width: Expr) -> str:
        """The plain form over the model's width, `8d² + 5d`: every other width as its multiple of d."""
        return plain_text(plain_form(self, width))


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
            factors.append(names[leaf] + str(power).translate(_SUPERSCRIPT))
        else:
            factors += [names[leaf]] * power
    return times.join(factors)


# ------------------------------------------------------------------ the plain form
# {(power of d, names kept as they are): coefficient}; `8d² + 5d` is {(2, ()): 8, (1, ()): 5}
PlainForm = dict[tuple[int, tuple[str, ...]], Fraction]


def plain_form(expression: Expr, width: Expr) -> PlainForm:
    """Each width as a multiple of `width`, counts (heads, experts) as numbers, lengths and the vocabulary kept."""
    form: PlainForm = {}
    for monomial, coefficient in expression.terms.items():
        number, power, kept = Fraction(coefficient), 0, []
        for leaf in monomial:
            if leaf.name.startswith(_KEPT_IN_PLAIN_FORM):
                kept.append(_SHORT.get(leaf.name, leaf.name))
            elif leaf.name.startswith("d_"):
                number, power = number * Fraction(leaf.value, width.value), power + 1
            else:
                number *= leaf.value
        key = (power, tuple(kept))
        form[key] = form.get(key, Fraction(0)) + number
    return form


def plain_text(form: PlainForm) -> str:
    """`8d² + 5d`; a multiple that is no short decimal is rounded to four digits and marked with ≈ in front."""
    rounded = any(_decimal(number) is None for number in form.values())
    terms = []
    for (power, kept), number in sorted(form.items(), key=lambda item: (-item[0][0], item[0][1])):
        letters = "".join(kept) + ("d" + (str(power).translate(_SUPERSCRIPT) if power > 1 else "") if power else "")
        text = _decimal(number) or str(_decimal(round(number, 4)))
        terms.append(letters if text == "1" and letters else text + letters)
    return ("≈ " if rounded else "") + (" + ".join(terms) or "0")


def is_whole(form: PlainForm) -> bool:
    """Whether every multiple of d is a whole number: the model is one of the textbook's shapes."""
    return all(number.denominator == 1 for number in form.values())


def _decimal(number: Fraction) -> str | None:
    """The exact decimal text of a fraction, or None where it has no more than six digits of its own."""
    scaled = number * 10**6
    if scaled.denominator != 1:
        return None
    whole, part = divmod(scaled.numerator, 10**6)
    return f"{whole:,}" + (f".{part:06d}".rstrip("0") if part else "")
