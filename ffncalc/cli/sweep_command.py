"""`ffncalc sweep MODEL --set NAME=VALUES...`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ffncalc.cli import output
from ffncalc.cli.options import Format, Head, Json, SeqLen, Tied, VocabSize, one_of, optional, output_format
from ffncalc.errors import InputError

if TYPE_CHECKING:
    from ffncalc.search.space import Space

IN_A_TABLE = ("params.total", "params.active", "params.ffn", "flops.per_token.total")
MOST_ROWS = 1_000_000  # as a table or JSON, which are put together in memory


def command(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A bundled name, a file, a folder with config.json, or -.")
    ],
    sets: Annotated[
        list[str],
        typer.Option(
            "--set", metavar="NAME=VALUES", help="A size and its values: 16,24,32 or first:last:step. Repeatable."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Write all rows to a .csv or .parquet file, or to - as CSV."),
    ] = None,
    numbers: Annotated[
        str | None,
        typer.Option("--numbers", metavar="A,B,...", help="Only these, named as in JSON (default: every number)."),
    ] = None,
    seq_len: SeqLen = None,
    source_len: Annotated[
        str | None, typer.Option("--source-len", metavar="S", help="Rows of an encoder beside a decoder (default: T).")
    ] = None,
    causal: Annotated[
        bool, typer.Option("--causal", help="Count only the pairs of tokens that the mask leaves.")
    ] = False,
    passes: Annotated[
        str, typer.Option("--pass", metavar="forward|train|recompute", help="Which passes to count.")
    ] = "forward",
    head: Head = None,
    vocab_size: VocabSize = None,
    tied: Tied = None,
    format: Format = "table",
    json: Json = False,
) -> None:
    """Every number over a grid of sizes; those that follow from others follow, those that are stated stay.

    Sizes are d_model, n_layers, T and the like, or any key that the family reads. Combinations that it refuses (heads
    that don't divide the width) are left out and counted. A long sweep to a file goes on where it was interrupted.
    """
    from ffncalc.cli.models import options_of
    from ffncalc.edit import base
    from ffncalc.search.ranges import setting
    from ffncalc.search.space import space
    from ffncalc.workload import PASSES, Workload

    form = output_format(format, json)
    sizes: dict[str, list[int]] = {}
    for name, values in map(setting, sets):
        if name in sizes:
            raise InputError(f"--set {name} is given twice; put all its values into one")
        sizes[name] = values
    work = Workload(
        optional("--seq-len", seq_len),
        optional("--source-len", source_len),
        1,
        causal,
        one_of("--pass", passes, tuple(PASSES)),
    )
    chosen = [name.strip() for name in numbers.split(",")] if numbers is not None else []
    where = space(base(model, options_of(head, vocab_size, tied)), sizes, work, chosen)
    if out is not None and out != "-":
        to_file(where, out)
    elif out == "-" or form == "csv":
        to_stdout(where)
    else:
        shown(where, form, chosen)


def to_file(where: Space, out: str) -> None:
    """All rows into a file, with a bar where that takes long, and a sentence on what was written."""
    from ffncalc.cli.progress import Progress
    from ffncalc.cli.start import complain
    from ffncalc.search.files import write

    bar = Progress("points")
    written = write(
        where, out, bar, lambda rows: complain("note", f"{out}: going on after {rows:,} rows that are there")
    )
    bar.finish()
    left_out(written.refused, written.why)
    print(f"{out}: {written.rows:,} rows")


def to_stdout(where: Space) -> None:
    """All rows as CSV, as they are worked out."""
    from ffncalc.cli.progress import Progress
    from ffncalc.search.cells import points, split
    from ffncalc.search.files import csv_lines
    from ffncalc.search.table import blocks, nothing_left

    bar, of = Progress("points"), points(where.axes)
    rows = refused = 0
    why = ""
    for block in blocks(where, split(where)):
        for entry in block.refused:
            refused, why = refused + entry.points, why or entry.why
        if block.rows:
            sys.stdout.writelines(csv_lines([block.columns], header=not rows))
        rows += block.rows
        bar(rows + refused, of)
    bar.finish()
    if not rows:
        raise nothing_left(refused, why)
    left_out(refused, why)


def shown(where: Space, form: str, chosen: list[str]) -> None:
    """The rows as a table, or all of them as JSON."""
    from ffncalc.search.cells import points
    from ffncalc.search.table import over_grid

    if points(where.axes) > MOST_ROWS:
        raise InputError(
            f"{points(where.axes):,} combinations are too many to show; --out FILE.csv (or .parquet) writes them"
        )
    if form != "json" and not chosen:
        where = where._replace(numbers=tuple(name for name in where.numbers if name in IN_A_TABLE))
    report = over_grid(where)
    left_out(report.refused, report.why)
    from ffncalc.export import sweep_data

    output.show(form, [report], sweep_data, "sweep")


def left_out(refused: int, why: str) -> None:
    """Say how many combinations the family refuses."""
    if refused:
        output.warn([f"{refused:,} combinations are refused and left out; the first: {why}"], strict=False)
