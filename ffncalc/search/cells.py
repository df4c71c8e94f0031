"""A space in cells, in each of which every number is a polynomial with whole coefficients.

A size is *plain* where the numbers hold it as it is: as a factor, and in no other way. For a plain size no config has to be
read again, its values are put into the polynomial. All other sizes (those that others follow from, or that decide what a
layer looks like) are *structural*: the config is resolved for each combination of their values, one cell each.

Only sizes that nothing in the reading of a config compares or divides are ever taken for plain (`CANDIDATES`), and even
those are tried: along a line through the space once, and in every cell at its smallest and its largest corner. Where the
two corners don't give the same polynomial, or one of them is refused, the points of that cell are resolved one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from ffncalc.edit import spellings
from ffncalc.errors import InputError
from ffncalc.expr import Expr
from ffncalc.search.space import Axis, Point, Space, numbers_at

# {powers of the plain sizes: coefficient}; {(1, 0): 3} of (n_layers, d_ff) is 3·n_layers
Polynomial = dict[tuple[int, ...], int]

CANDIDATES = {"T", "S", "seq_len", "source_len"}.union(*map(spellings, ("n_layers", "n_vocab", "d_ff")))
MAX_TRIED = 128  # values of a candidate that are resolved to find out whether it is plain


class Cell(NamedTuple):
    """One combination of the structural sizes; over the plain ones, each number is a polynomial."""

    point: Point
    plain: tuple[Axis, ...]
    numbers: dict[str, Polynomial]


class Refused(NamedTuple):
    """A combination of structural sizes that the family refuses, how many points it stands for, and what it says."""

    point: Point
    points: int
    why: str


class Split(NamedTuple):
    """The axes of a space by kind, in the order in which a sweep varies them: the structural ones slowest."""

    structural: tuple[Axis, ...]
    plain: tuple[Axis, ...]


def split(where: Space) -> Split:
    """Which axes are plain. Each candidate is tried over its values, with all others at their first that is accepted."""
    base = _first_accepted(where)
    plain = tuple(axis for axis in where.axes if base and axis.name in CANDIDATES and _is_plain(where, axis, base))
    return Split(tuple(axis for axis in where.axes if axis not in plain), plain)


def _first_accepted(where: Space) -> Point | None:
    """A point that the family accepts, from the first 1,000 combinations."""
    for _, values in zip(range(1000), product(*(axis.values for axis in where.axes)), strict=False):
        point = dict(zip((axis.name for axis in where.axes), values, strict=True))
        try:
            numbers_at(where, point)
        except InputError:
            continue
        return point
    return None


def _is_plain(where: Space, axis: Axis, base: Point) -> bool:
    values = sorted(set(axis.values))
    tried = values[:: -(-len(values) // MAX_TRIED)] + values[-1:]
    try:
        found = [_polynomials(where, {**base, axis.name: value}, (axis,)) for value in tried]
    except InputError:
        return False
    return all(entry == found[0] for entry in found)


def cells(where: Space, parts: Split, start: int = 0) -> Iterator[Iterator[Cell | Refused]]:
    """For each combination of the structural sizes, from the `start`-th on, the cells that it comes to (mostly one)."""
    for values in islice(product(*(axis.values for axis in parts.structural)), start, None):
        yield cell(where, dict(zip((axis.name for axis in parts.structural), values, strict=True)), parts.plain)


def cell(where: Space, point: Point, plain: tuple[Axis, ...]) -> Iterator[Cell | Refused]:
    """The cell at one combination of the structural sizes, or one for each of its points where nothing is plain in it."""
    found: list[dict[str, Polynomial]] = []
    refused = ""
    corners = _corners(plain)
    for corner in corners:
        try:
            found.append(_polynomials(where, {**point, **corner}, plain))
        except InputError as error:
            refused = str(error)
    if not found:
        yield Refused(point, points(plain), refused)
    elif not refused and found[0] == found[-1]:
        yield Cell(point, plain, found[0])
    else:
        for values in product(*(axis.values for axis in plain)):
            yield from cell(where, {**point, **dict(zip((axis.name for axis in plain), values, strict=True))}, ())


def _corners(plain: Sequence[Axis]) -> list[Point]:
    """The points at which all plain sizes are smallest, and largest."""
    low, high = ({axis.name: end(axis.values) for axis in plain} for end in (min, max))
    return [low] if low == high else [low, high]


def _polynomials(where: Space, point: Point, plain: Sequence[Axis]) -> dict[str, Polynomial]:
    leaves = {(axis.origin, point[axis.name]): i for i, axis in enumerate(plain)}
    return {name: polynomial(number, leaves, len(plain)) for name, number in numbers_at(where, point).items()}


def polynomial(number: Expr, leaves: Mapping[tuple[str, int], int], n: int) -> Polynomial:
    """An expression over `n` sizes; `leaves` says which of them a leaf stands for, by origin and value. All others are numbers."""
    found: Polynomial = {}
    for monomial, coefficient in number.terms.items():
        powers = [0] * n
        for leaf in monomial:
            i = leaves.get((leaf.origin, leaf.value))
            if i is None:
                coefficient *= leaf.value
            else:
                powers[i] += 1
        key = tuple(powers)
        found[key] = found.get(key, 0) + coefficient
    return found


def points(axes: Sequence[Axis]) -> int:
    """How many combinations of values there are."""
    return prod(len(axis.values) for axis in axes)
