"""What a Python user calls: `load`, `params`, `flops`, on a model or on whatever names one."""

from __future__ import annotations

from typing import Any

from ffncalc.loading import load
from ffncalc.model import Model
from ffncalc.report import flops as flops_report
from ffncalc.report import params as params_report
from ffncalc.workload import Workload

__all__ = ["flops", "load", "params"]


def params(model: Model | str | dict[str, Any]) -> params_report.Params:
    """Every parameter of a model, by component, per kind of layer and in total.

    `model` is what `load` returns, or anything that `load` takes. Each number is an expression: `.value` is the exact
    int (an expression also equals that int), `.formula()` and `.substituted()` say how it comes about. Raises
    InputError where the config can't be read.
    """
    return params_report.params(_loaded(model))


def flops(
    model: Model | str | dict[str, Any],
    seq_len: int | None = None,
    *,
    source_len: int | None = None,
    batch: int = 1,
    causal: bool = False,
    passes: str = "forward",
    tokens: int | None = None,
) -> flops_report.Flops:
    """Matmul FLOPs of a model (1 multiply-accumulate is 2), per token and of the whole batch.

    `seq_len` is T, the tokens of a sequence (default: 2048, or the position table's length if that is shorter),
    `source_len` the rows of an encoder beside a decoder; `causal` counts only the pairs that the mask leaves; `passes`
    is forward, train (3 x) or recompute (4 x); `tokens` adds the total of a training run. Raises InputError where the
    config can't be read or the family's FLOPs aren't counted.
    """
    return flops_report.flops(_loaded(model), Workload(seq_len, source_len, batch, causal, passes, tokens))


def _loaded(model: Model | str | dict[str, Any]) -> Model:
    return model if isinstance(model, Model) else load(model)
