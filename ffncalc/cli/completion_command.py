"""`ffncalc completion SHELL`."""

from typing import Annotated

import typer

from ffncalc.cli.completion import SCRIPTS
from ffncalc.cli.options import one_of


def command(shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell to complete in.")]) -> None:
    """Completed are commands, options, the values of options, and the names of bundled models.

    The script's first line says where to put it.
    """
    print(SCRIPTS[one_of("SHELL", shell, tuple(SCRIPTS))], end="")
