"""Attention alone, deeper and deeper: how far the tokens are from all being the same (Dong, Cordonnier & Loukas 2021).

The distance from rank one is ‖X - 1·x̄‖ / ‖X‖ (Frobenius), with x̄ the mean token. It doesn't depend on the scale of X; 0
means that every token has the same vector. An FFN holds it off the longer the more it can stretch what it is given (its
Lipschitz constant), so its weights are drawn with a `gain`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ffncalc.errors import InputError
from ffncalc.numeric import attention as attn
from ffncalc.numeric import ffn_rows, moe
from ffncalc.numeric.activations import activation
from ffncalc.numeric.attention import Attention
from ffncalc.numeric.checks import Array
from ffncalc.numeric.decoder import seeded
from ffncalc.numeric.moe import Ffn

N_HEADS = 4
STACKS = ("attention", "attention + FFN", "attention + skips", "attention + FFN + skips")
ROUNDING = 1e-15  # nearer than this the tokens differ by rounding only
MAX_DEPTH = 1000
MAX_NUMBERS = 2**16


class Setting(NamedTuple):
    """Layers, tokens, width, the seed, and by how many times 1/√d_in the FFN's weights spread."""

    depth: int = 16
    tokens: int = 16
    d_model: int = 32
    seed: int = 0
    gain: float = 3.0


class Curve(NamedTuple):
    """One kind of stack: the distance before the first layer and after each."""

    name: str
    skips: bool
    ffn: bool
    distances: tuple[float, ...]


class Report(NamedTuple):
    """All that `ffncalc lab collapse` says."""

    setting: Setting
    curves: tuple[Curve, ...]


def collapse(setting: Setting) -> Report:
    """Run four stacks on the same random weights, with and without skips, with and without FFNs. Raises InputError."""
    if setting.d_model % N_HEADS:
        raise InputError(f"d_model is {setting.d_model}; a multiple of {N_HEADS} heads is wanted")
    if setting.depth > MAX_DEPTH or setting.tokens < 2 or setting.tokens * setting.d_model > MAX_NUMBERS:
        wanted = f"at most {MAX_DEPTH:,} layers, at least 2 tokens, and at most {MAX_NUMBERS:,} numbers in a stream"
        raise InputError(f"depth {setting.depth:,}, {setting.tokens:,} tokens, d_model {setting.d_model:,}: {wanted}")
    kinds = [(name, "skips" in name, "FFN" in name) for name in STACKS]
    curves = tuple(Curve(*kind, tuple(distances(setting, *kind[1:]))) for kind in kinds)
    for curve in curves:
        if not all(map(math.isfinite, curve.distances)):
            layer = next(i for i, found in enumerate(curve.distances) if not math.isfinite(found))
            raise InputError(f"the numbers of {curve.name} overflow in layer {layer}; choose a smaller depth or gain")
    return Report(setting, curves)


@np.errstate(over="ignore", invalid="ignore")
def distances(setting: Setting, skips: bool, ffn: bool) -> list[float]:
    """The distance from rank one before the first layer and after each."""
    width = setting.d_model
    attention = Attention(N_HEADS, N_HEADS, width // N_HEADS, causal=False)
    mlp = Ffn(4 * width, "gelu", gated=False)
    x = np.random.RandomState([setting.seed, 1]).standard_normal((1, setting.tokens, width))
    found = [distance(x[0])]
    for layer in range(setting.depth):
        w = seeded(attn.shapes(attention, width) | moe.ffn_shapes(mlp, width), layer_seed(setting.seed, layer))
        y = attn.forward(x, attention, w)[0]
        x = x + y if skips else y
        if ffn:
            w |= {name: setting.gain * w[name] for name in ("up.weight", "down.weight")}
            y = ffn_rows.forward(x[0], moe.ffn_weights(mlp, w), activation("gelu"))[0][None]
            x = x + y if skips else y
        found.append(distance(x[0]))
    return found


def layer_seed(seed: int, layer: int) -> int:
    """A seed for one layer's weights, far from those of the layers and seeds next to it."""
    return int(np.random.RandomState([seed, 2, layer]).randint(2**31))


def distance(X: Array) -> float:
    """‖X - 1·x̄‖ / ‖X‖."""
    length = float(np.linalg.norm(X))
    return float(np.linalg.norm(X - X.mean(axis=0))) / length if length else 0.0


def collapsed_at(curve: Curve) -> int | None:
    """The first layer after which the tokens differ by rounding only."""
    return next((layer for layer, found in enumerate(curve.distances) if found <= ROUNDING), None)


def decimal(distance: float) -> float:
    """log10 of a distance, not below that of rounding: what a plot over many orders of magnitude shows."""
    return math.log10(max(distance, ROUNDING))
