"""A sweep: every number at every point of a space, in blocks of bounded memory, or all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ffncalc import edit
from ffncalc.errors import InputError
from ffncalc.search.cells import Cell, Refused, Split, cells, points, split
from ffncalc.search.columns import over_columns
from ffncalc.search.polynomial import LIMIT, Array, evaluate, fits, nested, slabs, spread
from ffncalc.search.space import Space, space
from ffncalc.workload import Workload


class Block(NamedTuple):
    """Some consecutive rows: each size and each number as an array of them. `at`: the combination they are of, and the
    place of the block within it. `refused`: points left out since the block before, and why.
    """

    at: tuple[int, int]
    columns: dict[str, Array]
    refused: tuple[Refused, ...]

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(next(iter(self.columns.values()))) if self.columns else 0


class Sweep(NamedTuple):
    """The whole of a sweep. `columns`: one array a size and one a number, a row a config; whole numbers are exact
    (int64, or Python ints where one doesn't fit). `refused`: how many combinations the family refuses, left out of
    the rows; `why`: what it says of the first of them.
    """

    columns: dict[str, Array]
    refused: int
    why: str

    @property
    def rows(self) -> int:
        """How many configs."""
        return len(next(iter(self.columns.values())))


def sweep(
    model: str | dict[str, Any],
    sizes: Mapping[str, Sequence[int]],
    *,
    numbers: Sequence[str] = (),
    grid: bool = True,
    seq_len: int | None = None,
    source_len: int | None = None,
    causal: bool = False,
    passes: str = "forward",
) -> Sweep:
    """Every number of a model over a grid of sizes, or (`grid=False`) row by row over columns of equal length.

    `sizes` maps names (d_model, n_layers, T, ..., or any key that the family reads) to values; sizes that follow from
    them follow, stated ones stay. `numbers` are named as in the JSON (params.total, flops.per_token.total); all of them
    unless given. A grid's rows vary the sizes that others follow from slowest. Raises InputError for an unknown size or
    number, and where the family refuses every combination.
    """
    start, work = edit.base(model), Workload(seq_len, source_len, 1, causal, passes)
    if grid:
        return over_grid(space(start, sizes, work, numbers))
    return _swept(*over_columns(start, sizes, work, numbers))


def over_grid(where: Space) -> Sweep:
    """The whole sweep of a space, in memory."""
    return _swept(*_gathered(blocks(where, split(where))))


def _swept(columns: dict[str, Array], refused: list[Refused]) -> Sweep:
    count = sum(entry.points for entry in refused)
    if not columns:
        raise nothing_left(count, refused[0].why)
    return Sweep(columns, count, refused[0].why if refused else "")


def _gathered(found: Iterator[Block]) -> tuple[dict[str, Array], list[Refused]]:
    listed = list(found)
    kept = [block.columns for block in listed if block.columns]
    columns = {name: np.concatenate([columns[name] for columns in kept]) for name in (kept[0] if kept else ())}
    return columns, [entry for block in listed for entry in block.refused]


def nothing_left(count: int, why: str) -> InputError:
    """The error for a sweep of which no combination is left."""
    return InputError(f"all {count:,} combinations are refused; the first: {why}")


def blocks(where: Space, parts: Split, start: tuple[int, int] = (0, 0), sizes: bool = True) -> Iterator[Block]:
    """The rows of a sweep in order, from the place `start` on; a last block without rows where the last are refused.

    Without `sizes`, only the numbers: the sizes of a row follow from its place.
    """
    refused: list[Refused] = []
    for i, found in enumerate(cells(where, parts, start[0]), start[0]):
        j = 0
        for entry in found:
            if isinstance(entry, Refused):
                refused.append(entry)
                continue
            for columns in rows_of(where, entry, sizes):
                if (i, j) >= start:
                    yield Block((i, j), columns, tuple(refused))
                refused = []
                j += 1
    if refused:
        yield Block((points(parts.structural), 0), {}, tuple(refused))


def rows_of(where: Space, cell: Cell, with_sizes: bool = True) -> Iterator[dict[str, Array]]:
    """The rows of one cell: columns of sizes, as they were named, then of numbers, a slab of the grid at a time."""
    sizes = [np.array(axis.values) for axis in cell.plain]
    largest = [max(axis.values) for axis in cell.plain]
    steps = {name: (nested(number, on_grid=True), fits(number, largest)) for name, number in cell.numbers.items()}
    for slab in slabs([len(axis.values) for axis in cell.plain]):
        used = spread([size[part] for size, part in zip(sizes, slab, strict=True)])
        shape = np.broadcast_shapes(*(size.shape for size in used))
        named = dict(zip((axis.name for axis in cell.plain), used, strict=True)) | dict(cell.point)
        columns = {axis.name: _flat(named[axis.name], shape) for axis in where.axes if with_sizes}
        yield columns | {
            name: _flat(evaluate(step, used if int64 else _as_objects(used)), shape)
            for name, (step, int64) in steps.items()
        }


def _as_objects(sizes: Sequence[Array]) -> list[Array]:
    """The same as Python ints, which know no largest number."""
    return [size.astype(object) for size in sizes]


def _flat(values: Any, shape: tuple[int, ...]) -> Array:
    """A column: `values` over the whole grid, Python ints where they go beyond int64."""
    if isinstance(values, int):
        return np.full(shape, values, dtype=np.int64 if abs(values) < LIMIT else object).reshape(-1)
    return np.broadcast_to(values, shape).reshape(-1)
