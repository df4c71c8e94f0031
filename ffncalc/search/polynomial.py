"""Polynomials of sizes on NumPy arrays: exact in int64 where they provably fit, else in Python ints; in float64 to rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Powers = tuple[int, ...]

CHUNK = 2**15  # points worked on at a time: what is in use stays in a core's own cache
LIMIT = 2**63


def bound(polynomial: Mapping[Powers, int], largest: Sequence[int]) -> int:
    """What no value, and no step on the way to one, exceeds where the sizes are at most `largest`."""
    total = 0
    for powers, coefficient in polynomial.items():
        term = abs(coefficient)
        for size, power in zip(largest, powers, strict=True):
            term *= size**power
        total += term
    return total


def fits(polynomial: Mapping[Powers, int], largest: Sequence[int]) -> bool:
    """Whether int64 holds it everywhere. Exact: the bound is worked out in Python ints."""
    return bound(polynomial, largest) < LIMIT


def evaluate(polynomial: Mapping[Powers, Any], sizes: Sequence[Array]) -> Any:
    """The polynomial's values, by Horner's rule; of `sizes` (one array each, which broadcast) the last is taken out first.

    So on a grid each step but the last works on the grid without its last axis. Coefficients may be numbers or arrays.
    """
    if not sizes:
        return polynomial.get((), 0)
    *others, size = sizes
    by_power: dict[int, dict[Powers, Any]] = {}
    for powers, coefficient in polynomial.items():
        by_power.setdefault(powers[-1], {})[powers[:-1]] = coefficient
    top = max(by_power, default=0)
    result = evaluate(by_power.get(top, {}), others)
    for power in range(top - 1, -1, -1):
        result = result * size
        if power in by_power:
            result = _added(result, evaluate(by_power[power], others))
    return result


def _added(product: Any, term: Any) -> Any:
    """`product + term`, in place where the product is a fresh array of the sum's own shape."""
    if isinstance(product, np.ndarray) and product.dtype != object and np.ndim(term) <= product.ndim:
        if np.broadcast_shapes(np.shape(term), product.shape) == product.shape:
            product += term
            return product
    return product + term


def as_floats(polynomial: Mapping[Powers, int]) -> dict[Powers, float]:
    """The same with float64 coefficients: to rank and filter, never to show."""
    return {powers: float(coefficient) for powers, coefficient in polynomial.items()}


def slabs(shape: Sequence[int], limit: int = CHUNK) -> Iterator[tuple[slice, ...]]:
    """A grid in pieces of at most `limit` points, in row order, each a slice of every axis."""
    steps: list[int] = []
    room = limit
    for n in reversed(shape):
        steps.insert(0, max(1, min(n, room)))
        room = room // n if steps[0] == n else 0
    yield from product(*([slice(i, min(i + step, n)) for i in range(0, n, step)] for n, step in zip(shape, steps, strict=True)))


def spread(sizes: Sequence[Array]) -> list[Array]:
    """One-dimensional arrays as the axes of a grid, ready to broadcast."""
    n = len(sizes)
    return [size.reshape((1,) * i + (-1,) + (1,) * (n - 1 - i)) for i, size in enumerate(sizes)]
