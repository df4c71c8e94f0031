"""Attention sublayers: grouped (multi-head and multi-query too), latent, and their cross-attention form."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.expr import Expr
from ffncalc.ops import CROSS, SOURCE, TOKEN, Op, Rows, contraction, linear, lookup, scale
from ffncalc.spec import Attention, Norm


def attention(a: Attention, d: Expr, norm: Norm, prefix: str = "self_attn") -> Iterator[Op]:
    """The operations of one attention sublayer on a stream of width `d`; its q/k norms are of the block's own kind."""
    block = {"grouped": grouped, "latent": latent, "none": nothing}[a.kind] if isinstance(a.kind, str) else a.kind
    return block(a, d, norm, prefix)


def nothing(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """No attention in this layer."""
    return iter(())


def grouped(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """n_heads query heads that share n_kv_heads key/value heads in groups."""
    cross = prefix == "cross_attn"
    kv = a.width if a.n_kv_heads == a.n_heads else a.n_kv_heads * a.d_head
    values, mixed = (kv, a.width) if a.d_v == a.d_head else (a.n_kv_heads * a.d_v, a.n_heads * a.d_v)
    rows = SOURCE if cross else TOKEN
    met = a.d_source if cross and a.d_source else d
    pairs = CROSS if cross else pairs_of(a)
    yield linear("attention", f"{prefix}.q_proj", d, a.width, "q" in a.bias)
    yield linear("attention", f"{prefix}.k_proj", met, kv, "k" in a.bias, rows=rows)
    yield linear("attention", f"{prefix}.v_proj", met, values, "v" in a.bias, rows=rows)
    if a.conv:
        yield from (
            depthwise(f"{prefix}.{x}_conv", width, a.conv) for x, width in (("q", a.width), ("k", kv), ("v", values))
        )
    yield from qk_norms(a, kv, norm, prefix)
    if a.relative:
        yield lookup("attention", f"{prefix}.relative_attention_bias", a.relative, a.n_heads)
    if a.sinks:
        yield scale("attention", f"{prefix}.sinks", a.n_heads)
    yield from scores(a, a.d_head, a.d_v, pairs, prefix)
    yield linear("attention", f"{prefix}.o_proj", mixed, d, "o" in a.bias)


def gated_output(per_head: bool, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Grouped attention whose output is multiplied by a gate: one number a head and token, or one for each channel."""
    yield from grouped(a, d, norm, prefix)
    yield linear("attention", f"{prefix}.gate_proj", d, a.n_heads if per_head else a.n_heads * a.d_head)


def pairs_of(a: Attention) -> Rows:
    """The query-key pairs of self-attention, within the window if there is one."""
    return Rows("pair", a.window or None, a.sides, a.chunked)


def scores(a: Attention, d_qk: Expr, d_v: Expr, pairs: Rows, prefix: str) -> Iterator[Op]:
    """Each query head against the keys it meets, and the mixing of their values."""
    yield contraction("attention", f"{prefix}.scores", a.n_heads, d_qk, rows=pairs)
    if a.position_scores:
        yield contraction("attention", f"{prefix}.position_scores", a.n_heads, d_qk, rows=pairs)
    yield contraction("attention", f"{prefix}.mixing", a.n_heads, d_v, rows=pairs)


def qk_norms(a: Attention, kv: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """The norms on queries and keys, one weight a number of what they span."""
    shapes = {
        "none": (),
        "head": ((a.d_head,), (a.d_head,)),
        "full": ((a.width,), (kv,)),
        "table": ((a.n_heads, a.d_head), (a.n_kv_heads, a.d_head)),
    }[a.qk_norm]
    for name, shape in zip(("q_norm", "k_norm"), shapes, strict=False):
        yield scale("norm", f"{prefix}.{name}", *shape, bias=a.qk_norm_bias)


def depthwise(name: str, width: Expr, taps: Expr) -> Op:
    """A causal convolution over time, each channel on its own (Primer): taps multiply-accumulates a channel and
    token."""
    return linear("attention", name, taps, width)


def latent(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """DeepSeek's multi-head latent attention (arXiv:2405.04434): keys and values from a vector of rank kv_lora_rank."""
    qk = a.d_nope + a.d_rope
    queries = a.n_heads * qk
    if a.q_lora_rank:
        yield linear("attention", f"{prefix}.q_a_proj", d, a.q_lora_rank, "q" in a.bias)
        yield scale("norm", f"{prefix}.q_a_layernorm", a.q_lora_rank)
        yield linear("attention", f"{prefix}.q_b_proj", a.q_lora_rank, queries)
    else:
        yield linear("attention", f"{prefix}.q_proj", d, queries)
    yield linear("attention", f"{prefix}.kv_a_proj_with_mqa", d, a.kv_lora_rank + a.d_rope, "k" in a.bias)
    yield scale("norm", f"{prefix}.kv_a_layernorm", a.kv_lora_rank)
    yield linear("attention", f"{prefix}.kv_b_proj", a.kv_lora_rank, a.n_heads * (a.d_nope + a.d_v))
    yield from scores(a, qk, a.d_v, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.o_proj", a.n_heads * a.d_v, d, "o" in a.bias)
