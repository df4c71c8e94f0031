"""A space in cells, in each of which every number is a polynomial with whole coefficients.

A size is *plain* where the numbers hold it as it is, as a factor, and nothing looks at its value: its values are then
put into the polynomial. All others (those that other sizes follow from, or that decide what a layer looks like) are
*structural*: the config is resolved for each combination of their values, one cell each. Which are which is found by
reading the config with values that note who looks at them (`ffncalc.search.swept`), for the space and again in each
cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from ffncalc.edit import spellings
from ffncalc.errors import InputError
from ffncalc.expr import Expr
from ffncalc.keys import WORDS
from ffncalc.search.space import WORKLOAD, Axis, Point, Space, numbers_at
from ffncalc.search.swept import Swept, Trace, swept

# {powers of the plain sizes: coefficient}; {(1, 0): 3} of (n_layers, d_ff) is 3·n_layers
Polynomial = dict[tuple[int, ...], int]

_CANDIDATES = frozenset(WORKLOAD).union(
    *map(spellings, WORDS)
)  # a key that only one family has is never taken for plain


class Cell(NamedTuple):
    """One combination of the structural sizes; over the plain ones, each number is a polynomial."""

    point: Point
    plain: tuple[Axis, ...]
    numbers: dict[str, Polynomial]


class Refused(NamedTuple):
    """A combination of sizes that the family refuses, how many points it stands for, and what it says."""

    point: Point
    points: int
    why: str


class Split(NamedTuple):
    """The axes of a space by kind, in the order in which a sweep varies them: the structural ones slowest."""

    structural: tuple[Axis, ...]
    plain: tuple[Axis, ...]


def split(where: Space, points: Iterable[Point] | None = None) -> Split:
    """Which axes are plain, at the first of `points` (the space's own) that is accepted; none where no early one is."""
    base = _first_accepted(
        where, points or (_named(where.axes, v) for v in product(*(axis.values for axis in where.axes)))
    )
    tried = tuple(axis for axis in where.axes if base and axis.name in _CANDIDATES and min(axis.values) >= 1)
    plain: tuple[Axis, ...] = ()
    if base and tried:
        trace = Trace()
        numbers = _polynomials(where, base, tried, trace)
        plain = tuple(axis for axis in tried if axis.name not in trace.looked)
        if not _holds(where, base, tried, numbers, plain):
            plain = ()
    return Split(tuple(axis for axis in where.axes if axis not in plain), plain)


def _first_accepted(where: Space, among: Iterable[Point]) -> Point | None:
    for point in islice(among, 1000):
        try:
            numbers_at(where, point)
        except InputError:
            continue
        return point
    return None


def _holds(
    where: Space, base: Point, tried: Sequence[Axis], numbers: dict[str, Polynomial], plain: Sequence[Axis]
) -> bool:
    """Whether the polynomials give what counting gives with all plain sizes at their largest: it checks the tracing."""
    point = {**base, **{axis.name: max(axis.values) for axis in plain}}
    try:
        counted = numbers_at(where, point)
    except InputError:
        return False
    sizes = [point[axis.name] for axis in tried]
    return all(value_at(numbers[name], sizes) == number.value for name, number in counted.items())


def value_at(number: Polynomial, sizes: Sequence[int]) -> int:
    """The value of a polynomial at one point, in Python ints."""
    return sum(c * prod(size**power for size, power in zip(sizes, powers, strict=True)) for powers, c in number.items())


def cells(where: Space, parts: Split, start: int = 0) -> Iterator[Iterator[Cell | Refused]]:
    """For each combination of the structural sizes, from the `start`-th on, the cells that it comes to (mostly one)."""
    for values in islice(product(*(axis.values for axis in parts.structural)), start, None):
        yield cell(where, _named(parts.structural, values), parts.plain)


def cell(where: Space, point: Point, plain: tuple[Axis, ...]) -> Iterator[Cell | Refused]:
    """The cell at one combination of the structural sizes; several, where a size that is plain elsewhere isn't here."""
    trace = Trace()
    refused = ""
    numbers: dict[str, Polynomial] = {}
    try:
        numbers = _polynomials(where, {**point, **{axis.name: max(axis.values) for axis in plain}}, plain, trace)
    except InputError as error:
        refused = str(error)
    looked = tuple(axis for axis in plain if axis.name in trace.looked)
    if looked:
        rest = tuple(axis for axis in plain if axis not in looked)
        for values in product(*(axis.values for axis in looked)):
            yield from cell(where, {**point, **_named(looked, values)}, rest)
    else:
        yield Refused(point, points(plain), refused) if refused else Cell(point, plain, numbers)


def _named(axes: Sequence[Axis], values: Sequence[int]) -> Point:
    return dict(zip((axis.name for axis in axes), values, strict=True))


def _polynomials(where: Space, point: Point, plain: Sequence[Axis], trace: Trace) -> dict[str, Polynomial]:
    """Every number as a polynomial of the plain sizes, whose values `trace` watches."""
    names = [axis.name for axis in plain]
    traced = {name: swept(value, name, trace) if name in names else value for name, value in point.items()}
    return {name: polynomial(number, names) for name, number in numbers_at(where, traced).items()}


def polynomial(number: Expr, names: Sequence[str]) -> Polynomial:
    """An expression over the sizes called `names`: leaves that are one of them stay, all others are numbers."""
    found: Polynomial = {}
    for monomial, coefficient in number.terms.items():
        powers = [0] * len(names)
        factor = int.__add__(coefficient, 0)
        for leaf in monomial:
            if isinstance(leaf.value, Swept) and leaf.value.is_size:
                powers[names.index(next(iter(leaf.value.names)))] += 1
            else:
                factor *= int(leaf.value)  # of a traced one, that is to look at it
        key = tuple(powers)
        found[key] = found.get(key, 0) + factor
    return found


def points(axes: Sequence[Axis]) -> int:
    """How many combinations of values there are."""
    return prod(len(axis.values) for axis in axes)
