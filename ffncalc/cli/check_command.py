"""`ffncalc check FILE...`."""

from typing import Annotated, Any

import typer

from ffncalc.cli import output
from ffncalc.cli.options import FORMATS, Json, Strict, output_format
from ffncalc.errors import InputError


def command(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Checks files, in YAML.")] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Write the present numbers as the baseline, and check nothing.")
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of such files, for an editor.")
    ] = False,
    strict: Strict = False,
    format: Annotated[
        str,
        typer.Option("--format", metavar="table|json|csv|markdown|junit|github|sarif", help="How to print the result."),
    ] = "table",
    json: Json = False,
) -> int:
    """A file names models and what must hold of each: params.total: {max: 7B}. Exit code 1 if something doesn't.

    An unknown number, a glob that matches nothing, a typo in a key are errors (2), never a silent pass.
    """
    form = output_format(format, json, (*FORMATS, "junit", "github", "sarif"))
    if schema:
        return print_schema(files)
    if not files:
        raise InputError("no checks file was given; see 'ffncalc check --help'")
    from ffncalc.checks.file import read

    checks = [read(file) for file in files]
    return write_baselines(checks) if record else check(checks, form, strict)


def print_schema(files: list[str] | None) -> int:
    """The JSON schema of checks files."""
    from ffncalc.checks.schema import schema
    from ffncalc.export import to_json

    if files:
        raise InputError("--schema takes no file: it is one schema for all")
    print(to_json(schema()))
    return 0


def write_baselines(files: list[Any]) -> int:
    """Each file's baseline, all of them counted before the first is written."""
    from ffncalc.atomic import write
    from ffncalc.checks.baseline import contents, path_of
    from ffncalc.checks.run import numbers

    texts = [(path_of(file), list(numbers(file))) for file in files]
    for path, models in texts:
        write(path, contents(models))
        print(f"{path}: the numbers of {len(dict(models)):,} model{'s' if len(dict(models)) > 1 else ''}")
    return 0


def check(files: list[Any], form: str, strict: bool) -> int:
    """Run the checks and print the results; standard error says in a line how many failed."""
    from ffncalc.checks.run import run
    from ffncalc.cli.start import complain

    report = run(files)
    output.warn(report.warnings, strict)
    if form in ("junit", "github", "sarif", "json", "csv"):
        print_for_machines(report, form)
    if form in ("table", "markdown", "github"):
        from ffncalc.render.checks import document

        print(output.text("table" if form == "github" else form, [document(report)]), end="")
    if report.failed:
        complain("check failed", f"{len(report.failed):,} of {len(report.results):,}")
    return 1 if report.failed else 0


def print_for_machines(report: Any, form: str) -> None:
    """The forms that another program reads."""
    from ffncalc.render import ci

    if form in ("json", "csv"):
        data = ci.data(report)
        output.write_data(form, data if form == "json" else data["checks"])
    elif form == "sarif":
        output.write_data("json", ci.sarif(report))
    else:
        print(ci.junit(report) if form == "junit" else ci.github(report), end="")
