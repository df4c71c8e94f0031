"""One Transformer block from a plain description and a dict of named arrays, forward and backward.

    pre:      x + f(norm(x))             GPT-2, LLaMA
    post:     norm(x + f(x))             the original Transformer, BERT
    both:     x + norm'(f(norm(x)))      Gemma 2 and 3 ("sandwich")
    output:   x + norm'(f(x))            OLMo 2

first with f the attention, then with f the FFN; a parallel block is x + attention(norm(x)) + ffn(norm(x)), with one
norm for both (GPT-J) or one for each (GPT-NeoX). Arrays: those of `attention`, of one FFN ("up.weight", "gate.weight",
"down.weight" and biases) or of `moe`, and "attention_norm.weight", "ffn_norm.weight", "attention_post_norm.weight",
"ffn_post_norm.weight" with their biases.
"""

from typing import Any, Literal, NamedTuple

from ffncalc.errors import InputError
from ffncalc.numeric import attention as attn
from ffncalc.numeric import ffn_rows, moe, norms
from ffncalc.numeric.activations import activation
from ffncalc.numeric.attention import Attention, Trace, silent
from ffncalc.numeric.checks import Array, expect_one_of
from ffncalc.numeric.moe import Ffn, Moe
from ffncalc.numeric.norms import Norm

Weights = dict[str, Array]
Shapes = dict[str, tuple[int, ...]]

PLACES = ("pre", "post", "both", "output")


class Block(NamedTuple):
    """One block. `attention` or `ffn` is None where the block has none."""

    d_model: int
    attention: Attention | None
    ffn: Ffn | Moe | None
    norm: Norm = Norm()
    place: Literal["pre", "post", "both", "output"] = "pre"
    parallel: Literal["one norm", "two norms"] | None = None


class SublayerCache(NamedTuple):
    """What the backward pass of one sublayer needs: its own cache and those of its norms."""

    inner: Any
    before: norms.NormCache | None
    after: norms.NormCache | None


class BlockCache(NamedTuple):
    """The caches of a block's sublayers; `norm` is the one norm that a parallel block may share."""

    attention: SublayerCache | None
    ffn: SublayerCache | None
    norm: norms.NormCache | None


def _sublayers(block: Block) -> list[str]:
    return [name for name, there in (("attention", block.attention), ("ffn", block.ffn)) if there is not None]


def _has_before(block: Block) -> bool:
    return block.place in {"pre", "both"}


def norm_names(block: Block) -> list[str]:
    """The norms of a block, by name."""
    if block.parallel == "one norm":
        return ["attention_norm"]
    suffixes = {"pre": ("",), "post": ("",), "both": ("", "_post"), "output": ("_post",)}[block.place]
    return [f"{name}{suffix}_norm" for name in _sublayers(block) for suffix in suffixes]


def shapes(block: Block) -> Shapes:
    """Names and shapes of the arrays of one block, in the order in which they are used."""
    found: Shapes = {}
    for name in norm_names(block):
        found |= norms.shapes(block.norm, name, block.d_model)
    if block.attention is not None:
        found |= attn.shapes(block.attention, block.d_model)
    if isinstance(block.ffn, Moe):
        found |= moe.shapes(block.ffn, block.d_model)
    elif block.ffn is not None:
        found |= moe.ffn_shapes(block.ffn, block.d_model)
    return found


def check(block: Block) -> None:
    """InputError for a description that can't be."""
    expect_one_of("place", block.place, PLACES)
    if block.parallel is not None and (block.place != "pre" or len(_sublayers(block)) < 2):
        raise InputError(f"a parallel block has attention and an FFN, and its norms before them, not {block.place!r}")
    if block.attention is not None:
        attn.check(block.attention)
    if isinstance(block.ffn, Moe):
        moe.check(block.ffn)
    for ffn in _ffns(block):
        activation(ffn.activation)


def _ffns(block: Block) -> list[Ffn]:
    if not isinstance(block.ffn, Moe):
        return [] if block.ffn is None else [block.ffn]
    return [block.ffn.expert] + ([] if block.ffn.shared is None else [block.ffn.shared])


# ---- the sublayers themselves, without norms


def _within(trace: Trace, prefix: str) -> Trace:
    return trace if trace is silent else lambda name, array: trace(f"{prefix}.{name}", array)


def _ffn_forward(x: Array, ffn: Ffn | Moe, w: Weights, trace: Trace) -> tuple[Array, Any]:
    rows = x.reshape(-1, x.shape[-1])
    if isinstance(ffn, Moe):
        y, cache = moe.forward(rows, ffn, w, trace)
        return y.reshape(x.shape), cache
    act = activation(ffn.activation)
    y, found = ffn_rows.forward(rows, moe.ffn_weights(ffn, w), act)
    if trace is not silent:
        for name, array in ffn_rows.steps(found).items():
            trace(name, array.reshape(*x.shape[:-1], -1))
        trace("down", y.reshape(x.shape))
    return y.reshape(x.shape), found


