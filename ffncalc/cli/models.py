"""The models of a command line, read with the options that go over their configs."""

from __future__ import annotations

from collections.abc import Sequence

from ffncalc.cli.options import one_of, optional
from ffncalc.config import Config
from ffncalc.errors import InputError
from ffncalc.keys import HEADS
from ffncalc.loading import load
from ffncalc.model import Model
from ffncalc.view import Options


def load_all(names: Sequence[str | Config], head: str | None, vocab_size: str | None, tied: bool | None) -> list[Model]:
    """All of them, before anything is printed: where one fails, none is shown."""
    if names.count("-") > 1:
        raise InputError("- stands for standard input, which can be read once; give it once")
    options = options_of(head, vocab_size, tied)
    return [load(name, *options) for name in names]


def options_of(head: str | None, vocab_size: str | None, tied: bool | None) -> Options:
    """What the command line says over a file."""
    return Options(
        one_of("--head", head, HEADS) if head is not None else None,
        optional("--vocab-size", vocab_size),
        tied,
    )
