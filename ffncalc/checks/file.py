"""A checks file -> the assertions it stands for, each with its place.

    baseline: checks.baseline.json          # what `same_as: baseline` means; written by `ffncalc check --record`
    checks:
      - model: configs/*.yaml               # a bundled name, a path from this file's folder, a glob, or a list of them
        seq_len: 4096                       # what it is run on, as the options of `flops`; and head, vocab_size, tied
        params.total: {max: 7B, same_as: baseline ± 1 %}
        dims.d_ff: {multiple_of: 256, divisible_by: 8}
        assert: [params.ffn > 2 * params.attention]

A condition is an assertion in other words, so there is one place that decides what holds. Nothing passes by accident: a
key that isn't known, an entry without a condition, an empty file, a key that stands twice are errors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from ffncalc.checks.expression import (
    Assertion,
    Binary,
    Choices,
    Node,
    Number,
    Path,
    Side,
    Tolerance,
    parse,
    parse_number,
    parse_path,
)
from ffncalc.config import read_file
from ffncalc.errors import InputError, nearest
from ffncalc.keys import HEADS
from ffncalc.number import read as read_number
from ffncalc.text import Misread
from ffncalc.text import parse as parse_text
from ffncalc.workload import PASSES, Workload

LENGTHS = {"seq_len": "seq_len", "source_len": "source_len", "batch": "batch", "tokens": "tokens"}
SETTINGS = (*LENGTHS, "causal", "pass", "head", "vocab_size", "tied")
KEYS = ("model", "assert", *SETTINGS)
CONDITIONS = {
    "equals": "exactly this number",
    "min": "at least this number",
    "max": "at most this number",
    "within": "a number with a tolerance, 7B ± 1 %",
    "multiple_of": "this number divides it",
    "divisible_by": "this number divides it (the ways of tensor parallelism)",
    "one_of": "one of a list of numbers",
    "same_as": "what another model, or the baseline, has; a tolerance may follow",
    "at_most": "at most what another model has, which a factor may precede: 1.05 × baseline",
    "at_least": "at least what another model has",
}
ROOTS = ("params", "dims", "ffn_share", "layers", "flops", "crossover_seq_len")
REFERENCE = re.compile(
    r"(?:(?P<factor>[^×*]*?)\s*(?:×|\*|\sx\s)\s*)?(?P<model>.+?)\s*(?:(?:±|\+/-|\+-)\s*(?P<off>.+))?"
)


class Check(NamedTuple):
    """One condition: the assertion it stands for, the number it is about, its words, and its place in the file."""

    assertion: Assertion
    path: Path | None
    wanted: str
    line: int
    column: int


class Settings(NamedTuple):
    """How the models of an entry are read, and what they are run on."""

    work: Workload = Workload()
    head: str | None = None
    n_vocab: int | None = None
    tied: bool | None = None


class Entry(NamedTuple):
    """Models and what must hold of each."""

    models: tuple[str, ...]
    settings: Settings
    stated: str  # the settings in words, where there are any
    checks: tuple[Check, ...]
    line: int
    column: int


class ChecksFile(NamedTuple):
    """A checks file as it was read; `baseline` is a path or a model."""

    path: str
    baseline: str
    entries: tuple[Entry, ...]


Key = tuple[str | int, ...]


class _File:
    """The text of a checks file, for messages that say where."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.values, self.places = parse_text(read_file(path), path, as_json=False, decimal=Misread)

    def place(self, key: Key) -> tuple[int, int]:
        while key and key not in self.places:
            key = key[:-1]
        return self.places.get(key, (1, 1))

    def where(self, key: Key) -> str:
        line, column = self.place(key)
        return f"{self.path}: line {line}, column {column}"

    def fail(self, key: Key, what: str) -> NoReturn:
        raise InputError(f"{self.where(key)}: {what}")

    def mapping(self, key: Key, value: Any, what: str) -> dict[str, Any]:
        if not isinstance(value, dict) or not value:
            self.fail(key, f"{what}, not {_kind(value)}")
        return value

    def known(self, key: Key, name: str, names: tuple[str, ...]) -> None:
        if name not in names:
            near = nearest(name, names, n=1)
            self.fail(
                key,
                f"key {name[:60]!r} is not known; "
                + (f"did you mean {near[0]}?" if near else f"want one of {', '.join(names)}"),
            )


