"""The matched FFN variants run on the same input with the same random weights, as far as each has use for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ffncalc.numeric import ffn_rows
from ffncalc.numeric.activations import activation
from ffncalc.numeric.checks import Array
from ffncalc.numeric.feedforward import VARIANTS
from ffncalc.numeric.ffn_rows import Weights
from ffncalc.numeric.matmul import count_macs


class Output(NamedTuple):
    """What one variant made of the input: the spread of its output, the hidden units that are off, MACs executed."""

    spread: float
    off: float
    macs: int


def run(widths: Mapping[str, int], d_model: int, tokens: int, seed: int) -> dict[str, Output]:
    """Run variants of the given hidden widths on `tokens` random rows, in float32.

    Matrices have the spread 1/√d_in; a narrower variant has the first hidden units of a wider one, its W_down scaled.
    """
    random = np.random.RandomState(seed)
    widest = max(widths.values())
    X = random.standard_normal((tokens, d_model)).astype(np.float32)
    up, gate = (_spread(random.standard_normal((d_model, widest)), d_model) for _ in range(2))
    rows = random.standard_normal((widest, d_model))
    down = {d_ff: _spread(rows[:d_ff], d_ff) for d_ff in set(widths.values())}
    return {name: _output(X, name, Weights(up[:, :d_ff], down[d_ff], gate[:, :d_ff])) for name, d_ff in widths.items()}


def _spread(draws: Array, d_in: int) -> Array:
    spread: Array = (draws / np.sqrt(d_in)).astype(np.float32)
    return spread


def _output(X: Array, name: str, weights: Weights) -> Output:
    variant = VARIANTS[name]
    weights = weights if variant.gated else weights._replace(gate=None)
    with count_macs() as macs:
        Y, cache = ffn_rows.forward(X, weights, activation(variant.activation))
    return Output(float(Y.std()), float((ffn_rows.steps(cache)["hidden"] == 0).mean()), macs.total)
