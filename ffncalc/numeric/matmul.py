"""The one matrix product of the numeric mode, which can count.

Every contraction goes through `matmul`, so that the multiply-accumulates executed can be held against those that the
calculator predicts. `count_macs` counts those of the current thread (or task) only: the counter lives in a context
variable, so threads don't mix and no lock is needed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from ffncalc.numeric.checks import Array


class Macs:
    """A running total of multiply-accumulates (1 MAC = 2 FLOPs), a Python int."""

    def __init__(self) -> None:
        self.total = 0


_counter: ContextVar[Macs | None] = ContextVar("macs", default=None)


@contextmanager
def count_macs() -> Iterator[Macs]:
    """Count the multiply-accumulates executed inside the `with`; nested counters each see what runs inside them."""
    macs, outer = Macs(), _counter.get()
    token = _counter.set(macs)
    try:
        yield macs
    finally:
        _counter.reset(token)
        if outer is not None:
            outer.total += macs.total


def _for_blas(a: Array) -> Array:
    """BLAS wants one axis of the matrix dense; NumPy falls back to a loop some 50 times slower for every other view."""
    return a if a.itemsize in a.strides[-2:] else np.ascontiguousarray(a)


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """a·b for (..., m, k) and (..., k, n), counted as (product of the leading axes)·m·k·n."""
    product: Array = np.matmul(_for_blas(a), _for_blas(b), out=out)
    macs = _counter.get()
    if macs is not None:
        macs.total += product.size * a.shape[-1]
    return product


def linear(x: Array, weights: dict[str, Array], name: str) -> Array:
    """x·W (+ bias, if there is one) for x of shape (..., d_in) and W of shape (d_in, d_out)."""
    weight, bias = weights[f"{name}.weight"], weights.get(f"{name}.bias")
    y = matmul(x.reshape(-1, x.shape[-1]), weight)
    if bias is not None:
        y += bias
    return y.reshape(*x.shape[:-1], weight.shape[1])


def linear_backward(dy: Array, x: Array, weights: dict[str, Array], name: str) -> tuple[Array, dict[str, Array]]:
    """dx, and the gradients of the weight and the bias under their names."""
    rows, d_rows = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    grads = {f"{name}.weight": matmul(rows.T, d_rows)}
    if f"{name}.bias" in weights:
        grads[f"{name}.bias"] = d_rows.sum(axis=0)
    return matmul(d_rows, weights[f"{name}.weight"].T).reshape(x.shape), grads
