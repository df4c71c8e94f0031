"""Sweeps in files: CSV text, or Parquet through pyarrow; in parts, so that an interrupted one goes on where it stopped.

A sweep that fits one part is written at once. Of a longer one each part goes into a folder beside the file
(grid.csv.part), with a record of what it belongs to and how far it came; at the end the parts become the file and the
folder goes.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from ffncalc import __version__
from ffncalc.errors import InputError
from ffncalc.search.cells import Refused, points, split
from ffncalc.search.polynomial import Array
from ffncalc.search.space import Space
from ffncalc.search.table import Block, blocks, nothing_left

PART_ROWS, PART_SECONDS = 2**18, 5.0  # what a part has at most; what an interruption loses at most
KINDS = (".csv", ".parquet")


class Written(NamedTuple):
    """What was written: rows, and how many combinations were refused, with what was said of the first."""

    rows: int
    refused: int
    why: str


class Progress(NamedTuple):
    """How far an unfinished sweep came: parts and rows written, points refused, and the place to go on from."""

    of: str
    parts: int = 0
    rows: int = 0
    refused: int = 0
    why: str = ""
    place: tuple[int, int] = (0, 0)


Report = Callable[[int, int], None]  # rows done or refused, of all points


def write(where: Space, out: str, report: Report, resumed: Callable[[int], None]) -> Written:
    """Write a sweep to a .csv or .parquet file. `resumed` is told the rows that an earlier run had written."""
    kind = os.path.splitext(out)[1].lower()
    if kind not in KINDS:
        raise InputError(f"{out}: want a name that ends in .csv or .parquet, or - for CSV on standard output")
    if kind == ".parquet":
        arrow()
    if os.path.isdir(out):
        raise InputError(f"{out}: can't be written: it is a folder")
    target = os.path.realpath(out)  # of a link, what it points to
    folder = f"{target}.part"
    state = _begun(folder, fingerprint(where))
    if state.rows:
        resumed(state.rows)
    try:
        return _write(where, target, kind, folder, state, report)
    except OSError as error:
        at = error.filename if str(error.filename).startswith(folder) else out
        raise InputError(f"{at}: can't be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            os.remove(f"{target}.new")


def _write(where: Space, out: str, kind: str, folder: str, state: Progress, report: Report) -> Written:
    found = batches(where, state, report)
    first, second = next(found, []), next(found, None)
    if not state.parts and second is None:  # all of it is at hand
        state = _counted(state, first)
        write_part(kind, f"{out}.new", first, header=True)
    else:
        os.makedirs(folder, exist_ok=True)
        for batch in chain([first], [second] if second is not None else [], found):
            state = _saved(kind, folder, state, batch)
        join(kind, [_part(folder, i) for i in range(state.parts)], f"{out}.new")
    if not state.rows:
        raise nothing_left(state.refused, state.why)
    os.replace(f"{out}.new", out)
    shutil.rmtree(folder, ignore_errors=True)
    return Written(state.rows, state.refused, state.why)


def batches(where: Space, state: Progress, report: Report) -> Iterator[list[Block]]:
    """The blocks of a sweep from where it came to, as many at a time as make a part or take some seconds."""
    batch: list[Block] = []
    done, of, rows, started = state.rows + state.refused, points(where.axes), 0, monotonic()
    for block in blocks(where, split(where), state.place):
        batch.append(block)
        rows += block.rows
        done += block.rows + sum(entry.points for entry in block.refused)
        report(done, of)
        if rows >= PART_ROWS or monotonic() > started + PART_SECONDS:
            yield batch
            batch, rows, started = [], 0, monotonic()
    if batch:
        yield batch


# ------------------------------------------------------------------ going on
def fingerprint(where: Space) -> str:
    """What tells one sweep from another: the config, the sizes, the workload, the numbers, and ffncalc's version."""
    start = where.start
    told = (start.config.values, start.options._asdict(), where.axes, where.work, where.numbers, __version__)
    return sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def _begun(folder: str, of: str) -> Progress:
    """How far an earlier run of the same sweep came; nowhere if there was none, it was another or a part is lost."""
    try:
        with open(os.path.join(folder, "progress.json"), encoding="utf-8") as file:
            state = Progress(**json.load(file))
    except (OSError, ValueError, TypeError):
        return Progress(of)
    if state.of != of or not all(os.path.exists(_part(folder, i)) for i in range(state.parts)):
        return Progress(of)
    return state._replace(place=(state.place[0], state.place[1]))


