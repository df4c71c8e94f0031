"""`ffncalc lab collapse`."""

from typing import Annotated

import typer

from ffncalc.cli import numeric
from ffncalc.cli.options import Format, Json, Seed, output_format, positive_number, whole_number


def command(
    depth: Annotated[str, typer.Option("--depth", metavar="N", help="Layers.")] = "16",
    tokens: Annotated[str, typer.Option("--tokens", metavar="T", help="Tokens.")] = "16",
    d_model: Annotated[
        str, typer.Option("--d-model", metavar="D", help="Width of the stream, a multiple of 4.")
    ] = "32",
    gain: Annotated[
        str, typer.Option("--gain", metavar="F", help="How many times 1/sqrt(d_in) the FFN's weights spread.")
    ] = "3",
    seed: Seed = "0",
    format: Format = "table",
    json: Json = False,
) -> None:
    """How far the tokens are from all being the same, with and without skips, with and without FFNs.

    Attention alone makes them one vector within a few layers. An FFN that stretches (--gain) puts that off, and
    skips do much more.
    """
    numeric.one_thread()
    from ffncalc.numeric.experiments.collapse import Setting, collapse

    form = output_format(format, json)
    setting = Setting(
        depth=whole_number("--depth", depth),
        tokens=whole_number("--tokens", tokens),
        d_model=whole_number("--d-model", d_model),
        seed=numeric.seed_number(seed),
        gain=positive_number("--gain", gain),
    )
    numeric.show_lab(form, "collapse", collapse(setting), "curves")
