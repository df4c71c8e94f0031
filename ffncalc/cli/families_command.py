"""`ffncalc families [NAME]`."""

from typing import Annotated

import typer

from ffncalc.cli import output
from ffncalc.cli.options import Format, Json, output_format


def command(
    name: Annotated[str | None, typer.Argument(metavar="FAMILY", help="A family or a model type.")] = None,
    format: Format = "table",
    json: Json = False,
) -> None:
    """What each is read for, where it comes from, and whether its parameters and FLOPs are exact."""
    from ffncalc.report import catalogue

    form = output_format(format, json)
    entries = [catalogue.find(name)] if name else catalogue.all_families()
    if form in ("json", "csv"):
        from ffncalc.export import family_data

        output.write_data(form, [family_data(entry) for entry in entries])
    else:
        from ffncalc.render import catalogue as render

        document = render.family(entries[0]) if name else render.families(entries)
        print(output.text(form, [document]), end="")
