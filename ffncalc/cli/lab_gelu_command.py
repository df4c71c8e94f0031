"""`ffncalc lab gelu`."""

from typing import Annotated

import typer

from ffncalc.cli import numeric
from ffncalc.cli.options import Format, Json, Seed, output_format, whole_number


def command(
    z: Annotated[str, typer.Option("--z", metavar="Z", help="The input to follow, such as -0.75.")] = "1",
    samples: Annotated[str, typer.Option("--samples", metavar="N", help="Masks to draw, such as 1M.")] = "1M",
    seed: Seed = "0",
    format: Format = "table",
    json: Json = False,
) -> None:
    """Keep an input where a standard normal number is below it, else make it 0: the mean is z times Phi(z).

    Shown for 100 masks, 1,000 and so on, each with its error bar, and for a whole curve of inputs.
    """
    numeric.one_thread()
    from ffncalc.numeric.experiments.gelu import masked_mean

    form = output_format(format, json)
    report = masked_mean(numeric.real("--z", z), whole_number("--samples", samples), numeric.seed_number(seed))
    numeric.show_lab(form, "gelu", report, "estimates")
