"""The Typer app: what stands above all commands. The commands themselves are in the table of `ffncalc.cli.commands`."""

from typing import Annotated, Any

import typer

from ffncalc import __version__
from ffncalc.cli.commands import command_of
from ffncalc.cli.lean import LazyGroup
from ffncalc.errors import InputError

USAGE_ERROR: Any = typer.BadParameter.__base__  # what Typer raises for a wrong command line; it exports only a subclass

app = typer.Typer(
    name="",
    cls=LazyGroup,
    add_completion=False,
    # One plain help everywhere: Typer's rich one costs an import, and colours a pipe where GITHUB_ACTIONS is set.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def ffncalc(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    """Say what a Transformer costs, exactly, from its config alone.

    Every parameter, every matmul FLOP and every hidden width, each with the formula that gives it (--explain).
    """
    # `ffncalc --version` was answered before Typer was imported; this is for `ffncalc --version params`.
    if version:
        typer.echo(f"ffncalc {__version__}")
        raise typer.Exit


def run_command(argv: list[str]) -> int:
    """Run one command line and give its exit code: what the command returned, or 0. A wrong one is an InputError."""
    try:
        code = typer.main.get_command(app).main(argv, prog_name="ffncalc", standalone_mode=False)
    except USAGE_ERROR as error:
        raise InputError(usage_message(error, command_of(argv))) from None
    return code or 0


def usage_message(error: Any, command: str) -> str:
    """Typer's words for a wrong command line as one line, with what was meant and where the help is."""
    if near := getattr(error, "possibilities", None):
        text = f"{error.message}: did you mean {' or '.join(near)}?"
    else:
        text = " ".join(error.format_message().split()).rstrip(".")
    return f"{text[0].lower()}{text[1:]} (see '{f'ffncalc {command}'.rstrip()} --help')"
