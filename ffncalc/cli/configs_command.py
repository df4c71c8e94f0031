"""`ffncalc configs [NAME]`."""

from typing import Annotated

import typer

from ffncalc.cli import output
from ffncalc.cli.options import Format, Json, output_format
from ffncalc.errors import InputError


def command(
    name: Annotated[str | None, typer.Argument(metavar="MODEL", help="The config to print.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of such files, for an editor.")
    ] = False,
    format: Format = "table",
    json: Json = False,
) -> None:
    """A printed file is what a config of your own starts from: ffncalc configs llama-7b > mine.yaml."""
    form = output_format(format, json)
    if schema and name:
        raise InputError("--schema takes no name: it is one schema for all configs")
    if schema:
        from ffncalc.export import to_json
        from ffncalc.schema import schema as config_schema

        print(to_json(config_schema()))
    elif name:
        print_config(name, form)
    else:
        list_configs(form)


def print_config(name: str, form: str) -> None:
    """The file as it is, with its comments; as JSON its values."""
    from ffncalc import bundled

    path = bundled.path_of(name)
    if path is None:
        raise bundled.unknown(name)
    if form in ("json", "csv"):
        output.write_data(form, bundled.read(path))
    else:
        with open(path, encoding="utf-8") as file:
            print(file.read(), end="")


def list_configs(form: str) -> None:
    """All of them, with the parameters that come out."""
    from ffncalc.report.catalogue import bundled_configs

    entries = bundled_configs()
    if form in ("json", "csv"):
        from ffncalc.export import configs_data

        output.write_data(form, [configs_data(entry) for entry in entries])
    else:
        from ffncalc.render.catalogue import configs

        print(output.text(form, [configs(entries)]), end="")
