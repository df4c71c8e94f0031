"""`ffncalc plot sweep FILE`."""

from typing import Annotated

import typer

from ffncalc.cli.options import Out


def command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A .csv or .parquet file that `ffncalc sweep --out` wrote.")
    ],
    out: Out = None,
    x: Annotated[
        str | None, typer.Option("--x", metavar="NAME", help="The size along the axis (default: the first).")
    ] = None,
    y: Annotated[str | None, typer.Option("--y", metavar="NAME", help="The number drawn (default: the first).")] = None,
) -> None:
    """A number over a size, a line for each combination of the other sizes."""
    from ffncalc.plot import data, draw, terminal

    if out is not None:
        draw.checked(out)
    lines = data.lines(data.read_sweep(file), x, y)
    if out is not None:
        draw.save(draw.sweep(lines), out)
    else:
        print(terminal.sweep(lines), end="")
