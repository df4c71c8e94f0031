"""`ffncalc lab facts [FACT]`."""

from typing import Annotated

import typer

from ffncalc.cli import numeric
from ffncalc.cli.options import Format, Json, output_format
from ffncalc.errors import InputError

DEFAULT_EDIT = "Tokyo=Peru"


def command(
    fact: Annotated[
        str | None, typer.Argument(metavar="CAPITAL=COUNTRY", help="The fact that --edit writes (Tokyo=Peru).")
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="WORDS", help="Ask this, such as Tokyo or '0.8*Tokyo + 0.6*Paris'.")
    ] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Rewrite one fact by a rank-one update of W2.")] = False,
    format: Format = "table",
    json: Json = False,
) -> None:
    """An FFN as a key-value memory: Paris, Tokyo and Cairo each fire their own key and write their country.

    A stop word fires nothing. Each value is projected through the output matrix, its top words listed.
    """
    numeric.one_thread()
    from ffncalc.numeric.experiments.facts import facts

    form = output_format(format, json)
    if fact and not edit:
        raise InputError(f"{fact} is a fact to write: say --edit {fact}; --query asks")
    numeric.show_lab(form, "facts", facts(query, fact or DEFAULT_EDIT if edit else None), "answers")