def _counted(state: Progress, batch: Sequence[Block]) -> Progress:
    refused: list[Refused] = [entry for block in batch for entry in block.refused]
    last = batch[-1].at if batch else state.place
    return state._replace(
        rows=state.rows + sum(block.rows for block in batch),
        refused=state.refused + sum(entry.points for entry in refused),
        why=state.why or (refused[0].why if refused else ""),
        place=(last[0], last[1] + 1),
    )


def _saved(kind: str, folder: str, state: Progress, batch: Sequence[Block]) -> Progress:
    """Write one part, then the record that counts it: what is interrupted in between is written again."""
    after = _counted(state, batch)
    if after.rows > state.rows:
        write_part(kind, _part(folder, state.parts), batch, header=state.parts == 0)
        after = after._replace(parts=state.parts + 1)
    record = os.path.join(folder, "progress.json")
    with open(f"{record}.new", "w", encoding="utf-8") as file:
        json.dump(after._asdict(), file)
    os.replace(f"{record}.new", record)
    return after


def _part(folder: str, i: int) -> str:
    return os.path.join(folder, f"{i:06d}")


# ------------------------------------------------------------------ formats
def write_part(kind: str, path: str, batch: Sequence[Block], header: bool) -> None:
    """One part of a file, or a whole one."""
    kept = [block.columns for block in batch if block.rows]
    if kind == ".csv":
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(kept, header))
    elif kept:
        columns = {name: np.concatenate([columns[name] for columns in kept]) for name in kept[0]}
        _parquet().write_table(arrow().table({name: _arrow_array(column) for name, column in columns.items()}), path)
    else:
        open(path, "wb").close()


def csv_lines(found: Iterable[dict[str, Array]], header: bool = True) -> Iterator[str]:
    """CSV text, a block of rows at a time: whole numbers in full, no quotes needed."""
    for columns in found:
        if header:
            yield ",".join(columns) + "\n"
            header = False
        rows = zip(*(map(str, column.tolist()) for column in columns.values()), strict=True)
        yield "\n".join(map(",".join, rows)) + "\n"


def join(kind: str, parts: Sequence[str], out: str) -> None:
    """The parts as one file, a part at a time."""
    if kind == ".csv":
        with open(out, "wb") as file:
            for part in parts:
                with open(part, "rb") as piece:
                    shutil.copyfileobj(piece, file)
        return
    parquet = _parquet()
    schema = arrow().unify_schemas([parquet.read_schema(part) for part in parts], promote_options="permissive")
    with parquet.ParquetWriter(out, schema) as writer:
        for part in parts:
            writer.write_table(parquet.read_table(part).cast(schema))


def _arrow_array(column: Array) -> Any:
    """Whole numbers as int64, or where one doesn't fit as decimals of 38 digits, or as text."""
    pyarrow = arrow()
    if column.dtype != object:
        return pyarrow.array(column)
    listed = column.tolist()
    if max(map(abs, listed)) < 10**38:
        from decimal import Decimal

        return pyarrow.array(list(map(Decimal, listed)), pyarrow.decimal128(38, 0))
    return pyarrow.array(list(map(str, listed)))


def arrow() -> Any:
    """pyarrow, or an InputError that says how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install pyarrow, or write CSV") from None
    return pyarrow


def _parquet() -> Any:
    import pyarrow.parquet

    return pyarrow.parquet
