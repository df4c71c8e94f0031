"""The lean command class against stock Typer: the same outcome in everything, without pydantic for plain values."""

import random
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperCommand
from typer.testing import CliRunner

from ffncalc.cli.commands import COMMANDS, module_of, under
from ffncalc.cli.lean import LeanCommand, load


class Shade(Enum):
    """A choice, for which Typer builds an adapter of its own."""

    light = "light"
    dark = "dark"


def option(*args: Any, **settings: Any) -> Any:
    """An option as Typer declares one."""
    return typer.Option(*args, **settings)


# Each shape of parameter that a command may have: annotation, default.
SHAPES: dict[str, tuple[Any, Any]] = {
    "str": (Annotated[str, option("--a")], "plain"),
    "str-none": (Annotated[str | None, option("--a")], None),
    "str-required": (Annotated[str, option("--a")], ...),
    "str-parser": (Annotated[str, option("--a", parser=lambda text: text.upper())], "p"),
    "str-env": (Annotated[str, option("--a", envvar="LEAN_TEST")], "e"),
    "str-callback": (Annotated[str, option("--a", callback=lambda value: f"<{value}>")], "c"),
    "int": (Annotated[int, option("--a")], 7),
    "int-none": (Annotated[int | None, option("--a")], None),
    "int-range": (Annotated[int, option("--a", min=3, max=9)], 11),
    "int-clamp": (Annotated[int, option("--a", min=3, max=9, clamp=True)], 11),
    "int-count": (Annotated[int, option("--a", "-a", count=True)], 0),
    "float": (Annotated[float, option("--a")], 2.5),
    "flag": (Annotated[bool, option("--a/--b")], False),
    "flag-none": (Annotated[bool | None, option("--a/--b")], None),
    "list": (Annotated[list[str], option("--a")], ["x", "y"]),
    "list-none": (Annotated[list[str] | None, option("--a")], None),
    "list-of-others": (Annotated[list[str], option("--a")], [3, 4]),
    "list-callback": (Annotated[list[str] | None, option("--a", callback=ascii)], None),
    "list-int": (Annotated[list[int], option("--a")], [1, 2]),
    "pair": (Annotated[tuple[str, int], option("--a")], ("u", 5)),
    "choice": (Annotated[Shade, option("--a")], Shade.dark),
    "argument": (Annotated[str, typer.Argument()], ...),
    "argument-default": (Annotated[str, typer.Argument()], "d"),
    "arguments": (Annotated[list[str], typer.Argument()], ...),
    "arguments-none": (Annotated[list[str] | None, typer.Argument()], None),
    "argument-int": (Annotated[int, typer.Argument()], 4),
}
WORDS = [
    "--a",
    "--a",
    "-a",
    "--b",
    "",
    "x",
    "7",
    "-3",
    "1e3",
    "2.5",
    "light",
    "LIGHT",
    "true",
    "no",
    "--",
    "--aa",
    "--a=z",
]
WORDS += ["--help", "\udcff", "é", "--a=\udcff", "4k", "--a="]


def app_of(shape: str, cls: type[TyperCommand]) -> typer.Typer:
    """A one-command app whose command prints its one value."""
    annotation, default = SHAPES[shape]

    def command(value: Any) -> None:
        """Print the value."""
        print(type(value).__name__, ascii(value))

    command.__annotations__ = {"value": annotation, "return": None}
    command.__defaults__ = () if default is ... else (default,)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(cls=cls)(command)
    return app


def outcome(app: typer.Typer, args: list[str], env: dict[str, str]) -> tuple[object, ...]:
    """Everything that can be seen of one run."""
    result = CliRunner().invoke(app, args, env=env)
    return result.exit_code, result.stdout, result.stderr, repr(result.exception)


def command_lines(seed: int, count: int) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Short command lines, most of them wrong for some shape, with and without the environment variable."""
    choose = random.Random(seed)
    for _ in range(count):
        words = choose.choices(WORDS, k=choose.randrange(5))
        yield words, choose.choice([{}, {}, {"LEAN_TEST": "from env"}, {"LEAN_TEST": ""}])


@pytest.mark.parametrize("shape", SHAPES)
def test_same_as_stock_typer(shape: str) -> None:
    """Value, exit code, stdout and stderr are those of stock Typer, on 150 command lines a shape."""
    stock, lean = app_of(shape, TyperCommand), app_of(shape, LeanCommand)
    different = [
        (args, env, expected, actual)
        for args, env in command_lines(seed=len(shape), count=150)
        if (expected := outcome(stock, args, env)) != (actual := outcome(lean, args, env))
    ]
    assert different == []


def test_the_command_lines_are_worth_comparing() -> None:
    """Among the generated command lines are accepted ones, refused ones and requests for help."""
    app = app_of("str-none", TyperCommand)
    outcomes = [outcome(app, args, env) for args, env in command_lines(seed=8, count=150)]
    assert sum(code == 0 and "Usage" not in str(out) for code, out, *_ in outcomes) > 20
    assert sum(code == 2 for code, *_ in outcomes) > 20
    assert sum("Usage" in str(out) for _, out, *_ in outcomes) > 5


PLAIN = """
import sys
from typing import Annotated
import typer
from ffncalc.cli.lean import LeanCommand
app = typer.Typer(add_completion=False, rich_markup_mode=None)
@app.command(cls=LeanCommand)
def command(models: list[str], a: str = "x", b: str | None = None, c: int = 3, d: bool = False, e: bool | None = None,
            n: {kind} = 1):
    print("pydantic" in sys.modules)
app()
"""


@pytest.mark.parametrize(("kind", "expected"), [("int", "False"), ("float", "True")])
def test_pydantic_is_imported_only_when_needed(kind: str, expected: str) -> None:
    """Plain values need no pydantic; a value that needs coercion has it (from Typer 0.29 on)."""
    if not hasattr(typer.core.TyperOption, "get_runtime_param"):
        expected = "False"
    command = [sys.executable, "-c", PLAIN.format(kind=kind), "m1", "m2", "--a", "z", "--d"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.strip() == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_every_row_is_a_command(name: str) -> None:
    """A row of the table is a command whose help starts with the row's text, or a group of other rows."""
    command = load(name)
    assert command.help.startswith(COMMANDS[name])
    assert under(name) or command.name == name


def test_table_words() -> None:
    """`under` gives the last words of a group's rows, and no row's module has a space or a dash."""
    assert "configs" in under("")
    assert not any(" " in name for name in under(""))
    assert module_of("lab hidden-dim") == "lab_hidden_dim_command"
