"""What `ffncalc forward` runs: some blocks one after the other, or one FFN alone, on a stream (batch, T, d_model).

The arrays of the only part have that part's names ("q.weight"); of several, "layers.0." and so on stands before them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ffncalc.numeric import block as blocks
from ffncalc.numeric import ffn_rows, moe
from ffncalc.numeric.activations import activation
from ffncalc.numeric.attention import Trace, silent
from ffncalc.numeric.block import Block, Shapes, Weights
from ffncalc.numeric.checks import Array
from ffncalc.numeric.moe import Ffn, Moe, MoeCache


class Network(NamedTuple):
    """Blocks, or one FFN, on a stream of width `d_model`."""

    d_model: int
    parts: tuple[Block | Ffn, ...]


def prefix(network: Network, index: int) -> str:
    """What stands before the names of one part's arrays and steps."""
    return "" if len(network.parts) == 1 else f"layers.{index}."


def shapes(network: Network) -> Shapes:
    """Names and shapes of all arrays, in the order in which they are used."""
    found: Shapes = {}
    for index, part in enumerate(network.parts):
        own = blocks.shapes(part) if isinstance(part, Block) else moe.ffn_shapes(part, network.d_model)
        found |= {prefix(network, index) + name: shape for name, shape in own.items()}
    return found


def is_buffer(name: str) -> bool:
    """Whether an array is no parameter: a bias that only chooses experts is stored beside them."""
    return name.endswith("choice_bias")


def forward(x: Array, network: Network, w: Weights, trace: Trace = silent) -> tuple[Array, list[Any]]:
    """y of x's shape, and the caches of the parts; unchecked. `trace` gets each step as (name, array)."""
    caches = []
    for index, part in enumerate(network.parts):
        start = prefix(network, index)
        x, cache = _forward(x, part, _own(w, start), _within(trace, start))
        caches.append(cache)
    return x, caches


def backward(dy: Array, caches: list[Any], network: Network, w: Weights) -> tuple[Array, Weights]:
    """(dx, gradients by name). The caches are used up."""
    grads: Weights = {}
    for index in reversed(range(len(network.parts))):
        start, part = prefix(network, index), network.parts[index]
        dy, found = _backward(dy, caches[index], part, _own(w, start))
        grads = {start + name: array for name, array in found.items()} | grads
    return dy, grads


def _within(trace: Trace, start: str) -> Trace:
    return trace if trace is silent else lambda name, array: trace(start + name, array)


def _own(w: Weights, start: str) -> Weights:
    return {name.removeprefix(start): array for name, array in w.items() if name.startswith(start)}


def _forward(x: Array, part: Block | Ffn, w: Weights, trace: Trace) -> tuple[Array, Any]:
    if isinstance(part, Block):
        y, cache = blocks.forward(x, part, w, trace)
        if isinstance(part.ffn, Moe) and trace is not silent:
            _trace_experts(cache.ffn.inner if cache.ffn else None, trace)
        return y, cache
    rows, found = ffn_rows.forward(x.reshape(-1, x.shape[-1]), moe.ffn_weights(part, w), activation(part.activation))
    if trace is not silent:
        for name, array in ffn_rows.steps(found).items():
            trace(name, array.reshape(*x.shape[:-1], -1))
        trace("down", rows.reshape(x.shape))
    return rows.reshape(x.shape), found


def _trace_experts(cache: MoeCache | None, trace: Trace) -> None:
    """The hidden units of all experts that ran, one row for each token and expert."""
    if cache is not None:
        hidden = [ffn_rows.steps(call.cache)["hidden"] for call in cache.calls.values()]
        trace("ffn.experts.hidden", np.concatenate(hidden))


def _backward(dy: Array, cache: Any, part: Block | Ffn, w: Weights) -> tuple[Array, Weights]:
    if isinstance(part, Block):
        return blocks.backward(dy, cache, part, w)
    dx, grads = ffn_rows.backward(dy.reshape(-1, dy.shape[-1]), cache)
    return dx.reshape(dy.shape), moe.ffn_gradients(grads)
