"""What the pictures show, as plain numbers from the same counts as everywhere."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ffncalc import edit
from ffncalc.errors import InputError, nearest
from ffncalc.expr import Expr
from ffncalc.ops import PARTS
from ffncalc.report import flops as flops_report
from ffncalc.report import params as params_report
from ffncalc.search.space import space
from ffncalc.search.table import over_grid
from ffncalc.visible import visible

LONGEST = 2**17  # tokens, unless told
MOST_LINES = 12
LARGEST = 10**300  # near the end of what a float holds


class Cost(NamedTuple):
    """One model's forward FLOPs per token over the context length: of its FFN, and of its attention."""

    model: str
    lengths: list[int]
    ffn: list[int]
    attention: list[int]
    crossover: float | None


class Stacked(NamedTuple):
    """One model's parameters by component: of the most frequent kind of layer, and in total."""

    model: str
    layer: dict[str, int]
    of_layers: str
    total: dict[str, int]


class Lines(NamedTuple):
    """Lines of a sweep: what is on the axes, and each line's name and points."""

    x: str
    y: str
    lines: dict[str, tuple[list[int], list[int]]]


def cost(start: edit.Base, longest: int = LONGEST) -> Cost:
    """A model's cost per token at lengths from 64 up to `longest`, evenly apart on a log scale."""
    model = edit.model_of(start, {})
    found = flops_report.flops(model).crossover_seq_len
    lengths = sorted({round(64 * (longest / 64) ** (i / 96)) for i in range(97)} if longest > 64 else {1, longest})
    kinds = ("ffn", "attention_projections", "attention_scores")
    swept = over_grid(space(start, {"T": lengths}, None, [f"flops.per_token.{kind}" for kind in kinds])).columns
    ffn, projections, scores = (swept[f"flops.per_token.{kind}"].tolist() for kind in kinds)
    return Cost(
        visible(model.spec.name), lengths, ffn, [a + b for a, b in zip(projections, scores, strict=True)], found
    )


def stacked(start: edit.Base) -> Stacked:
    """A model's components."""
    report = params_report.params(edit.model_of(start, {}))
    layer = max(report.layers, key=lambda entry: entry.kind.n_stored.value)
    name = visible(report.model.spec.name)
    count = layer.kind.n_stored.value
    return Stacked(name, _ints(layer.parts), f"one of {count}", _ints(report.parts))


def _ints(parts: dict[str, Any]) -> dict[str, int]:
    return {part: number.value if isinstance(number, Expr) else 0 for part in PARTS for number in [parts.get(part)]}


# ------------------------------------------------------------------ sweeps
def read_sweep(path: str) -> dict[str, list[int]]:
    """The columns of a sweep's file, CSV or Parquet."""
    try:
        columns = _parquet(path) if path.lower().endswith(".parquet") else _csv(path)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}") from None
    except (ValueError, KeyError, csv.Error) as error:
        raise InputError(f"{path}: not a file that `ffncalc sweep` wrote: {error}") from None
    if {"." in name for name in columns} != {True, False} or not all(columns.values()):
        raise InputError(
            f"{path}: not a file that `ffncalc sweep` wrote: want columns of sizes and of numbers, such as params.total"
        )
    if max(abs(value) for column in columns.values() for value in column) > LARGEST:
        raise InputError(f"{path}: holds numbers beyond 1e300, which can't be drawn")
    return columns


def _csv(path: str) -> dict[str, list[int]]:
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file; `ffncalc sweep MODEL --set ... --out {path}` writes one")
    with open(path, encoding="utf-8", newline="") as file:
        names, *rows = list(csv.reader(file)) or [[]]
    for i, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ValueError(f"row {i:,} has {len(row):,} values, and there are {len(names):,} columns")
    return {visible(name): [int(row[i]) for row in rows] for i, name in enumerate(names)}


def _parquet(path: str) -> dict[str, list[int]]:
    from ffncalc.search.files import arrow

    arrow()
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    return {name: list(map(int, table[name].to_pylist())) for name in table.column_names}


def lines(columns: dict[str, list[int]], x: str | None, y: str | None) -> Lines:
    """A number over a size, a line for each combination of the other sizes."""
    sizes = [name for name in columns if "." not in name]
    numbers = [name for name in columns if "." in name]
    x = _one("--x", x or sizes[0], sizes)
    y = _one("--y", y or numbers[0], numbers)
    others = [name for name in sizes if name != x and len(set(columns[name])) > 1]
    rows = sorted(zip(*(columns[name] for name in (*others, x, y)), strict=True))
    found = {}
    for key, group in groupby(rows, key=lambda row: row[:-2]):
        points = list(group)
        found[_label(others, key)] = ([row[-2] for row in points], [row[-1] for row in points])
    if len(found) > MOST_LINES:
        most = f"sweep {', '.join(others)} over at most {MOST_LINES} combinations"
        raise InputError(f"{len(found):,} lines are too many to tell apart; {most}")
    return Lines(x, y, found)


def _label(names: Sequence[str], values: Sequence[int]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in zip(names, values, strict=True))


def _one(option: str, name: str, names: Sequence[str]) -> str:
    if name in names:
        return name
    near = nearest(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(names[:8])}"
    raise InputError(f"{option}: the file has no {name!r}; {hint}")


def bases(models: Sequence[str]) -> Iterator[edit.Base]:
    """What each MODEL names."""
    if len(models) > MOST_LINES:
        raise InputError(f"{len(models)} models are too many for one picture; draw at most {MOST_LINES}")
    return map(edit.base, models)
