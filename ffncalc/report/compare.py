"""Models side by side, at one context length for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ffncalc.errors import InputError
from ffncalc.model import Model
from ffncalc.report.flops import Flops, flops
from ffncalc.report.params import Params, params
from ffncalc.workload import Workload, for_model


class Comparison(NamedTuple):
    """Each model's parameters and FLOPs (None where those aren't counted), all at `seq_len`."""

    models: tuple[tuple[Params, Flops | None], ...]
    seq_len: int
    warnings: tuple[str, ...]


def compare(models: Sequence[Model], seq_len: int | None = None) -> Comparison:
    """The models' numbers. Without `seq_len` the context is the shortest of the models' defaults."""
    length = seq_len or min(for_model(Workload(), model.spec).seq_len or 0 for model in models)
    pairs: list[tuple[Params, Flops | None]] = []
    warnings: list[str] = []
    for model in models:
        counted: Flops | None = None
        try:
            counted = flops(model, Workload(seq_len=length))
            warnings += counted.warnings
        except InputError as error:
            warnings += [*model.spec.warnings, str(error)]
        pairs.append((params(model), counted))
    return Comparison(tuple(pairs), length, tuple(warnings))
