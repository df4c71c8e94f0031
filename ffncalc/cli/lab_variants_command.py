"""`ffncalc lab variants`."""

from typing import Annotated

import typer

from ffncalc.cli import numeric
from ffncalc.cli.options import Explain, Format, Json, Seed, output_format, whole_number


def command(
    tokens: Annotated[str, typer.Option("--tokens", metavar="T", help="Tokens to run them on.")] = "8",
    seed: Seed = "0",
    format: Format = "table",
    json: Json = False,
    explain: Explain = False,
) -> None:
    """Their widths, parameters and FLOPs (all equal), the paper's log-perplexity, and a run on the same input.

    Then every kind of FFN that the bundled models have, and which they are.
    """
    numeric.one_thread()
    from ffncalc.report.variants import explain_variants, variants

    form = output_format(format, json)
    report = variants(whole_number("--tokens", tokens), numeric.seed_number(seed))
    numeric.show_lab(form, "variants", report, "matched", explain_variants(report) if explain else None)
