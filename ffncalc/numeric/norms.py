"""RMS and layer normalisation over the last axis, forward and backward.

    layer:  y = (x - mean(x)) / √(var(x) + eps) ⊙ (offset + weight) + bias
    rms:    y = x / √(mean(x²) + eps) ⊙ (offset + weight) + bias

`offset` is 1 in the Gemma family, whose weights are stored as the difference from 1, and 0 elsewhere.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ffncalc.numeric.checks import Array, expect_rows, expect_shape, prepare, report_nan


class Norm(NamedTuple):
    """One kind of normalisation; its weight and bias are arrays elsewhere. weight=False: none is learned (OLMo)."""

    kind: Literal["rms", "layer"] = "rms"
    eps: float = 1e-6
    bias: bool = False
    offset: float = 0.0
    weight: bool = True


class NormCache(NamedTuple):
    """What the backward pass needs."""

    norm: Norm
    unit: Array
    inverse: Array
    weight: Array | None


def forward(x: Array, norm: Norm, weight: Array | None, bias: Array | None) -> tuple[Array, NormCache]:
    """y of x's shape, and the cache; unchecked."""
    centred = x - x.mean(axis=-1, keepdims=True) if norm.kind == "layer" else x
    inverse = 1 / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + norm.eps)
    unit = centred * inverse
    y = unit if weight is None else unit * (weight + norm.offset)
    if bias is not None:
        y = y + bias
    return y, NormCache(norm, unit, inverse, weight)


def backward(dy: Array, cache: NormCache) -> tuple[Array, Array, Array]:
    """(dx, d_weight, d_bias), the last two summed over all rows."""
    norm, unit, inverse, weight = cache
    rows = tuple(range(dy.ndim - 1))
    d_unit = dy if weight is None else dy * (weight + norm.offset)
    dx = d_unit - unit * (d_unit * unit).mean(axis=-1, keepdims=True)
    if norm.kind == "layer":
        dx -= d_unit.mean(axis=-1, keepdims=True)
    return dx * inverse, (dy * unit).sum(axis=rows), dy.sum(axis=rows)


def shapes(norm: Norm, name: str, width: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the arrays of one norm called `name`."""
    parts = [part for part, there in (("weight", norm.weight), ("bias", norm.bias)) if there]
    return {f"{name}.{part}": (width,) for part in parts}


def named_forward(x: Array, norm: Norm, weights: dict[str, Array], name: str) -> tuple[Array, NormCache]:
    """`forward` with the weight and bias called `name`."""
    return forward(x, norm, weights.get(f"{name}.weight"), weights.get(f"{name}.bias"))


def named_backward(dy: Array, cache: NormCache, name: str) -> tuple[Array, dict[str, Array]]:
    """`backward`, with the gradients under their names."""
    dx, d_weight, d_bias = backward(dy, cache)
    grads = {"weight": d_weight, "bias": d_bias}
    return dx, {key: grads[key.rpartition(".")[2]] for key in shapes(cache.norm, name, dy.shape[-1])}


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def _normalise(x: ArrayLike, weight: ArrayLike | None, bias: ArrayLike | None, norm: Norm) -> Array:
    named = {"x": x, "weight": weight, "bias": bias}
    (rows, gain, shift), dtype = prepare(named, optional=("weight", "bias"))
    expect_rows("x", rows)
    for name, array in (("weight", gain), ("bias", shift)):
        if array is not None:
            expect_shape(name, array, rows.shape[-1:], "(d_model)")
    y, _ = forward(rows, norm, gain, shift)
    report_nan(y, named)
    result: Any = y.astype(dtype, copy=False)
    return np.array(result) if result is rows else result


def rms_norm(x: ArrayLike, weight: ArrayLike | None = None, *, eps: float = 1e-6, offset: float = 0.0) -> Array:
    """RMS normalisation (Zhang & Sennrich 2019) over the last axis of x; offset=1 for Gemma's stored weights."""
    return _normalise(x, weight, None, Norm("rms", eps, offset=offset))


def layer_norm(
    x: ArrayLike, weight: ArrayLike | None = None, bias: ArrayLike | None = None, *, eps: float = 1e-5
) -> Array:
    """Layer normalisation (Ba et al. 2016) over the last axis of x."""
    return _normalise(x, weight, bias, Norm("layer", eps, bias=bias is not None))
