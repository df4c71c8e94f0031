"""A network run once: every step summed up, the multiply-accumulates counted, every gradient checked."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ffncalc.numeric import network as networks
from ffncalc.numeric.block import Weights
from ffncalc.numeric.checks import Array, compute_dtype, report_nan
from ffncalc.numeric.decoder import seeded
from ffncalc.numeric.differences import check_gradients
from ffncalc.numeric.matmul import count_macs
from ffncalc.numeric.network import Network

BINS = 12
NEARLY_OFF = 0.01  # of the spread of the hidden units of its step
SQUARABLE = 1e150  # larger numbers are divided by the largest before their spread is taken
HIDDEN = ("hidden", "activated")
# A gradient agrees with its finite differences up to this, relative to its length: what rounding leaves in each dtype.
AGREES = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-4}


class Step(NamedTuple):
    """One intermediate array, summed up over its finite entries (a masked score is -inf; all masked: None).

    `counts` are those of BINS equal bins from `low` to `high`; `off` and `nearly_off` the shares of hidden units that
    are exactly 0, and not 0 but within NEARLY_OFF of the spread of it (None for other steps); `checksum` is the CRC-32
    of the array's bytes, little-endian.
    """

    name: str
    shape: tuple[int, ...]
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    finite: float
    off: float | None
    nearly_off: float | None
    counts: tuple[int, ...]
    checksum: str


class Gradient(NamedTuple):
    """The gradient of Σ y·dy in one array: its length, and its slope along a random direction, twice.

    `slope` is from the backward pass, `measured` from two runs in float64; `error` is their difference relative to the
    length. A number that overflowed is None.
    """

    name: str
    shape: tuple[int, ...]
    norm: float | None
    slope: float | None
    measured: float | None
    error: float | None
    agrees: bool


class Run(NamedTuple):
    """One run: the output, the steps, what was multiplied, and the gradients (none without a backward pass)."""

    y: Array
    steps: tuple[Step, ...]
    macs: int
    backward_macs: int | None
    gradients: tuple[Gradient, ...]
    kept: dict[str, Array]


def draw_weights(network: Network, seed: int) -> Weights:
    """Random arrays for a network: the same seed gives the same arrays in every version of NumPy."""
    return seeded(networks.shapes(network), seed)


def draw_rows(shape: tuple[int, ...], seed: int, stream: int) -> Array:
    """Standard normal rows, independent of the weights of the same seed; `stream` tells input and gradient apart."""
    return np.random.RandomState([seed, stream]).standard_normal(shape)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def run(x: Array, network: Network, weights: Weights, dtype: str, seed: int, *, backward: bool, keep: bool) -> Run:
    """Run the network on x, (T, d_model) or (batch, T, d_model), in `dtype`; `keep` keeps every array of the way.

    float16 is rounded to at both ends and computed in float32. InputError names an array that holds NaN.
    """
    compute = compute_dtype(np.dtype(dtype))
    w = {name: array.astype(dtype).astype(compute) for name, array in weights.items()}
    rows = x.astype(dtype).astype(compute).reshape(-1, *x.shape[-2:])
    steps: list[Step] = []
    kept: dict[str, Array] = {}

    def trace(name: str, array: Array) -> None:
        seen = array[0] if x.ndim == 2 and array.ndim > 2 else array
        steps.append(summary(name, seen))
        if keep:
            kept[f"steps.{name}"] = seen.copy()

    with count_macs() as macs:
        y, caches = networks.forward(rows, network, w, trace)
    report_nan(y, {"the input": x, **weights})
    backward_macs: int | None = None
    gradients: tuple[Gradient, ...] = ()
    if backward:
        dy = draw_rows(rows.shape, seed, 2)
        with count_macs() as back:
            dx, grads = networks.backward(dy.astype(compute), caches, network, w)
        backward_macs = back.total
        grads = {"x": dx} | {name: grads[name] for name in w}
        gradients = tuple(checked(rows, dy, network, w, grads, AGREES[dtype], seed))
        kept |= {f"gradients.{name}": array for name, array in grads.items()} if keep else {}
    return Run(y.astype(dtype).reshape(x.shape), in_order(steps), macs.total, backward_macs, gradients, kept)


def in_order(steps: list[Step]) -> tuple[Step, ...]:
    """The steps as they follow each other: the hidden units of experts are known only when their block is done."""
    ordered: list[Step] = []
    for step in steps:
        chosen = step.name.replace("experts.hidden", "chosen_weights")
        at = [s.name for s in ordered].index(chosen) + 1 if chosen != step.name else len(ordered)
        ordered.insert(at, step)
    return tuple(ordered)


def summary(name: str, array: Array) -> Step:
    """One array summed up."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    checksum = f"{zlib.crc32(little.tobytes()):08x}"
    finite = array[np.isfinite(array)].astype(np.float64)
    share = finite.size / array.size if array.size else 1.0
    if not finite.size:
        return Step(name, array.shape, None, None, None, None, share, None, None, (0,) * BINS, checksum)
    low, high = float(finite.min()), float(finite.max())
    unit = 1.0 if max(-low, high) < SQUARABLE else max(-low, high)
    std = unit * float((finite / unit).std())
    off, nearly_off = _off(finite, std) if name.rpartition(".")[2] in HIDDEN else (None, None)
    counts = tuple(_histogram(finite, low, high))
    mean = unit * float((finite / unit).mean())
    return Step(name, array.shape, mean, std, low, high, share, off, nearly_off, counts, checksum)


def _off(units: Array, spread: float) -> tuple[float, float]:
    off = float(np.mean(units == 0))
    return off, float(np.mean(np.abs(units) <= NEARLY_OFF * spread)) - off


def _histogram(values: Array, low: float, high: float) -> Iterable[int]:
    """Counts in BINS equal bins; numpy.histogram would do, but not for numbers whose distance overflows."""
    width = high / 2 - low / 2
    places = np.zeros(values.size) if width == 0 else (values / 2 - low / 2) / width * BINS
    return [int(count) for count in np.bincount(np.minimum(places.astype(int), BINS - 1), minlength=BINS)]


def checked(
    rows: Array, dy: Array, network: Network, w: Weights, grads: Weights, limit: float, seed: int
) -> Iterable[Gradient]:
    """Each gradient beside its finite differences, which are taken in float64."""
    arrays = {name: array.astype(np.float64) for name, array in {"x": rows, **w}.items()}
    exact = {name: array.astype(np.float64) for name, array in grads.items()}

    def loss(moved: Weights) -> float:
        return float((networks.forward(moved["x"], network, moved)[0] * dy).sum())

    for name, slope in check_gradients(loss, arrays, exact, seed).items():
        shape = grads[name].shape[1:] if name == "x" and len(rows) == 1 else grads[name].shape
        norm, backward, measured, error = map(_if_finite, (slope.norm, slope.backward, slope.measured, slope.error))
        yield Gradient(name, shape, norm, backward, measured, error, error is not None and error <= limit)


def _if_finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
