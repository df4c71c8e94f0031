"""`ffncalc plot flops MODEL...`."""

from typing import Annotated

import typer

from ffncalc.cli.options import Models, Out, optional


def command(
    models: Models,
    out: Out = None,
    longest: Annotated[
        str | None, typer.Option("--seq-len", metavar="T", help="The longest context drawn (default: 131,072 tokens).")
    ] = None,
) -> None:
    """Forward FLOPs per token, on log scales, a panel a model; where attention overtakes the FFN is marked."""
    from ffncalc.plot import data, draw, terminal

    if out is not None:
        draw.checked(out)
    reach = optional("--seq-len", longest) or data.LONGEST
    costs = [data.cost(base, reach) for base in data.bases(models)]
    if out is not None:
        draw.save(draw.flops(costs), out)
    else:
        print(terminal.flops(costs), end="")