def _ffn_backward(dy: Array, cache: Any, ffn: Ffn | Moe, w: Weights) -> tuple[Array, Weights]:
    rows = dy.reshape(-1, dy.shape[-1])
    if isinstance(ffn, Moe):
        dx, found = moe.backward(rows, cache, ffn, w)
    else:
        dx, grads = ffn_rows.backward(rows, cache)
        found = moe.ffn_gradients(grads)
    return dx.reshape(dy.shape), found


def _inner_forward(x: Array, block: Block, w: Weights, name: str, trace: Trace) -> tuple[Array, Any]:
    if name == "attention":
        assert block.attention is not None
        return attn.forward(x, block.attention, w, _within(trace, name))
    assert block.ffn is not None
    return _ffn_forward(x, block.ffn, w, _within(trace, name))


def _inner_backward(dy: Array, cache: Any, block: Block, w: Weights, name: str) -> tuple[Array, Weights]:
    if name == "attention":
        assert block.attention is not None
        return attn.backward(dy, cache, block.attention, w)
    assert block.ffn is not None
    return _ffn_backward(dy, cache, block.ffn, w)


# ---- with norm and residual


def _norm(x: Array, block: Block, w: Weights, name: str, trace: Trace) -> tuple[Array, norms.NormCache]:
    y, cache = norms.named_forward(x, block.norm, w, name)
    trace(name, y)
    return y, cache


def _sublayer(x: Array, block: Block, w: Weights, name: str, trace: Trace) -> tuple[Array, SublayerCache]:
    before = after = None
    y = x
    if _has_before(block):
        y, before = _norm(x, block, w, f"{name}_norm", trace)
    y, inner = _inner_forward(y, block, w, name, trace)
    if block.place in {"both", "output"}:
        y, after = _norm(y, block, w, f"{name}_post_norm", trace)
    y = x + y
    trace(f"{name}_residual", y)
    if block.place == "post":
        y, after = _norm(y, block, w, f"{name}_norm", trace)
    return y, SublayerCache(inner, before, after)


def _sublayer_backward(dy: Array, cache: SublayerCache, block: Block, w: Weights, name: str) -> tuple[Array, Weights]:
    grads: Weights = {}
    if block.place == "post" and cache.after is not None:
        dy, grads = norms.named_backward(dy, cache.after, f"{name}_norm")
    d_inner = dy
    if block.place != "post" and cache.after is not None:
        d_inner, grads = norms.named_backward(dy, cache.after, f"{name}_post_norm")
    d_inner, found = _inner_backward(d_inner, cache.inner, block, w, name)
    grads |= found
    if cache.before is not None:
        d_inner, found = norms.named_backward(d_inner, cache.before, f"{name}_norm")
        grads |= found
    return dy + d_inner, grads


def _parallel(x: Array, block: Block, w: Weights, trace: Trace) -> tuple[Array, BlockCache]:
    caches: dict[str, SublayerCache] = {}
    normed, shared = _norm(x, block, w, "attention_norm", trace)
    y = x
    for name in ("attention", "ffn"):
        own = None
        if name == "ffn" and block.parallel == "two norms":
            normed, own = _norm(x, block, w, "ffn_norm", trace)
        part, inner = _inner_forward(normed, block, w, name, trace)
        y = y + part
        caches[name] = SublayerCache(inner, own, None)
    trace("residual", y)
    return y, BlockCache(caches["attention"], caches["ffn"], shared)


def _parallel_backward(dy: Array, cache: BlockCache, block: Block, w: Weights) -> tuple[Array, Weights]:
    assert cache.attention is not None
    assert cache.ffn is not None
    assert cache.norm is not None
    d_normed, grads = _inner_backward(dy, cache.attention.inner, block, w, "attention")
    d_ffn, found = _inner_backward(dy, cache.ffn.inner, block, w, "ffn")
    grads |= found
    dx = dy
    if cache.ffn.before is None:
        d_normed = d_normed + d_ffn
    else:
        d_ffn, found = norms.named_backward(d_ffn, cache.ffn.before, "ffn_norm")
        grads |= found
        dx = dx + d_ffn
    d_normed, found = norms.named_backward(d_normed, cache.norm, "attention_norm")
    return dx + d_normed, grads | found


def forward(x: Array, block: Block, w: Weights, trace: Trace = silent) -> tuple[Array, BlockCache]:
    """y of shape (batch, T, d_model) for x of the same shape; unchecked. `trace` gets each step as (name, array)."""
    if block.parallel is not None:
        return _parallel(x, block, w, trace)
    caches: dict[str, SublayerCache] = {}
    for name in _sublayers(block):
        x, caches[name] = _sublayer(x, block, w, name, trace)
    return x, BlockCache(caches.get("attention"), caches.get("ffn"), None)


def backward(dy: Array, cache: BlockCache, block: Block, w: Weights) -> tuple[Array, Weights]:
    """(dx, gradients by name). The cache is used up."""
    if block.parallel is not None:
        return _parallel_backward(dy, cache, block, w)
    grads: Weights = {}
    for name, found in (("ffn", cache.ffn), ("attention", cache.attention)):
        if found is not None:
            dy, part = _sublayer_backward(dy, found, block, w, name)
            grads |= part
    return dy, grads
