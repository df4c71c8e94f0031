"""The numbers of an earlier day, in a JSON file that `check --record` writes: the same numbers give the same bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ffncalc.checks.file import ChecksFile
from ffncalc.config import read_file
from ffncalc.errors import InputError
from ffncalc.export import to_json
from ffncalc.text import parse

SCHEMA = "ffncalc/baseline/1"
KEPT = ("dims", "params", "ffn_share", "flops", "crossover_seq_len")
KEPT_FLOPS = ("workload", "per_token", "per_source_token", "per_sequence", "total")


def contents(models: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """The text of a baseline: each model's numbers, the models in the order of their names."""
    found = {name: _kept(tree) for name, tree in models}
    return to_json({"schema": SCHEMA, "models": dict(sorted(found.items()))}) + "\n"


def path_of(file: ChecksFile) -> str:
    """Where the baseline of a checks file is written. Raises InputError where the file names a model in its place."""
    if not file.baseline.endswith(".json"):
        raise InputError(
            f"{file.path}: baseline {file.baseline!r} is a model; --record writes a file that ends in .json"
        )
    path = os.path.join(os.path.dirname(file.path), file.baseline)
    if os.path.isfile(path) and recorded(path) is None:
        raise InputError(f"{path}: holds something else than a baseline; it is not overwritten")
    return path


def _kept(tree: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: tree[key] for key in KEPT if key in tree}
    if "flops" in kept:
        kept["flops"] = {key: tree["flops"][key] for key in KEPT_FLOPS}
    return kept


def recorded(path: str) -> dict[str, dict[str, Any]] | None:
    """The models of a baseline; None where there is no such file, or where it is something else (a config)."""
    if not os.path.isfile(path):
        return None
    values = parse(read_file(path), path, as_json=True).values
    if not isinstance(values, dict) or not str(values.get("schema", "")).startswith("ffncalc/baseline/"):
        return None
    models = values.get("models")
    if (
        values["schema"] != SCHEMA
        or not isinstance(models, dict)
        or not all(isinstance(m, dict) for m in models.values())
    ):
        raise InputError(f"{path}: not a baseline of this version; write it again with ffncalc check --record")
    return models
