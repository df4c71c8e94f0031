"""Softmax attention, forward and backward: multi-head, grouped and multi-query, causal or not, windowed, rotary.

Arrays are named as in the description below: "q.weight" (d_model, n_heads·d_head), "k.weight" and "v.weight"
(d_model, n_kv_heads·d_head), "o.weight" (n_heads·d_head, d_model), their biases "q.bias" and so on, "q_norm.weight",
"k_norm.weight", "sinks" (n_heads).

Scores and mixing are computed for the full square of T×T pairs and masked, as the calculator counts them. The query
heads of one key/value head are laid below each other as rows, so that grouped attention is the same two products.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ffncalc.errors import InputError
from ffncalc.numeric import norms
from ffncalc.numeric.checks import Array, expect_rows, expect_shape, prepare, report_nan
from ffncalc.numeric.matmul import linear, linear_backward, matmul
from ffncalc.numeric.norms import Norm

Weights = dict[str, Array]
Trace = Callable[[str, Array], None]


class Rotary(NamedTuple):
    """Rotary positions (Su et al. 2021) on the first `width` dimensions of each head.

    "halves" rotates dimension i with i + width/2 (NeoX, LLaMA in transformers), "neighbours" 2i with 2i+1 (GPT-J,
    LLaMA as published).
    """

    width: int
    theta: float = 10000.0
    pairs: Literal["halves", "neighbours"] = "halves"


class Attention(NamedTuple):
    """One attention layer.

    `bias` names the projections that have one ("q", "k", "v", "o"). `qk_norm` normalises queries and keys: each head
    ("head") or all heads together ("full"). `window`: a query sees itself and the window - 1 tokens before it (not
    causal: window // 2 to each side). `sinks`: one logit per head that takes part in the softmax and writes nothing.
    `scale` multiplies the scores; None is 1/√d_head.
    """

    n_heads: int
    n_kv_heads: int
    d_head: int
    bias: tuple[str, ...] = ()
    qk_norm: Literal["head", "full"] | None = None
    norm: Norm = Norm()
    causal: bool = True
    window: int | None = None
    sinks: bool = False
    rotary: Rotary | None = None
    scale: float | None = None


class Cache(NamedTuple):
    """What the backward pass needs. Heads: (batch, n_kv_heads, rows, d_head); q has the heads of a group as rows."""

    x: Array
    q: Array
    k: Array
    v: Array
    probabilities: Array
    at_sink: Array | None
    mixed: Array
    norms: dict[str, norms.NormCache]


def silent(name: str, array: Array) -> None:
    """The trace that nobody reads."""


def shapes(attention: Attention, d_model: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the arrays of one attention layer."""
    n_heads, n_kv_heads, d_head = attention[:3]
    outer = {"q": n_heads * d_head, "k": n_kv_heads * d_head, "v": n_kv_heads * d_head, "o": d_model}
    found: dict[str, tuple[int, ...]] = {}
    for name, width in outer.items():
        found[f"{name}.weight"] = (n_heads * d_head if name == "o" else d_model, width)
        if name in attention.bias:
            found[f"{name}.bias"] = (width,)
    if attention.qk_norm is not None:
        for name in ("q", "k"):
            found |= norms.shapes(
                attention.norm, f"{name}_norm", outer[name] if attention.qk_norm == "full" else d_head
            )
    return found | ({"sinks": (n_heads,)} if attention.sinks else {})


def visible(attention: Attention, n_tokens: int) -> Array | None:
    """The pairs (query, key) that the mask leaves, as booleans (T, T); None if it leaves all."""
    distance = np.arange(n_tokens)[:, None] - np.arange(n_tokens)
    if attention.causal:
        return (distance >= 0) & (distance < (attention.window or n_tokens))
    return None if attention.window is None else np.abs(distance) <= attention.window // 2


# ---- rotary positions


def _angles(rotary: Rotary, n_tokens: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    frequency = rotary.theta ** (-np.arange(0, rotary.width, 2) / rotary.width)
    angle = np.arange(n_tokens)[:, None] * frequency
    return np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)


def _halves(x: Array, rotary: Rotary) -> tuple[Array, Array]:
    turned = x[..., : rotary.width]
    if rotary.pairs == "neighbours":
        return turned[..., ::2], turned[..., 1::2]
    return turned[..., : rotary.width // 2], turned[..., rotary.width // 2 :]


def rotate(x: Array, rotary: Rotary, *, back: bool = False) -> Array:
    """x of shape (..., T, n, d_head) with each head turned by its position's angles; `back` turns the other way."""
    cos, sin = (part[:, None] for part in _angles(rotary, x.shape[-3], x.dtype))
    sin = -sin if back else sin
    out = x.copy()
    (a, b), (out_a, out_b) = _halves(x, rotary), _halves(out, rotary)
    out_a[...] = a * cos - b * sin
    out_b[...] = b * cos + a * sin
    return out


# ---- softmax with a mask and sinks


def softmax(scores: Array, sink: Array | None = None) -> tuple[Array, Array | None]:
    """(probabilities over the last axis, the sink's share); the largest logit is subtracted, so nothing overflows."""
    top = scores.max(axis=-1, keepdims=True)
    top = top if sink is None else np.maximum(top, sink)
    weights = np.exp(scores - top)
    total = weights.sum(axis=-1, keepdims=True)
    if sink is None:
        return weights / total, None
    at_sink = np.exp(sink - top)
    return weights / (total + at_sink), at_sink / (total + at_sink)


def softmax_backward(d_probabilities: Array, probabilities: Array) -> tuple[Array, Array]:
    """(d_scores, the mean gradient of each row): a sink's own gradient is minus its share of the mean."""
    mean = (d_probabilities * probabilities).sum(axis=-1, keepdims=True)
    return probabilities * (d_probabilities - mean), mean


# ---- the layer


def _split(x: Array, n_heads: int, n_kv_heads: int) -> Array:
    """(batch, T, n_heads, d_head) to (batch, n_kv_heads, group·T, d_head)."""
    batch, n_tokens, _, d_head = x.shape
    heads = x.transpose(0, 2, 1, 3)
    return heads.reshape(batch, n_kv_heads, n_heads // n_kv_heads * n_tokens, d_head)


def _join(x: Array, n_heads: int, n_tokens: int) -> Array:
    """The way back of `_split`."""
    batch, _, _, d_head = x.shape
    return np.ascontiguousarray(x.reshape(batch, n_heads, n_tokens, d_head).transpose(0, 2, 1, 3))


def _project(x: Array, attention: Attention, w: Weights, name: str) -> tuple[Array, norms.NormCache | None]:
    """q, k or v as (batch, T, heads, d_head), normalised and turned."""
    batch, n_tokens, _ = x.shape
    y, cache = linear(x, w, name), None
    normed = name != "v" and attention.qk_norm is not None
    if normed and attention.qk_norm == "full":
        y, cache = norms.named_forward(y, attention.norm, w, f"{name}_norm")
    y = y.reshape(batch, n_tokens, -1, attention.d_head)
    if normed and attention.qk_norm == "head":
        y, cache = norms.named_forward(y, attention.norm, w, f"{name}_norm")
    if name != "v" and attention.rotary is not None:
        y = rotate(y, attention.rotary)
    return y, cache


def _project_backward(dy: Array, cache: Cache, attention: Attention, w: Weights, name: str) -> tuple[Array, Weights]:
    grads: Weights = {}
    batch, n_tokens, _, _ = dy.shape
    if name != "v" and attention.rotary is not None:
        dy = rotate(dy, attention.rotary, back=True)
    if attention.qk_norm != "head":
        dy = dy.reshape(batch, n_tokens, -1)
    if name in cache.norms:
        dy, grads = norms.named_backward(dy, cache.norms[name], f"{name}_norm")
    dx, d_linear = linear_backward(dy.reshape(batch, n_tokens, -1), cache.x, w, name)
    return dx, grads | d_linear


def _scale(attention: Attention) -> float:
    return attention.d_head**-0.5 if attention.scale is None else attention.scale


def _sink_logits(attention: Attention, w: Weights, n_tokens: int) -> Array | None:
    if not attention.sinks:
        return None
    return np.repeat(w["sinks"], n_tokens).reshape(attention.n_kv_heads, -1, 1)


def _masked_scores(q: Array, k: Array, attention: Attention) -> Array:
    scores = matmul(q, k.swapaxes(-1, -2))
    scores *= _scale(attention)
    mask = visible(attention, k.shape[-2])
    if mask is not None:
        pairs = scores.reshape(*scores.shape[:2], -1, *mask.shape)
        np.copyto(pairs, -np.inf, where=~mask)
    return scores


def forward(x: Array, attention: Attention, w: Weights, trace: Trace = silent) -> tuple[Array, Cache]:
    """y of shape (batch, T, d_model) for x of the same shape; unchecked. Traces the projections, scores and mixing."""
    n_heads, n_kv_heads, _ = attention[:3]
    n_tokens = x.shape[1]
    normed: dict[str, norms.NormCache] = {}
    heads = {}
    for name, count in (("q", n_heads), ("k", n_kv_heads), ("v", n_kv_heads)):
        y, cache = _project(x, attention, w, name)
        trace(name, y)
        heads[name] = _split(y, count, n_kv_heads)
        if cache is not None:
            normed[name] = cache
    scores = _masked_scores(heads["q"], heads["k"], attention)
    probabilities, at_sink = softmax(scores, _sink_logits(attention, w, n_tokens))
    mixed = _join(matmul(probabilities, heads["v"]), n_heads, n_tokens).reshape(*x.shape[:2], -1)
    y = linear(mixed, w, "o")
    by_head = (len(x), n_heads, n_tokens, n_tokens)
    for name, array in (("scores", scores), ("probabilities", probabilities)):
        trace(name, array.reshape(by_head))
    trace("mixed", mixed)
    trace("o", y)
    return y, Cache(x, heads["q"], heads["k"], heads["v"], probabilities, at_sink, mixed, normed)


def backward(dy: Array, cache: Cache, attention: Attention, w: Weights) -> tuple[Array, Weights]:
    """(dx, gradients by name)."""
    n_heads, n_kv_heads, d_head = attention[:3]
    batch, n_tokens, _ = dy.shape
    d_mixed, grads = linear_backward(dy, cache.mixed, w, "o")
    d_mixed = _split(d_mixed.reshape(batch, n_tokens, n_heads, d_head), n_heads, n_kv_heads)
    d_scores, mean = softmax_backward(matmul(d_mixed, cache.v.swapaxes(-1, -2)), cache.probabilities)
    if cache.at_sink is not None:
        grads["sinks"] = -(cache.at_sink * mean).reshape(batch, n_heads, n_tokens).sum(axis=(0, 2))
    d_scores *= _scale(attention)
    d_heads = {
        "q": (matmul(d_scores, cache.k), n_heads),
        "k": (matmul(d_scores.swapaxes(-1, -2), cache.q), n_kv_heads),
        "v": (matmul(cache.probabilities.swapaxes(-1, -2), d_mixed), n_kv_heads),
    }
    dx = np.zeros_like(dy)
    for name, (d_head_rows, count) in d_heads.items():
        part, found = _project_backward(_join(d_head_rows, count, n_tokens), cache, attention, w, name)
        dx += part
        grads |= found
    return dx, grads


# ---- for users


def check(attention: Attention) -> None:
    """InputError for a description that can't be: heads that don't divide, a rotation wider than the head."""
    n_heads, n_kv_heads, d_head = attention[:3]
    if min(n_heads, n_kv_heads, d_head) < 1 or n_heads % n_kv_heads:
        raise InputError(f"{n_heads} query heads can't share {n_kv_heads} key/value heads: a multiple is wanted")
    rotary = attention.rotary
    if rotary is not None and (rotary.width % 2 or not 0 < rotary.width <= d_head):
        raise InputError(f"rotary width is {rotary.width}; an even number from 2 to d_head = {d_head} is wanted")
    if attention.window is not None and attention.window < 1:
        raise InputError(f"window is {attention.window}; at least 1 token is wanted")


def _description(W_q: Array, W_k: Array, n_heads: int, n_kv_heads: int | None, **rest: Any) -> Attention:
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    for name, array, heads in (("W_q", W_q, n_heads), ("W_k", W_k, n_kv_heads)):
        expect_shape(name, array, (None, None), "(d_model, heads·d_head)")
        if heads < 1 or array.shape[1] % heads:
            raise InputError(f"{name} has shape {array.shape}; its columns can't be shared by {heads} heads")
    return Attention(n_heads, n_kv_heads, W_q.shape[1] // n_heads, **rest)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def self_attention(
    X: ArrayLike,
    W_q: ArrayLike,
    W_k: ArrayLike,
    W_v: ArrayLike,
    W_o: ArrayLike,
    n_heads: int,
    n_kv_heads: int | None = None,
    *,
    causal: bool = True,
    window: int | None = None,
    rotary: Rotary | None = None,
) -> Array:
    """Multi-head attention for X of shape (..., T, d_model); grouped with fewer n_kv_heads, multi-query with 1."""
    named = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o}
    (x, *arrays), dtype = prepare(named)
    expect_rows("X", x, "(..., T, d_model)")
    if x.ndim < 2:
        raise InputError(f"X has shape {x.shape}; (..., T, d_model) is wanted")
    layer = _description(arrays[0], arrays[1], n_heads, n_kv_heads, causal=causal, window=window, rotary=rotary)
    check(layer)
    weights = dict(zip(("q.weight", "k.weight", "v.weight", "o.weight"), arrays, strict=True))
    for name, shape in shapes(layer, x.shape[-1]).items():
        expect_shape(f"W_{name[0]}", weights[name], shape, "(in, out)")
    y, _ = forward(x.reshape(-1, *x.shape[-2:]), layer, weights)
    report_nan(y, named)
    return y.reshape(x.shape).astype(dtype, copy=False)
