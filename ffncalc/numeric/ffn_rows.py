"""Feed-forward networks, forward and backward side by side, plain and gated.

    plain:  Y = φ(X·W_up + b_up)·W_down + b_down
    gated:  Y = (φ(X·W_gate + b_gate) ⊙ (X·W_up + b_up))·W_down + b_down

Here tokens are rows, X is (rows, d_model), and nothing is checked; `feedforward` has the functions for users.

Between the matrix products the arithmetic runs in place, on chunks of rows that stay in the cache of the core. A
network is also the sum of its hidden units, so any group of them is a network of its own (`_group`): where no cache is
kept for a backward pass, the gate, and all of `recomputed_backward`, are taken a group at a time, and one hidden array
is the most that is needed.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ffncalc.numeric.activations import CHUNK_BYTES, WORK_ROWS, Activation
from ffncalc.numeric.checks import Array
from ffncalc.numeric.matmul import matmul

GROUP_BYTES = 1 << 22  # one pre-activation of a group of hidden units


class Weights(NamedTuple):
    """The arrays of one FFN, matrices as in the text: (d_model, d_ff) up and gate, (d_ff, d_model) down.

    `gate` is None for a plain FFN; a bias that is None isn't there. Gradients come in the same shape.
    """

    up: Array
    down: Array
    gate: Array | None = None
    b_up: Array | None = None
    b_down: Array | None = None
    b_gate: Array | None = None

    def map(self, change: Callable[[Array], Array]) -> "Weights":
        """The same with each array that there is changed."""
        arrays: list[Any] = [None if array is None else change(array) for array in self]
        return Weights(*arrays)


class Cache(NamedTuple):
    """What `backward` needs of `forward`: its operands, and X·W_up and X·W_gate without their biases."""

    X: Array
    weights: Weights
    act: Activation
    up: Array
    gate: Array | None


class Gradients(NamedTuple):
    """dX, and the gradient of each weight that there is (layout as given)."""

    X: Array
    weights: Weights


# ---- elementwise, in chunks of rows


def _chunks(array: Array) -> Iterator[tuple[slice, Array, Array, list[Array]]]:
    """Chunks of rows; with each, two flat arrays of its size and the kernels' work rows, all of them scratch."""
    n_rows, n_columns = array.shape
    step = max(1, CHUNK_BYTES // max(1, n_columns * array.itemsize))
    scratch = np.empty((2 + WORK_ROWS, min(step, n_rows) * n_columns), array.dtype)
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        first, second, *work = scratch[:, : (rows.stop - start) * n_columns]
        yield rows, first, second, work


def _activate(act: Activation, Z: Array, bias: Array | None, H: Array) -> None:
    """H = φ(Z + bias) for dense Z and H; H may be Z."""
    for rows, shifted, _, work in _chunks(Z):
        z, h = Z[rows], H[rows]
        if bias is not None:
            z = np.add(z, bias, out=shifted.reshape(z.shape))
        act.value(z.reshape(-1), h.reshape(-1), work)


def _activate_backward(act: Activation, Z: Array, bias: Array | None, dH: Array) -> None:
    """(Z, dH) become (H, dZ)."""
    for rows, slope, _, work in _chunks(Z):
        z, dh = Z[rows], dH[rows]
        if bias is not None:
            z += bias
        flat = z.reshape(-1)
        act.both(flat, flat, slope, work)
        dh *= slope.reshape(z.shape)


def _gate(act: Activation, G: Array, U: Array, b_gate: Array | None, b_up: Array | None, H: Array) -> None:
    """H = φ(G + b_gate) ⊙ (U + b_up) for dense G; H may be U."""
    for rows, a, shifted, work in _chunks(G):
        g, u = G[rows], U[rows]
        if b_gate is not None:
            g = np.add(g, b_gate, out=shifted.reshape(g.shape))
        act.value(g.reshape(-1), a, work)
        if b_up is not None:
            u = np.add(u, b_up, out=shifted.reshape(u.shape))
        np.multiply(a.reshape(u.shape), u, out=H[rows])


def _gate_backward(act: Activation, G: Array, U: Array, b_gate: Array | None, b_up: Array | None, dH: Array) -> None:
    """(G, U, dH) become (dG, H, dU)."""
    for rows, a, slope, work in _chunks(G):
        g, u, dh = G[rows], U[rows], dH[rows]
        if b_gate is not None:
            g += b_gate
        if b_up is not None:
            u += b_up
        act.both(g.reshape(-1), a, slope, work)
        value, change = a.reshape(g.shape), slope.reshape(g.shape)
        change *= u
        np.multiply(change, dh, out=g)
        dh *= value
        u *= value


# ---- forward and backward


def _group_width(n_rows: int, d_ff: int, itemsize: int) -> int:
    """Hidden units to a group, so that one pre-activation takes about GROUP_BYTES: equal groups, multiples of 64."""
    n_groups = max(1, round(n_rows * d_ff * itemsize / GROUP_BYTES))
    return -(-d_ff // (64 * n_groups)) * 64


def _groups(d_ff: int, width: int) -> Iterator[slice]:
    return (slice(start, min(start + width, d_ff)) for start in range(0, d_ff, width))


def _group(weights: Weights, units: slice) -> Weights:
    """The FFN of these hidden units alone (without the output bias, which is no unit's)."""
    return Weights(
        up=weights.up[:, units],
        down=weights.down[units],
        gate=None if weights.gate is None else weights.gate[:, units],
        b_up=None if weights.b_up is None else weights.b_up[units],
        b_gate=None if weights.b_gate is None else weights.b_gate[units],
    )


def _project(X: Array, weights: Weights) -> tuple[Array, Array | None]:
    return matmul(X, weights.up), None if weights.gate is None else matmul(X, weights.gate)


def _write(H: Array, weights: Weights) -> Array:
    Y = matmul(H, weights.down)
    if weights.b_down is not None:
        Y += weights.b_down
    return Y


def forward(X: Array, weights: Weights, act: Activation) -> tuple[Array, Cache]:
    """Y of shape (rows, d_model) for X of the same shape, and the cache for `backward`."""
    U, G = _project(X, weights)
    H = np.empty_like(U)
    if G is None:
        _activate(act, U, weights.b_up, H)
    else:
        _gate(act, G, U, weights.b_gate, weights.b_up, H)
    return _write(H, weights), Cache(X, weights, act, U, G)


def hidden(X: Array, weights: Weights, act: Activation) -> Array:
    """H alone, (rows, d_ff): one hidden array, and a group's worth of gate."""
    H = matmul(X, weights.up)
    if weights.gate is None:
        _activate(act, H, weights.b_up, H)
        return H
    n_rows, d_ff = H.shape
    width = _group_width(n_rows, d_ff, H.itemsize)
    buffer = np.empty(n_rows * min(width, d_ff), H.dtype)
    for units in _groups(d_ff, width):
        part, U = _group(weights, units), H[:, units]
        assert part.gate is not None
        G = matmul(X, part.gate, out=buffer[: U.size].reshape(U.shape))
        _gate(act, G, U, part.b_gate, part.b_up, U)
    return H


def forward_only(X: Array, weights: Weights, act: Activation) -> Array:
    """Y alone, without a cache for `backward`."""
    return _write(hidden(X, weights, act), weights)


def empty_gradients(weights: Weights) -> Weights:
    """Room for the gradients of these weights."""
    return weights.map(lambda array: np.empty(array.shape, array.dtype))


def _add_product(total: Array, A: Array, B: Array, scratch: Array) -> None:
    """total += A·B, as many columns at a time as fit into the scratch, so that the product needs no room of its own."""
    n_rows, n_columns = total.shape
    width = scratch.size // max(1, n_rows)
    if width < min(256, n_columns):
        scratch, width = np.empty(total.size, total.dtype), n_columns
    for columns in _groups(n_columns, width):
        out = total[:, columns]
        out += matmul(A, B[:, columns], out=scratch[: out.size].reshape(out.shape))


def _backward_into(dY: Array, cache: Cache, dX: Array, grads: Weights, *, first: bool) -> None:
    """Fill `grads` but for b_down's, and set (first) or add to dX. What the cache holds is used up."""
    X, weights, act, U, G = cache
    dH = matmul(dY, weights.down.T)
    if G is None:
        _activate_backward(act, U, weights.b_up, dH)
    else:
        _gate_backward(act, G, U, weights.b_gate, weights.b_up, dH)
    H, dU, dG, spare = U, dH, G, U.reshape(-1)
    matmul(H.T, dY, out=grads.down)
    matmul(X.T, dU, out=grads.up)
    if first:
        matmul(dU, weights.up.T, out=dX)
    else:
        _add_product(dX, dU, weights.up.T, spare)
    if dG is not None and weights.gate is not None:
        matmul(X.T, dG, out=grads.gate)
        _add_product(dX, dG, weights.gate.T, spare)
    if grads.b_up is not None:
        dU.sum(axis=0, out=grads.b_up)
    if grads.b_gate is not None and dG is not None:
        dG.sum(axis=0, out=grads.b_gate)


def backward(dY: Array, cache: Cache) -> Gradients:
    """The gradients for dY of shape (rows, d_model). The cache is used up: its arrays are written over."""
    dX, grads = np.empty_like(cache.X), empty_gradients(cache.weights)
    _backward_into(dY, cache, dX, grads, first=True)
    if grads.b_down is not None:
        dY.sum(axis=0, out=grads.b_down)
    return Gradients(dX, grads)


def recomputed_backward(dY: Array, X: Array, weights: Weights, act: Activation) -> Gradients:
    """`backward` without a cache: a group of hidden units at a time is computed again, then differentiated."""
    dX, grads = np.empty_like(X), empty_gradients(weights)
    d_ff = weights.up.shape[1]
    for units in _groups(d_ff, _group_width(len(X), d_ff, X.itemsize)):
        part = _group(weights, units)
        _backward_into(dY, Cache(X, part, act, *_project(X, part)), dX, _group(grads, units), first=units.start == 0)
    if grads.b_down is not None:
        dY.sum(axis=0, out=grads.b_down)
    return Gradients(dX, grads)


def steps(cache: Cache) -> dict[str, Array]:
    """The intermediate steps of `forward` again, by name: pre-activations, the activation, the hidden units."""
    U = cache.up if cache.weights.b_up is None else cache.up + cache.weights.b_up
    H = np.empty_like(cache.up)
    if cache.gate is None:
        _activate(cache.act, cache.up, cache.weights.b_up, H)
        return {"up": U, "hidden": H}
    G = cache.gate if cache.weights.b_gate is None else cache.gate + cache.weights.b_gate
    A = np.empty_like(G)
    _activate(cache.act, cache.gate, cache.weights.b_gate, A)
    return {"gate": G, "up": U, "activated": A, "hidden": A * U}
