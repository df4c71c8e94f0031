"""Typer's command and group, without pydantic and without a command's module until they are needed.

From 0.29 on, Typer builds a pydantic adapter for each parameter whose value isn't already a bool, `--help` included,
and importing pydantic takes longer than everything else in a run. But a `str` that is wanted as a `str` needs none.
So the place where Typer keeps the adapter (`_runtime_param`, the one private name used here) gets a stand-in that
answers such values itself and, for any other value, hands over to the adapter that Typer would have built. Where a
Typer has no such place (0.26 to 0.28 don't import pydantic), nothing is changed.
"""

import sys
from importlib import import_module
from inspect import getdoc
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ffncalc.cli.commands import COMMANDS, module_of, under
from ffncalc.errors import nearest


def is_trivial(value: Any, param: Any) -> bool:
    """Whether the value already is what the annotation says, with nothing left to check."""
    annotation, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
    if value is None or info.parser is not None:
        return value is None
    if annotation is int:
        return type(value) is int and info.min is None and info.max is None
    if annotation == list[str]:
        return type(value) in (list, tuple) and all(type(item) is str for item in value)
    return annotation is str and type(value) is str


class TrivialValues:
    """Stands in for a parameter's adapter until there is a value that needs one."""

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        """The value as Typer would have coerced it."""
        if is_trivial(value, param):
            return list(value) if isinstance(value, tuple) else value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def lean(params: list[Any]) -> list[Any]:
    """The same parameters, each with the stand-in where Typer has not built its adapter yet."""
    for param in params:
        if getattr(param, "_runtime_param", param) is None:
            param._runtime_param = TrivialValues
    return params


class LeanCommand(TyperCommand):
    """A Typer command that imports pydantic only for a value that needs it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, the implicit `--help` among them."""
        return lean(super().get_params(ctx))


class LazyGroup(TyperGroup):
    """The commands of the table that stand under `self.name`, each imported when it is asked for."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, the implicit `--help` among them."""
        return lean(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the group's own options; with nothing to do, give the help and the exit code of a wrong command line."""
        if not args:
            print(ctx.get_help(), file=sys.stderr)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the table's order."""
        return under(self.name or "")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; an unknown one is a usage error that says which name was meant."""
        names = self.list_commands(ctx)
        if cmd_name not in names:
            near = nearest(cmd_name, names, n=3)
            ctx.fail(f"no command {cmd_name!r}" + (f": did you mean {' or '.join(map(repr, near))}?" if near else ""))
        return load(f"{self.name} {cmd_name}".lstrip())

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[f"{self.name} {name}".lstrip()]) for name in self.list_commands(ctx)])


def load(name: str) -> Any:
    """A row of the table as a Typer command, or as a group of the rows that start with its name."""
    if under(name):
        return LazyGroup(name=name, help=COMMANDS[name], rich_markup_mode=None)
    function = import_module(f"ffncalc.cli.{module_of(name)}").command
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=LeanCommand, help=f"{COMMANDS[name]}\n\n{getdoc(function) or ''}")(function)
    return untyped(typer.main.get_command(app))


def untyped(command: Any) -> Any:
    """The command, its help naming an argument alone: Typer 0.29 puts the Python type behind it, MODEL <list[str]>."""
    for param in command.params:
        if param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: ""
    return command