def read(path: str) -> ChecksFile:
    """The checks of a file. Raises InputError with the line of what is wrong."""
    file = _File(path)
    if file.values is None:
        raise InputError(f"{path}: is empty; a checks file has `checks`, a list of models and what must hold of each")
    values = file.mapping((), file.values, "a checks file has `checks`, a list of models and what must hold of each")
    for name in values:
        file.known((name,), name, ("checks", "baseline"))
    listed = values.get("checks")
    if not isinstance(listed, list) or not listed:
        file.fail(("checks",), f"checks is a list of models and what must hold of each, not {_kind(listed)}")
    baseline = values.get("baseline", os.path.splitext(os.path.basename(path))[0] + ".baseline.json")
    if not isinstance(baseline, str) or not baseline:
        file.fail(("baseline",), f"baseline is a path or a model, not {_kind(baseline)}")
    return ChecksFile(path, baseline, tuple(_entry(file, ("checks", i), entry) for i, entry in enumerate(listed)))


def _entry(file: _File, at: Key, entry: Any) -> Entry:
    values = file.mapping(at, entry, "each of the checks is a mapping with a model and what must hold")
    for name in values:
        path = parse_path(name)
        if path is None or path.steps[0] not in ROOTS:
            file.known((*at, name), name, (*KEYS, *ROOTS))
    checks = [check for name in values if name not in KEYS for check in _number(file, (*at, name), name, values[name])]
    if "assert" in values:
        checks += _asserts(file, (*at, "assert"), values["assert"])
    if not checks:
        file.fail((*at, "model"), "nothing is checked of it; add a condition, such as params.total: {max: 7B}")
    line, column = file.place((*at, "model"))
    models, settings = _models(file, (*at, "model"), values.get("model")), _settings(file, at, values)
    return Entry(models, settings, _stated(settings, values), tuple(checks), line, column)


def _stated(settings: Settings, values: dict[str, Any]) -> str:
    """The settings that an entry states, in words: what tells two entries of one model apart in the baseline."""
    found = {**settings.work._asdict(), "pass": settings.work.passes, "head": settings.head, "tied": settings.tied}
    found["vocab_size"] = settings.n_vocab
    return ", ".join(f"{key} {_word(found[key])}" for key in SETTINGS if key in values)


def _models(file: _File, at: Key, value: Any) -> tuple[str, ...]:
    models = value if isinstance(value, list) else [value]
    if not models or not all(isinstance(model, str) and model for model in models):
        file.fail(at, f"model is a bundled name, a path, a glob, or a list of them, not {_kind(value)}")
    return tuple(models)


def _settings(file: _File, at: Key, values: dict[str, Any]) -> Settings:
    def whole(name: str) -> int | None:
        return _whole(file, (*at, name), name, values[name]) if name in values else None

    def one_of(name: str, choices: tuple[Any, ...]) -> Any:
        if name in values and (type(values[name]) is not type(choices[0]) or values[name] not in choices):
            file.fail((*at, name), f"{name} is one of {', '.join(map(_word, choices))}, not {_kind(values[name])}")
        return values.get(name)

    causal, passes = one_of("causal", (True, False)), one_of("pass", tuple(PASSES))
    work = Workload(
        whole("seq_len"),
        whole("source_len"),
        whole("batch") or 1,
        causal or False,
        passes or "forward",
        whole("tokens"),
    )
    return Settings(work, one_of("head", HEADS), whole("vocab_size"), one_of("tied", (True, False)))


def _whole(file: _File, at: Key, name: str, value: Any) -> int:
    number = read_number(str(value)) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
    if number is None or number.denominator != 1 or number < 1:
        file.fail(at, f"{name} takes a positive whole number, such as 4096 or 4k, not {_kind(value)}")
    return number.numerator


# ------------------------------------------------------------------ conditions
def _asserts(file: _File, at: Key, value: Any) -> Iterator[Check]:
    for i, text in enumerate(value if isinstance(value, list) else [value]):
        key = (*at, i)
        if not isinstance(text, str):
            file.fail(key, f"assert takes text such as params.total <= 7B, or a list of it, not {_kind(text)}")
        yield Check(parse(text, f"{file.where(key)}: assert"), None, "holds", *file.place(key))


