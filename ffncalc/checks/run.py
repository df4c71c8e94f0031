"""Checks files against their models: which conditions hold. Each model is read once for all that is asked of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ffncalc import bundled
from ffncalc.checks.baseline import recorded
from ffncalc.checks.evaluate import Numbers, failure, found
from ffncalc.checks.expression import Assertion, Path, paths
from ffncalc.checks.file import Check, ChecksFile, Entry, Settings
from ffncalc.errors import InputError
from ffncalc.export import flops_data, params_data
from ffncalc.loading import load
from ffncalc.report.flops import flops
from ffncalc.report.params import params

_NEEDS_FLOPS = ("flops", "crossover_seq_len")


class Result(NamedTuple):
    """One condition of one model; `found` is the number it is about (a list for [*]), `message` says what is wrong."""

    file: str
    line: int
    column: int
    model: str
    number: str
    wanted: str
    found: Any
    holds: bool
    message: str


class Checked(NamedTuple):
    """All that `ffncalc check` says."""

    results: tuple[Result, ...]
    warnings: tuple[str, ...]

    @property
    def failed(self) -> list[Result]:
        """Those that don't hold."""
        return [result for result in self.results if not result.holds]


class Target(NamedTuple):
    """A model of an entry: what the file calls it, and the path it is read from."""

    label: str
    path: str


class _Models:
    """The numbers of models, each counted once."""

    def __init__(self) -> None:
        self.trees: dict[tuple[str, Settings, bool], dict[str, Any]] = {}
        self.warnings: list[str] = []

    def tree(self, path: str, settings: Settings, with_flops: bool) -> dict[str, Any]:
        key = (path, settings, with_flops)
        if key not in self.trees:
            self.trees[key] = self._counted(path, settings, with_flops)
        return self.trees[key]

    def _counted(self, path: str, settings: Settings, with_flops: bool) -> dict[str, Any]:
        model = load(path, settings.head, settings.n_vocab, settings.tied)
        report = params(model)
        self.warnings += report.warnings
        tree = params_data(report)
        if with_flops:
            counted = flops(model, settings.work)
            self.warnings += counted.warnings
            tree |= {"flops": flops_data(counted), "crossover_seq_len": counted.crossover_seq_len}
        return tree


def run(files: Sequence[ChecksFile]) -> Checked:
    """Hold every condition of the files against its models. Raises InputError where one can't be decided."""
    models = _Models()
    results = [result for file in files for entry in file.entries for result in _entry(file, entry, models)]
    return Checked(tuple(results), tuple(dict.fromkeys(models.warnings)))


def numbers(file: ChecksFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """What `--record` writes: every number of every model of a file, by the model's label and settings."""
    models = _Models()
    for entry in file.entries:
        for target in targets(file, entry):
            tree = models.tree(target.path, entry.settings, with_flops=False)
            with suppress(InputError):  # a family whose FLOPs are not counted
                tree = models.tree(target.path, entry.settings, with_flops=True)
            yield recorded_as(target, entry), tree


def recorded_as(target: Target, entry: Entry) -> str:
    """What the baseline calls a model: its label, with the settings where the entry states some."""
    return f"{target.label} ({entry.stated})" if entry.stated else target.label


def _entry(file: ChecksFile, entry: Entry, models: _Models) -> Iterator[Result]:
    for target in targets(file, entry):
        for check in entry.checks:
            try:
                yield _result(file, entry, target, check, models)
            except InputError as error:
                raise InputError(f"{file.path}: line {check.line}, column {check.column}: {error}") from None


def _result(file: ChecksFile, entry: Entry, target: Target, check: Check, models: _Models) -> Result:
    with_flops = any(path.steps[0] in _NEEDS_FLOPS for path in _named(check.assertion))

    def of(model: str | None) -> Numbers:
        if model is None:
            return Numbers(models.tree(target.path, entry.settings, with_flops), of=target.label)
        return _other(model, file, entry, target, models, with_flops)

    reason = failure(check.assertion, of)
    path = check.path or next((p for p in _named(check.assertion) if p.model is None), None)
    compared = f" ({check.wanted})" if reason and any(p.model for p in _named(check.assertion)) else ""
    return Result(
        file=file.path,
        line=check.line,
        column=check.column,
        model=target.label,
        number=check.path.text if check.path else check.assertion.text,
        wanted=check.wanted,
        found=found(path, of(None)) if path else None,
        holds=reason is None,
        message=f"{target.label}: {reason}{compared}" if reason else "",
    )


def _named(assertion: Assertion) -> list[Path]:
    return [path for side in assertion.sides for path in paths(side.node)]


def _other(model: str, file: ChecksFile, entry: Entry, target: Target, models: _Models, with_flops: bool) -> Numbers:
    """The numbers of the model that a comparison names, on the same workload, or those recorded of the model itself."""
    named = file.baseline if model == "baseline" else model
    path = os.path.join(os.path.dirname(file.path), named)
    before = recorded(path) if named.endswith(".json") else None
    if before is None and model == "baseline" and not os.path.exists(path) and bundled.path_of(named) is None:
        raise InputError(f"there is no baseline {path} yet; write it with: ffncalc check --record {file.path}")
    if before is None:
        other = _found(file, named)
        return Numbers(models.tree(other.path, entry.settings, with_flops), of=other.label)
    name = recorded_as(target, entry)
    if name not in before:
        raise InputError(f"{path} has no {name!r}; record it with: ffncalc check --record {file.path}")
    return Numbers(before[name], of=f"{name} in {path}")


# ------------------------------------------------------------------ which models
def targets(file: ChecksFile, entry: Entry) -> list[Target]:
    """The models of an entry, a glob's in the order of their names. Raises InputError where there is none."""
    try:
        return [target for name in entry.models for target in _targets(file, name)]
    except InputError as error:
        raise InputError(f"{file.path}: line {entry.line}, column {entry.column}: {error}") from None


def _targets(file: ChecksFile, name: str) -> list[Target]:
    folder = os.path.dirname(file.path)
    if not set(name) & set("*?[") or os.path.exists(os.path.join(folder, name)):
        return [_found(file, name)]
    matches = _matches(folder, name)
    if not matches:
        raise InputError(f"{name} matches no file in {folder or '.'}")
    return [Target(match, os.path.join(folder, match)) for match in matches]


def _found(file: ChecksFile, name: str) -> Target:
    """A path from the checks file's folder if there is one of that name, else a bundled model."""
    path = os.path.join(os.path.dirname(file.path), name)
    if os.path.lexists(path) or name.endswith((".json", ".yaml", ".yml")) or name.startswith((".", "/")):
        return Target(name, path)
    inside = bundled.path_of(name) if "\0" not in name and "\n" not in name else None
    if inside is None:
        raise bundled.unknown(name)
    return Target(name, inside)


def _matches(folder: str, pattern: str) -> list[str]:
    """The paths that a glob matches, from the folder; links are not followed into, so that a loop of them ends."""
    import pathlib

    root = pathlib.Path("/" if pattern.startswith("/") else folder or ".")
    try:
        matches = sorted(root.glob(pattern.lstrip("/")))
    except (ValueError, NotImplementedError, IndexError) as error:
        raise InputError(f"{pattern} is no glob: {error}") from None
    return [str(match) if pattern.startswith("/") else os.path.relpath(match, root) for match in matches]
