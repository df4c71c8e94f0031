"""`ffncalc lab activations [NAME]`."""

from typing import Annotated

import typer

from ffncalc.cli import numeric
from ffncalc.cli.options import Format, Json, output_format


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="relu|relu_squared|gelu|gelu_tanh|gelu_sigmoid|silu|sigmoid|tanh|identity",
            help="Draw this one, with its slope (default: all).",
        ),
    ] = None,
    format: Format = "table",
    json: Json = False,
) -> None:
    """Minima, lowest and highest slopes, and how far GELU's two approximations are from it: all computed."""
    numeric.one_thread()
    from ffncalc.numeric.experiments.activations import activations

    form = output_format(format, json)
    numeric.show_lab(form, "activations", activations((name,) if name else ()), "shapes")
