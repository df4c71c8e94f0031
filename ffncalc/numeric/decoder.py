"""A small decoder: embedding, blocks, final norm, head, logits; forward and backward.

Arrays: "token.weight" (n_vocab, d_model), "position.weight" (n_positions, d_model), "layers.0." and so on before the
names of each block's arrays, "final_norm.weight", "head.weight" (d_model, n_vocab; a tied head is the token table) and
"head.bias". Every matrix is stored in × out, as in the text, unless `layout="out_in"` says that they are turned.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ffncalc.errors import InputError
from ffncalc.numeric import block as blocks
from ffncalc.numeric import norms
from ffncalc.numeric.attention import Trace, silent
from ffncalc.numeric.block import Block, Shapes, Weights
from ffncalc.numeric.checks import Array, expect_one_of, expect_shape, prepare, report_nan
from ffncalc.numeric.feedforward import LAYOUTS, Layout
from ffncalc.numeric.matmul import linear, linear_backward
from ffncalc.numeric.norms import Norm

TABLES = ("token.weight", "position.weight")


class Decoder(NamedTuple):
    """A whole decoder. `n_positions` 0: no learned positions. `embedding_scale`: what the embedding is multiplied by.

    `final_norm` None: there is none (the last block ends in one, or nothing does).
    """

    d_model: int
    n_vocab: int
    blocks: tuple[Block, ...]
    final_norm: Norm | None = Norm()
    n_positions: int = 0
    tied: bool = False
    head_bias: bool = False
    embedding_scale: float = 1.0


class DecoderCache(NamedTuple):
    """What the backward pass needs."""

    tokens: Array
    blocks: list[blocks.BlockCache]
    final_norm: norms.NormCache | None
    last: Array


def shapes(decoder: Decoder) -> Shapes:
    """Names and shapes (in × out) of all arrays of a decoder."""
    d_model, n_vocab = decoder.d_model, decoder.n_vocab
    found: Shapes = {"token.weight": (n_vocab, d_model)}
    if decoder.n_positions:
        found["position.weight"] = (decoder.n_positions, d_model)
    for index, block in enumerate(decoder.blocks):
        found |= {f"layers.{index}.{name}": shape for name, shape in blocks.shapes(block).items()}
    if decoder.final_norm is not None:
        found |= norms.shapes(decoder.final_norm, "final_norm", d_model)
    if not decoder.tied:
        found["head.weight"] = (d_model, n_vocab)
    return found | ({"head.bias": (n_vocab,)} if decoder.head_bias else {})


def check(decoder: Decoder) -> None:
    """InputError for a description that can't be."""
    for index, block in enumerate(decoder.blocks):
        if block.d_model != decoder.d_model:
            raise InputError(f"block {index} has d_model {block.d_model}; the decoder's is {decoder.d_model}")
        blocks.check(block)


def layer_weights(w: Weights, index: int) -> Weights:
    """The arrays of one block, under their names within it."""
    prefix = f"layers.{index}."
    return {name.removeprefix(prefix): array for name, array in w.items() if name.startswith(prefix)}


# ---- embedding and head


def _embed(tokens: Array, decoder: Decoder, w: Weights) -> Array:
    x: Array = w["token.weight"][tokens] * np.asarray(decoder.embedding_scale, w["token.weight"].dtype)
    return x + w["position.weight"][: tokens.shape[1]] if decoder.n_positions else x


def _embed_backward(dx: Array, tokens: Array, decoder: Decoder, w: Weights) -> Weights:
    grads = {name: np.zeros_like(w[name]) for name in TABLES if name in w}
    np.add.at(grads["token.weight"], tokens, dx * decoder.embedding_scale)
    if decoder.n_positions:
        grads["position.weight"][: tokens.shape[1]] = dx.sum(axis=0)
    return grads


def _head_weights(decoder: Decoder, w: Weights) -> Weights:
    return w | {"head.weight": w["token.weight"].T} if decoder.tied else w


# ---- forward and backward


def _within(trace: Trace, index: int) -> Trace:
    return trace if trace is silent else lambda name, array: trace(f"layers.{index}.{name}", array)


def forward(tokens: Array, decoder: Decoder, w: Weights, trace: Trace = silent) -> tuple[Array, DecoderCache]:
    """Logits (batch, T, n_vocab) for tokens (batch, T), and the cache; unchecked."""
    x = _embed(tokens, decoder, w)
    trace("embedding", x)
    caches = []
    for index, block in enumerate(decoder.blocks):
        x, cache = blocks.forward(x, block, layer_weights(w, index), _within(trace, index))
        caches.append(cache)
    final = None
    if decoder.final_norm is not None:
        x, final = norms.named_forward(x, decoder.final_norm, w, "final_norm")
        trace("final_norm", x)
    logits = linear(x, _head_weights(decoder, w), "head")
    trace("logits", logits)
    return logits, DecoderCache(tokens, caches, final, x)


