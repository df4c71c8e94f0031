"""A config with some of its sizes changed: what a person would have typed into the file instead.

Everything that compares configs over a range of sizes goes through here, so that one of its rows means neither more nor
less than `params` and `flops` of the edited file: what follows from other sizes follows, what is stated stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ffncalc.config import Config, read
from ffncalc.errors import InputError, nearest
from ffncalc.expr import Expr
from ffncalc.families.row import Row
from ffncalc.keys import WORDS
from ffncalc.loading import load, row_of
from ffncalc.model import Model
from ffncalc.nested import text_part
from ffncalc.spec import GROUPS, SWITCHES
from ffncalc.view import Options

NOT_SIZES = ("tied", "activation")


class Base(NamedTuple):
    """A config to start from, the row that reads it, and what was asked for over it."""

    config: Config
    row: Row
    options: Options


def base(model: str | dict[str, Any] | Config, options: Options | None = None) -> Base:
    """What MODEL names, read and not yet resolved. Raises InputError."""
    config, options, _ = text_part(read(model), options or Options())
    return Base(config, row_of(config, options), options)


def edited(start: Base, sizes: Mapping[str, int]) -> Config:
    """The config with those sizes stated; a size is a word of ours, or any key that the family reads."""
    values = dict(start.config.values)
    for name, value in sizes.items():
        _state(values, start, name, value)
    return start.config._replace(values=values)


def model_of(start: Base, sizes: Mapping[str, int]) -> Model:
    """The model that the edited config stands for. Raises InputError where its family refuses those sizes."""
    return load(edited(start, sizes), *start.options)


def key_of(start: Base, name: str) -> str:
    """Where a size is written: its word in a file of ours, else the family's key. Raises InputError."""
    word = _word(name)
    if start.config.kind == "own" and (word or _is_switch(name)):
        return word or name
    keys = start.row.keys_of(WORDS[word][0]) if word else []
    if name in keys or name in _read_keys(start.row):
        return name
    if len(keys) == 1:
        return keys[0]
    if keys:
        raise InputError(f"{name} has several keys in {start.row.name}: {', '.join(keys)}; name the one that is meant")
    raise _unknown(start, name)


def spellings(name: str) -> tuple[str, ...]:
    """All names of a size that is a word of ours; any other has its own."""
    word = _word(name)
    return (word, *WORDS[word][1]) if word else (name,)


def _unknown(start: Base, name: str) -> InputError:
    words = [word for word in WORDS if word not in NOT_SIZES]
    if start.config.kind != "own":
        words = [word for word in words if start.row.keys_of(WORDS[word][0])]
    near = nearest(name, [*words, *_read_keys(start.row)], n=1)
    hint = f"did you mean {near[0]}?" if near else f"{start.row.name} has {', '.join(words)}"
    return InputError(f"{name!r} is no size that {start.row.name} reads from {start.config.file}; {hint}")


def _word(name: str) -> str | None:
    return next((w for w, (_, others) in WORDS.items() if name in (w, *others) and w not in NOT_SIZES), None)


def _is_switch(name: str) -> bool:
    return "." in name and isinstance(SWITCHES.get(name), Expr)


def _read_keys(row: Row) -> set[str]:
    return row.keys_read() | set(row.spellings)


def _state(values: dict[str, Any], start: Base, name: str, value: int) -> None:
    """Write a size where it belongs, and take away whatever else states it."""
    key = key_of(start, name)
    switch = WORDS[key][0] if start.config.kind == "own" and key in WORDS else key
    for other in _other_places(start, key, switch):
        values.pop(other, None)
    group, _, field = switch.partition(".")
    if start.config.kind == "own" and group in GROUPS and isinstance(values.get(group), dict):
        rest = {k: v for k, v in values[group].items() if k not in (field, *spellings(key))}
        values[group] = rest
        if not rest:
            del values[group]
    _write(values, start, key, value)


def _other_places(start: Base, key: str, switch: str) -> Iterator[str]:
    if start.config.kind == "own":
        yield from spellings(key)
        yield from start.row.keys_of(switch)
    held = {key, *start.row.keys_of(switch)}
    yield from (other for other, read_as in start.row.spellings.items() if read_as in held)


def _write(values: dict[str, Any], start: Base, key: str, value: int) -> None:
    """`key`, or a dotted one inside the mapping that its first part names."""
    outer, _, inner = key.partition(".")
    if inner:
        values[outer] = {**(values.get(outer) or {}), inner: value}
    else:
        values[start.row.spellings.get(key, key)] = value
