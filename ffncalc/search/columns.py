"""A sweep over columns: row i is the config with the i-th value of every size, instead of a grid of all combinations.

The combinations of structural sizes that stand in the rows are resolved once each; a row then looks its coefficients up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ffncalc import edit
from ffncalc.errors import InputError
from ffncalc.search.cells import Cell, Refused, Split, cell, split
from ffncalc.search.polynomial import CHUNK, Array, Powers, evaluate, fits, nested
from ffncalc.search.space import Axis, Point, Space, space
from ffncalc.workload import Workload

_TABLE = 2**24  # values below this are found and numbered by looking them up, larger ones by sorting


class Lookup(NamedTuple):
    """One number in every cell: the steps that give it, with tables of coefficients in them, and the type of its values."""

    step: Any
    type: Any


def over_columns(
    start: edit.Base, sizes: Mapping[str, Sequence[int]], work: Workload, numbers: Sequence[str]
) -> tuple[dict[str, Array], list[Refused]]:
    """The columns, those of the numbers after those of the sizes, without the rows that the family refuses, and these."""
    columns = {name: _column(name, values) for name, values in sizes.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise InputError(f"columns of unequal length: {', '.join(f'{n} {len(c):,}' for n, c in columns.items())}")
    ends = {name: (int(column.min()), int(column.max())) for name, column in columns.items()}
    where = space(start, ends, work, numbers)
    parts = split(where, _first_rows(columns))
    codes, found = _cells(where, parts, columns)
    if found is None:  # somewhere a size is plain in one cell and not in another: take none for plain
        parts = Split(where.axes, ())
        codes, found = _cells(where, parts, columns)
    assert found is not None
    refused = _counted(found, codes)
    if refused:
        kept = np.array([isinstance(entry, Cell) for entry in found])[codes]
        codes, columns = codes[kept], {name: column[kept] for name, column in columns.items()}
    if not len(codes):
        return {}, refused
    plain = [columns[axis.name] for axis in parts.plain]
    return columns | values(lookup(found, parts.plain), codes, plain), refused


def _column(name: str, given: Sequence[int]) -> Array:
    column = np.asarray(given)
    if column.ndim != 1 or not len(column) or column.dtype.kind not in "iu":
        raise InputError(f"{name}: want a column of one or more whole numbers")
    return column.astype(np.int64, copy=False)


def _first_rows(columns: Mapping[str, Array]) -> Iterator[Point]:
    rows = zip(*(column[:1000].tolist() for column in columns.values()), strict=True)
    return (dict(zip(columns, row, strict=True)) for row in rows)


def numbered(column: Array) -> tuple[Array, Array]:
    """The distinct values of a column in order, and for each row which of them it has."""
    low, high = int(column.min()), int(column.max())
    if low < 0 or high >= _TABLE:
        found, codes = np.unique(column, return_inverse=True)
        return found, codes
    there = np.zeros(high + 1, dtype=bool)
    there[column] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[column]


def _cells(where: Space, parts: Split, columns: Mapping[str, Array]) -> tuple[Array, list[Cell | Refused] | None]:
    """For each row which cell it is in, and the cells; None for these where one of them isn't a polynomial throughout."""
    codes, combinations = combined([columns[axis.name] for axis in parts.structural], len(next(iter(columns.values()))))
    names = [axis.name for axis in parts.structural]
    found: list[Cell | Refused] = []
    for combination in combinations:
        entries = list(islice(cell(where, dict(zip(names, combination, strict=True)), parts.plain), 2))
        if len(entries) > 1:
            return codes, None
        found += entries
    return codes, found


def combined(columns: Sequence[Array], rows: int) -> tuple[Array, list[tuple[int, ...]]]:
    """For each row which combination of values it has, and the combinations that there are."""
    codes = np.zeros(rows, dtype=np.int64)
    combinations: list[tuple[int, ...]] = [()]
    for column in columns:
        its_values, its_codes = numbered(column)
        there, codes = numbered(codes * len(its_values) + its_codes)
        pairs = (divmod(pair, len(its_values)) for pair in there.tolist())
        combinations = [(*combinations[i], int(its_values[j])) for i, j in pairs]
    return codes, combinations


def _counted(found: Sequence[Cell | Refused], codes: Array) -> list[Refused]:
    if all(isinstance(entry, Cell) for entry in found):
        return []
    rows = np.bincount(codes, minlength=len(found)).tolist()
    return [entry._replace(points=n) for entry, n in zip(found, rows, strict=True) if isinstance(entry, Refused)]


def lookup(found: Sequence[Cell | Refused], plain: Sequence[Axis]) -> dict[str, Lookup]:
    """The numbers of all cells, by name; zeros where a cell is refused, whose rows are gone."""
    numbers = [entry.numbers if isinstance(entry, Cell) else {} for entry in found]
    largest = [max(axis.values) for axis in plain]
    return {name: _lookup([each.get(name, {}) for each in numbers], largest) for name in max(numbers, key=len)}


def _lookup(each: Sequence[Mapping[Powers, int]], largest: Sequence[int]) -> Lookup:
    of: Any = np.int64 if all(fits(number, largest) for number in each) else object
    powers = dict.fromkeys(power for number in each for power in number)
    return Lookup(nested({p: _table([number.get(p, 0) for number in each], of) for p in powers}, on_grid=False), of)


def _table(coefficients: list[int], of: Any) -> Any:
    return coefficients[0] if len(set(coefficients)) == 1 else np.array(coefficients, dtype=of)


def values(numbers: Mapping[str, Lookup], codes: Array, plain: Sequence[Array]) -> dict[str, Array]:
    """The numbers of every row, some thousands of rows at a time."""
    results = {name: np.empty(len(codes), dtype=number.type) for name, number in numbers.items()}
    for i in range(0, len(codes), CHUNK):
        part = slice(i, i + CHUNK)
        sizes = [size[part] for size in plain]
        for name, number in numbers.items():
            typed = sizes if number.type is np.int64 else [size.astype(object) for size in sizes]
            evaluate(number.step, typed, codes[part], out=results[name][part])
    return results
