"""Polynomials of sizes on NumPy arrays: exact in int64 where they provably fit, else in Python ints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Powers = tuple[int, ...]

CHUNK = 2**16  # points worked on at a time: what is in use stays in the cache
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


class Step(NamedTuple):
    """size × inner + rest: a polynomial in nested form. `size` is a place among the sizes."""

    size: int
    inner: Any
    rest: Any


def nested(polynomial: Mapping[Powers, Any], on_grid: bool) -> Any:
    """A polynomial as steps (Horner's rule), or the number or table of numbers that it is where no size is left.

    On a grid the last axis is taken out first, so that all steps but the last two work on a smaller grid; in columns of
    equal length the size that stands in most terms, so that there are few steps.
    """
    counts = [sum(1 for powers in polynomial if powers[i]) for i in range(len(next(iter(polynomial), ())))]
    there = [i for i, count in enumerate(counts) if count]
    if not there:
        return next(iter(polynomial.values()), 0)
    i = there[-1] if on_grid else max(there, key=counts.__getitem__)
    inner = {(*powers[:i], powers[i] - 1, *powers[i + 1 :]): c for powers, c in polynomial.items() if powers[i]}
    rest = {powers: c for powers, c in polynomial.items() if not powers[i]}
    return Step(i, nested(inner, on_grid), nested(rest, on_grid))


def evaluate(
    step: Any,
    sizes: Sequence[Array],
    codes: Array | None = None,
    out: Array | None = None,
    pool: list[Array] | None = None,
) -> Any:
    """The values, for one array a size (which broadcast); where a coefficient is a table, `codes` says which entry.

    The result is a number where no size is in it, else an array of its own; it is put into `out` if that is given. In a
    `pool` arrays of the shape of every size are left behind, to be used again by the next call.
    """
    if not isinstance(step, Step):
        value = step
        if isinstance(step, np.ndarray):
            assert codes is not None
            value = step.take(codes, mode="clip")  # no code is out of bounds, and clipping is faster than looking
        return value if out is None else _filled(out, value)
    inner, rest = evaluate(step.inner, sizes, codes, pool=pool), evaluate(step.rest, sizes, codes, pool=pool)
    if _is(inner, 1) and not _is(rest, 0):
        return _combined(np.add, rest, sizes[step.size], out, pool)
    if _is(rest, 0):
        return _combined(np.multiply, inner, sizes[step.size], out, pool)
    value = _combined(np.add, _combined(np.multiply, inner, sizes[step.size], None, pool), rest, out, pool)
    if pool is not None and isinstance(rest, np.ndarray):
        pool.append(rest)
    return value


def _filled(out: Array, value: Any) -> Array:
    out[...] = value
    return out


def _is(value: Any, number: int) -> bool:
    return not isinstance(value, np.ndarray) and bool(value == number)


def _combined(operation: Any, own: Any, other: Any, out: Array | None, pool: list[Array] | None) -> Any:
    """operation(own, other), in `out`, else in the place of `own` where it fits there, else in an array of the pool."""
    is_array = isinstance(own, np.ndarray) and object not in (own.dtype, getattr(other, "dtype", None))
    if out is not None:
        if is_array and pool is not None:
            pool.append(own)
    elif is_array and (pool is not None or np.broadcast_shapes(own.shape, np.shape(other)) == own.shape):
        out = own
    elif pool:
        out = pool.pop()
    return operation(own, other, out=out)


def slabs(shape: Sequence[int], limit: int = CHUNK) -> Iterator[tuple[slice, ...]]:
    """A grid in pieces of at most `limit` points, in row order, each a slice of every axis."""
    steps: list[int] = []
    room = limit
    for n in reversed(shape):
        steps.insert(0, max(1, min(n, room)))
        room //= n
    yield from product(
        *([slice(i, min(i + step, n)) for i in range(0, n, step)] for n, step in zip(shape, steps, strict=True))
    )


def spread(sizes: Sequence[Array]) -> list[Array]:
    """One-dimensional arrays as the axes of a grid, ready to broadcast."""
    n = len(sizes)
    return [size.reshape((1,) * i + (-1,) + (1,) * (n - 1 - i)) for i, size in enumerate(sizes)]
