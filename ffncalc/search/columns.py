"""A sweep over columns: row i is the config with the i-th value of every size, instead of a grid of all combinations.

The combinations of structural sizes that stand in the rows are resolved once each; a row then looks its coefficients up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ffncalc import edit
from ffncalc.errors import InputError
from ffncalc.search.cells import Cell, Refused, Split, cell, split
from ffncalc.search.polynomial import CHUNK, LIMIT, Array, Powers, bound, evaluate
from ffncalc.search.space import Axis, Space, space
from ffncalc.workload import Workload

_TABLE = 2**24  # values below this are found and numbered by looking them up, larger ones by sorting


class Lookup(NamedTuple):
    """For each number its coefficients, {powers of the plain sizes: one for each cell}, and the type that holds its values."""

    plain: tuple[Axis, ...]
    numbers: dict[str, dict[Powers, Any]]
    types: dict[str, Any]


def over_columns(
    start: edit.Base, sizes: Mapping[str, Sequence[int]], work: Workload, numbers: Sequence[str]
) -> tuple[dict[str, Array], list[Refused]]:
    """The columns, those of the numbers after those of the sizes, without the rows that the family refuses, and these."""
    columns = {name: _column(name, values) for name, values in sizes.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise InputError(f"columns of unequal length: {', '.join(f'{n} {len(c):,}' for n, c in columns.items())}")
    distinct = {name: numbered(column)[0] for name, column in columns.items()}
    where = space(start, {name: values.tolist() for name, values in distinct.items()}, work, numbers)
    parts = split(where)
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
    table = lookup(found, parts.plain)
    plain = [columns[axis.name] for axis in parts.plain]
    return columns | {name: values(table, name, codes, plain) for name in table.numbers}, refused


def _column(name: str, given: Sequence[int]) -> Array:
    column = np.asarray(given)
    if column.ndim != 1 or not len(column) or column.dtype.kind not in "iu":
        raise InputError(f"{name}: want a column of one or more whole numbers")
    return column.astype(np.int64)


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
    rows = len(next(iter(columns.values())))
    codes = np.zeros(rows, dtype=np.int64)
    combinations: list[tuple[int, ...]] = [()]
    for axis in parts.structural:
        its_values, its_codes = numbered(columns[axis.name])
        codes *= len(its_values)
        codes += its_codes
        there, codes = numbered(codes)
        pairs = list(product(combinations, its_values.tolist())) if len(combinations) * len(its_values) < _TABLE else None
        if pairs is None:
            raise InputError("more combinations of sizes than can be told apart; sweep them in parts")
        combinations = [(*pairs[i][0], pairs[i][1]) for i in there.tolist()]
    names = [axis.name for axis in parts.structural]
    found: list[Cell | Refused] = []
    for combination in combinations:
        entries = list(cell(where, dict(zip(names, combination, strict=True)), parts.plain))
        if len(entries) > 1:
            return codes, None
        found += entries
    return codes, found


def _counted(found: Sequence[Cell | Refused], codes: Array) -> list[Refused]:
    rows = np.bincount(codes, minlength=len(found)).tolist()
    return [entry._replace(points=n) for entry, n in zip(found, rows, strict=True) if isinstance(entry, Refused)]


def lookup(found: Sequence[Cell | Refused], plain: tuple[Axis, ...]) -> Lookup:
    """The coefficients of every cell in tables; zeros where a cell is refused, whose rows are gone."""
    accepted = [entry.numbers if isinstance(entry, Cell) else {} for entry in found]
    largest = [max(axis.values) for axis in plain]
    numbers, types = {}, {}
    for name in next(entry for entry in accepted if entry):
        each = [entry.get(name, {}) for entry in accepted]
        is_int64 = max(bound(number, largest) for number in each) < LIMIT
        types[name] = np.int64 if is_int64 else object
        powers = dict.fromkeys(power for number in each for power in number)
        numbers[name] = {p: _table([number.get(p, 0) for number in each], types[name]) for p in powers}
    return Lookup(plain, numbers, types)


def _table(coefficients: list[int], of: Any) -> Any:
    return coefficients[0] if len(set(coefficients)) == 1 else np.array(coefficients, dtype=of)


def values(table: Lookup, name: str, codes: Array, plain: Sequence[Array]) -> Array:
    """One number in every row, some thousands of rows at a time."""
    of = table.types[name]
    result = np.empty(len(codes), dtype=of)
    for i in range(0, len(codes), CHUNK):
        part = slice(i, i + CHUNK)
        code = codes[part]
        own = {p: t.take(code) if isinstance(t, np.ndarray) else t for p, t in table.numbers[name].items()}
        result[part] = evaluate(own, [size[part].astype(of, copy=False) for size in plain])
    return result
