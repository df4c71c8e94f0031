"""A sweep over columns: row i is the config with the i-th value of every size, instead of a grid of all combinations.

The combinations of structural sizes that stand in the rows are resolved once each; a row then looks its coefficients
up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ffncalc import edit
from ffncalc.errors import InputError
from ffncalc.search.cells import Cell, Refused, Split, cell, split
from ffncalc.search.polynomial import CHUNK, LIMIT, Array, Powers, evaluate, fits, nested
from ffncalc.search.space import Space, space
from ffncalc.workload import Workload

_TABLE = 2**24  # values below this are found and numbered by looking them up, larger ones by sorting


class Lookup(NamedTuple):
    """One number in every cell: the steps that give it, with tables of coefficients, and the largest of each table."""

    step: Any
    most: dict[Powers, int]

    def fits(self, largest: Sequence[int]) -> bool:
        """Whether int64 holds it in every cell, for sizes up to these."""
        return fits(self.most, largest)


def over_columns(
    start: edit.Base, sizes: Mapping[str, Sequence[int]], work: Workload, numbers: Sequence[str]
) -> tuple[dict[str, Array], list[Refused]]:
    """The columns of sizes, then those of numbers, without the rows that the family refuses; and what was refused."""
    columns = {name: _column(name, values) for name, values in sizes.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise InputError(f"columns of unequal length: {', '.join(f'{n} {len(c):,}' for n, c in columns.items())}")
    first = {name: column[:1000].tolist() for name, column in columns.items()}
    where = space(start, first, work, numbers)
    rows = (dict(zip(first, row, strict=True)) for row in zip(*first.values(), strict=True))
    found = _counted(where, split(where, rows), columns)
    if found is None:  # a size is not everywhere what it is in the first rows: take none for plain
        found = _counted(where, Split(where.axes, ()), columns)
    assert found is not None
    return found


def _counted(where: Space, parts: Split, columns: dict[str, Array]) -> tuple[dict[str, Array], list[Refused]] | None:
    """The columns and what was refused; None where a size that is plain in one row isn't in another."""
    codes, combinations = combined([columns[axis.name] for axis in parts.structural])
    cells = _cells(where, parts, combinations)
    if cells is None:
        return None
    rows = len(next(iter(columns.values())))
    refused = _refused(cells, codes, rows)
    if len(refused) == len(cells):
        return {}, refused
    if refused:
        assert codes is not None  # with one combination, all rows are refused or none
        kept = np.array([isinstance(entry, Cell) for entry in cells])[codes]
        codes, columns = codes[kept], {name: column[kept] for name, column in columns.items()}
    found = values(
        lookup(cells), codes, [columns[axis.name] for axis in parts.plain], len(next(iter(columns.values())))
    )
    return None if found is None else (columns | found, refused)


def _column(name: str, given: Sequence[int]) -> Array:
    column = np.asarray(given)
    if column.ndim != 1 or not len(column) or column.dtype.kind not in "iu":
        raise InputError(f"{name}: want a column of one or more whole numbers")
    return column.astype(np.int64, copy=False)


def numbered(column: Array) -> tuple[Array, Array]:
    """The distinct values of a column in order, and for each row which of them it has."""
    low, high = int(column.min()), int(column.max())
    if low < 0 or high >= _TABLE:
        found, codes = np.unique(column, return_inverse=True)
        return found, codes
    there = np.zeros(high + 1, dtype=bool)
    there[column] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[column]


def _cells(where: Space, parts: Split, combinations: list[tuple[int, ...]]) -> list[Cell | Refused] | None:
    """A cell for each combination of the structural sizes; None where one isn't a polynomial throughout."""
    names = [axis.name for axis in parts.structural]
    found: list[Cell | Refused] = []
    for combination in combinations:
        entries = list(islice(cell(where, dict(zip(names, combination, strict=True)), parts.plain), 2))
        if len(entries) > 1:
            return None
        found += entries
    return found


def combined(columns: Sequence[Array]) -> tuple[Array | None, list[tuple[int, ...]]]:
    """For each row which combination of values it has (None: there is but one), and the combinations that there are."""
    codes: Array | None = None
    combinations: list[tuple[int, ...]] = [()]
    for column in columns:
        its_values, its_codes = numbered(column)
        there, codes = numbered(its_codes if codes is None else codes * len(its_values) + its_codes)
        pairs = (divmod(pair, len(its_values)) for pair in there.tolist())
        combinations = [(*combinations[i], int(its_values[j])) for i, j in pairs]
    return codes, combinations


def _refused(cells: Sequence[Cell | Refused], codes: Array | None, rows: int) -> list[Refused]:
    """The combinations that are refused, each with the rows it has."""
    if all(isinstance(entry, Cell) for entry in cells):
        return []
    counts = [rows] if codes is None else np.bincount(codes, minlength=len(cells)).tolist()
    return [entry._replace(points=n) for entry, n in zip(cells, counts, strict=True) if isinstance(entry, Refused)]


def lookup(cells: Sequence[Cell | Refused]) -> dict[str, Lookup]:
    """The numbers of all cells, by name; zeros where a cell is refused, whose rows are gone."""
    numbers = [entry.numbers if isinstance(entry, Cell) else {} for entry in cells]
    return {name: _lookup([each.get(name, {}) for each in numbers]) for name in max(numbers, key=len)}


def _lookup(each: Sequence[Mapping[Powers, int]]) -> Lookup:
    powers = dict.fromkeys(power for number in each for power in number)
    most = {p: max(abs(number.get(p, 0)) for number in each) for p in powers}
    of: Any = np.int64 if all(number < LIMIT for number in most.values()) else object
    return Lookup(nested({p: _table([number.get(p, 0) for number in each], of) for p in powers}, on_grid=False), most)


def _table(coefficients: list[int], of: Any) -> Any:
    return coefficients[0] if len(set(coefficients)) == 1 else np.array(coefficients, dtype=of)


def values(
    numbers: Mapping[str, Lookup], codes: Array | None, plain: Sequence[Array], rows: int
) -> dict[str, Array] | None:
    """The numbers of every row, some thousands of rows at a time; None where a plain size is 0 somewhere.

    Every piece is looked at before it is worked out: a number that might not fit int64 in it becomes Python ints.
    """
    smallest = [1] * len(plain)
    results = {name: np.empty(rows, np.int64 if number.fits(smallest) else object) for name, number in numbers.items()}
    pool: list[Array] = []
    for i in range(0, rows, CHUNK):
        part = slice(i, i + CHUNK)
        sizes = [size[part] for size in plain]
        if any(size.min() < 1 for size in sizes):
            return None
        largest = [int(size.max()) for size in sizes]
        pool = [array[: len(sizes[0])] for array in pool] if sizes else []
        for name, number in numbers.items():
            if results[name].dtype != object and not number.fits(largest):
                results[name] = results[name].astype(object)
            is_int64 = results[name].dtype != object
            typed = sizes if is_int64 else [size.astype(object) for size in sizes]
            code = None if codes is None else codes[part]
            evaluate(number.step, typed, code, results[name][part], pool if is_int64 else None)
    return results