def _number(file: _File, at: Key, name: str, conditions: Any) -> Iterator[Check]:
    path = parse_path(name)
    assert path  # _entry has looked
    if isinstance(conditions, (int, str)) and not isinstance(conditions, bool):
        conditions = {"equals": conditions}
    conditions = file.mapping(at, conditions, f"{name} takes a number, or conditions such as {{max: 7B}}")
    for word, value in conditions.items():
        file.known((*at, word), word, tuple(CONDITIONS))
        key = (*at, word) if (*at, word) in file.places else at
        sides, operator = _READ[word](file, key, word, path, value)
        assertion = Assertion(f"{name} {operator} {_word(value)}", sides, (operator,))
        yield Check(assertion, path, f"{word} {_word(value)}", *file.place(key))


Sides = tuple[tuple[Side, Side], str]


def _plain(file: _File, at: Key, word: str, value: Any) -> Node:
    if not isinstance(value, (int, str)) or isinstance(value, bool):
        file.fail(at, f"{word} takes a number, such as 7B, not {_kind(value)}")
    return parse_number(str(value), f"{file.where(at)}: {word}")


def _limit(operator: str) -> Callable[..., Sides]:
    def sides(file: _File, at: Key, word: str, path: Path, value: Any) -> Sides:
        node = _plain(file, at, word, value)
        if isinstance(node, Tolerance) and operator != "==":
            file.fail(at, f"{word} takes one number; a tolerance goes with `within`")
        return (Side(path.text, path), Side(_word(value), node)), operator

    return sides


def _within(file: _File, at: Key, word: str, path: Path, value: Any) -> Sides:
    node = _plain(file, at, word, value)
    if not isinstance(node, Tolerance):
        file.fail(at, f"within takes a number with a tolerance, such as 7B ± 1 %, not {_kind(value)}")
    return (Side(path.text, path), Side(_word(value), node)), "=="


def _multiple(file: _File, at: Key, word: str, path: Path, value: Any) -> Sides:
    whole = _whole(file, at, word, value)
    rest = Side(f"{path.text} % {whole:,}", Binary("%", path, Number(Fraction(whole))))
    return (rest, Side("0", Number(Fraction(0)))), "=="


def _one_of(file: _File, at: Key, word: str, path: Path, value: Any) -> Sides:
    if not isinstance(value, list) or not value:
        file.fail(at, f"one_of takes a list of numbers, such as [1024, 2048], not {_kind(value)}")
    choices = Choices(tuple(_plain(file, at, word, one) for one in value))
    return (Side(path.text, path), Side(_word(value), choices)), "=="


def _other(operator: str) -> Callable[..., Sides]:
    def sides(file: _File, at: Key, word: str, path: Path, value: Any) -> Sides:
        found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if not found:
            file.fail(at, f"{word} takes a model, such as 1.05 × baseline, not {_kind(value)}")
        node: Node = path._replace(model=found["model"])
        if found["factor"]:
            node = Binary("*", parse_number(found["factor"], f"{file.where(at)}: {word}"), node)
        if found["off"] and operator != "==":
            file.fail(at, f"{word} takes no tolerance; write a factor, such as 1.05 × {found['model']}")
        if found["off"]:
            off = parse_number(found["off"], f"{file.where(at)}: {word}")
            node = Tolerance(node, off, isinstance(off, Number) and off.percent)
        return (Side(path.text, path), Side(value, node)), operator

    return sides


_READ: dict[str, Callable[..., Sides]] = {
    "equals": _limit("=="),
    "min": _limit(">="),
    "max": _limit("<="),
    "within": _within,
    "multiple_of": _multiple,
    "divisible_by": _multiple,
    "one_of": _one_of,
    "same_as": _other("=="),
    "at_most": _other("<="),
    "at_least": _other(">="),
}


def _word(value: Any) -> str:
    """A value of the file as it might be written there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"[{', '.join(map(_word, value))}]" if isinstance(value, list) else str(value)


def _kind(value: Any) -> str:
    """A value in a few words, for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else f"a list of {len(value)}"
    text = _word(value)
    return repr(text if len(text) <= 40 else f"{text[:30]}...") if isinstance(value, str) else text
