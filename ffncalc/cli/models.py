"""The models of a command line, read with the options that go over their configs."""

from __future__ import annotations

from collections.abc import Sequence

from ffncalc.cli.options import HEADS, one_of, whole_number
from ffncalc.config import Config
from ffncalc.errors import InputError
from ffncalc.load import load
from ffncalc.model import Model


def load_all(names: Sequence[str | Config], head: str | None, vocab_size: str | None, tied: bool | None) -> list[Model]:
    """All of them, before anything is printed: where one fails, none is shown."""
    if names.count("-") > 1:
        raise InputError("- stands for standard input, which can be read once; give it once")
    head = one_of("--head", head, HEADS) if head else None
    n_vocab = whole_number("--vocab-size", vocab_size) if vocab_size else None
    return [load(name, head, n_vocab, tied) for name in names]
