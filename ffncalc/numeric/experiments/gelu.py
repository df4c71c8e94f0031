"""GELU as a mean: keep an input with the probability that a standard normal number is below it, else make it 0.

The mask is drawn from normal numbers and never from Φ, so that what the mean closes in on is found, not put in.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ffncalc.errors import InputError
from ffncalc.numeric.activations import gelu, normal_cdf
from ffncalc.numeric.checks import Array

CHUNK = 1 << 20
MAX_SAMPLES = 10**8
CURVE = tuple(z / 2 for z in range(-6, 7))
DENSE = tuple(z / 10 for z in range(-30, 31))


class Estimate(NamedTuple):
    """The mean of m·z over a number of masks m, its standard error, and how many of these it is off z·Φ(z)."""

    samples: int
    mean: float
    error: float
    off: float


class Point(NamedTuple):
    """One input with all samples: the mean, its standard error, and z·Φ(z)."""

    z: float
    mean: float
    error: float
    gelu: float


class Report(NamedTuple):
    """All that `ffncalc lab gelu` says: one input with more and more samples, then a curve, and GELU itself to draw."""

    z: float
    kept: float
    gelu: float
    estimates: tuple[Estimate, ...]
    curve: tuple[Point, ...]
    exact: tuple[tuple[float, float], ...]


def masked_mean(z: float, samples: int = 10**6, seed: int = 0) -> Report:
    """GELU of z by masks, at 100 samples, 1,000 and so on up to `samples`. Raises InputError."""
    if not math.isfinite(z):
        raise InputError(f"--z is {z}; a finite number is wanted")
    if samples > MAX_SAMPLES:
        raise InputError(f"--samples is {samples:,}; at most {MAX_SAMPLES:,} are drawn")
    inputs = np.array([z, *CURVE])
    counted = dict(_kept(inputs, _sizes(samples), seed))
    exact = gelu(inputs)
    estimates = tuple(Estimate(n, *_mean(z, int(kept[0]), n, float(exact[0]))) for n, kept in counted.items())
    last = counted[samples]
    curve = tuple(
        Point(at, *_mean(at, int(last[i]), samples, float(exact[i]))[:2], float(exact[i]))
        for i, at in enumerate(CURVE, 1)
    )
    smooth = tuple(zip(DENSE, gelu(DENSE).tolist(), strict=True))
    return Report(z, float(normal_cdf(z)), float(exact[0]), estimates, curve, smooth)


def _sizes(samples: int) -> list[int]:
    powers = [10**power for power in range(2, 10) if 10**power < samples]
    return [*powers, samples]


def _kept(inputs: Array, sizes: list[int], seed: int) -> list[tuple[int, Array]]:
    """How many of the first n normal numbers are below each input, for each n of `sizes`: one stream for all."""
    random, drawn = np.random.RandomState(seed), 0
    below, found = np.zeros(len(inputs), np.int64), []
    for size in sizes:
        while drawn < size:
            noise = np.sort(random.standard_normal(min(CHUNK, size - drawn)))
            below += np.searchsorted(noise, inputs)
            drawn += noise.size
        found.append((size, below.copy()))
    return found


def _mean(z: float, kept: int, samples: int, exact: float) -> tuple[float, float, float]:
    """Mean, standard error, and distance in standard errors.

    The error is |z|·√(p(1 - p)/n) with p = (kept + 2)/(n + 4) (Agresti & Coull 1998), which isn't 0 where all or none
    were kept.
    """
    mean, p = z * kept / samples + 0.0, (kept + 2) / (samples + 4)
    error = abs(z) * math.sqrt(p * (1 - p) / samples)
    return mean, error, (mean - exact) / error if error else 0.0