def backward(d_logits: Array, cache: DecoderCache, decoder: Decoder, w: Weights) -> Weights:
    """The gradient of every array by name; a tied table's has both its parts. The cache is used up."""
    dx, grads = linear_backward(d_logits, cache.last, _head_weights(decoder, w), "head")
    if cache.final_norm is not None:
        dx, found = norms.named_backward(dx, cache.final_norm, "final_norm")
        grads |= found
    for index in reversed(range(len(decoder.blocks))):
        dx, found = blocks.backward(dx, cache.blocks[index], decoder.blocks[index], layer_weights(w, index))
        grads |= {f"layers.{index}.{name}": array for name, array in found.items()}
    tables = _embed_backward(dx, cache.tokens, decoder, w)
    if decoder.tied:
        tables["token.weight"] += grads.pop("head.weight").T
    return grads | tables


# ---- for users


def _is_turned(name: str, array: Array) -> bool:
    """Whether a layout applies: to matrices that multiply, not to tables that are looked up in."""
    return name not in TABLES and array.ndim >= 2


def turn(weights: Weights) -> Weights:
    """Every matrix the other way round (in × out to out × in and back), as views."""
    return {name: array.swapaxes(-1, -2) if _is_turned(name, array) else array for name, array in weights.items()}


def seeded(wanted: Shapes, seed: int = 0, dtype: Any = np.float64) -> Weights:
    """Random arrays for these shapes: matrices with spread 1/√d_in, norm weights near 1, biases near 0.

    The numbers come from NumPy's frozen `RandomState`, so the same seed gives the same arrays in every version.
    """
    random = np.random.RandomState(seed)
    found = {}
    for name, shape in wanted.items():
        draw = random.standard_normal(shape)
        matrix = len(shape) >= 2
        fan_in = 1 if name in TABLES else shape[-2] if matrix else 100
        centre = 1.0 if name.endswith("norm.weight") else 0.0
        found[name] = np.asarray(centre + draw / np.sqrt(fan_in), dtype)
    return found


def _tokens(tokens: ArrayLike, decoder: Decoder) -> Array:
    array = np.asarray(tokens)
    if array.dtype.kind not in "iu" or array.ndim not in {1, 2} or not array.size:
        raise InputError(f"tokens have shape {array.shape} and dtype {array.dtype}; integers (batch, T) are wanted")
    if array.min() < 0 or array.max() >= decoder.n_vocab:
        raise InputError(f"tokens run from {array.min()} to {array.max()}; 0 to {decoder.n_vocab - 1} is wanted")
    if decoder.n_positions and array.shape[-1] > decoder.n_positions:
        raise InputError(f"tokens have length {array.shape[-1]}; there are {decoder.n_positions} learned positions")
    return np.atleast_2d(array)


def check_weights(weights: Mapping[str, ArrayLike], wanted: Shapes) -> tuple[Weights, np.dtype[Any]]:
    """The arrays in the dtype to compute in; InputError for what is missing, left over or of another shape."""
    missing, left_over = wanted.keys() - weights.keys(), weights.keys() - wanted.keys()
    if missing or left_over:
        found = [f"{word}: {', '.join(sorted(names))}" for word, names in _both(missing, left_over) if names]
        raise InputError(f"the arrays don't fit the model; {'; '.join(found)}")
    arrays, dtype = prepare(weights)
    named = dict(zip(weights, arrays, strict=True))
    for name, shape in wanted.items():
        expect_shape(name, named[name], shape, "its shape (in, out)")
    return named, dtype


def _both(missing: set[str], left_over: set[str]) -> Sequence[tuple[str, set[str]]]:
    return ("missing", missing), ("not in the model", left_over)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def logits(
    tokens: ArrayLike,
    decoder: Decoder,
    weights: Mapping[str, ArrayLike],
    *,
    layout: Layout = "in_out",
    trace: Trace = silent,
) -> Array:
    """The logits (batch, T, n_vocab) of tokens (batch, T) or (T,).

    `weights` has the arrays that `shapes(decoder)` lists; `layout` says how all matrices are stored. `trace` is called
    with the name and the array of each intermediate step. InputError names what doesn't fit.
    """
    expect_one_of("layout", layout, LAYOUTS)
    check(decoder)
    ids = _tokens(tokens, decoder)
    turned = weights if layout == "in_out" else turn({name: np.asarray(array) for name, array in weights.items()})
    w, dtype = check_weights(turned, shapes(decoder))
    result, _ = forward(ids, decoder, w, trace)
    report_nan(result, weights)
    return result.reshape(*np.shape(tokens), -1).astype(dtype, copy=False)
