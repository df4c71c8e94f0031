"""`ffncalc configs [NAME]`."""

from typing import Annotated

import typer

from ffncalc.cli.options import Format, Json, output_format


def command(
    name: Annotated[str | None, typer.Argument(metavar="MODEL", help="The config to print.")] = None,
    format: Format = "table",
    json: Json = False,
) -> None:
    """Print a bundled file to start a config of your own from it."""
    print(f"{name} {output_format(format, json)}")
