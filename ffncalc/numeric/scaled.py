"""A model's own structure at a small width: the same sublayers in the same proportions, few enough numbers to run.

What comes out is a `spec.Layer` again, its sizes expressions, so that the counts of the small layer are read off the
very operations that the calculator counts for the large one.

    FFN      d_ff / d_model as in the model, to the nearest whole number, unless a width is given
    heads    n_heads / n_kv_heads as in the model; d_head even and at least 8; of the larger half of the numbers of
             heads that fit, the one with n_heads·d_head / d_model nearest to the model's
    experts  at most 8, of which at most 2 run for a token; shared experts as wide beside a routed one as in the model
"""

from __future__ import annotations

from fractions import Fraction

from ffncalc.expr import Expr, size
from ffncalc.spec import Attention, Ffn, Layer

MIN_D_HEAD = 8
MAX_EXPERTS = 8
MAX_TOP_K = 2


def scaled(layer: Layer, wide: Expr, d_model: Expr, d_ff: Expr | None = None) -> Layer:
    """The layer of a model of width `wide` on a stream of width `d_model`; `d_ff` goes over the model's own ratio."""
    return layer._replace(
        attention=scaled_attention(layer.attention, wide, d_model) if layer.attention.n_heads else layer.attention,
        ffn=scaled_ffn(layer.ffn, wide, d_model, d_ff) if layer.ffn.d_ff else layer.ffn,
    )


def scaled_attention(attention: Attention, wide: Expr, d_model: Expr) -> Attention:
    """The same attention with fewer and narrower heads."""
    wanted = Fraction(attention.n_heads.value * attention.d_head.value * d_model.value, wide.value)
    n_heads, n_kv_heads, d_head = heads(attention.n_heads.value, attention.n_kv_heads.value, wanted)
    origin = "of {:,}, their ratio kept"
    queries = size("n_heads", n_heads, origin.format(attention.n_heads.value))
    head = size("d_head", d_head, f"{attention.d_head.value:,} scaled, even and at least {MIN_D_HEAD}")
    return attention._replace(
        n_heads=queries,
        n_kv_heads=queries
        if n_kv_heads == n_heads
        else size("n_kv_heads", n_kv_heads, origin.format(attention.n_kv_heads.value)),
        d_head=head,
        width=d_model if n_heads * d_head == d_model.value else queries * head,
        d_v=head,
    )


def heads(n_heads: int, n_kv_heads: int, wanted: Fraction) -> tuple[int, int, int]:
    """(query heads, key/value heads, d_head) whose width is as near to the `wanted` one as their rules allow."""
    group = n_heads // n_kv_heads
    found = [(count, _even(wanted / count)) for count in range(group, n_heads + 1, group)]
    fitting = [(count, d_head) for count, d_head in found if d_head >= MIN_D_HEAD] or [(group, MIN_D_HEAD)]
    many = [(count, d_head) for count, d_head in fitting if 2 * count >= fitting[-1][0]]
    count, d_head = min(many, key=lambda pair: (abs(pair[0] * pair[1] - wanted), -pair[0]))
    return count, count // group, d_head


def _even(width: Fraction) -> int:
    return 2 * round(width / 2)


def scaled_ffn(ffn: Ffn, wide: Expr, d_model: Expr, d_ff: Expr | None = None) -> Ffn:
    """The same FFN narrower, with fewer experts."""
    own = d_ff or size(
        "d_ff", _nearest(ffn.d_ff, d_model, wide), f"{ffn.d_ff.value:,} × {d_model.value:,} / {wide.value:,}"
    )
    if not ffn.n_experts:
        return ffn._replace(d_ff=own)
    n_experts, top_k = min(ffn.n_experts.value, MAX_EXPERTS), min(ffn.top_k.value, MAX_TOP_K)
    shared = ffn.d_shared or ffn.n_shared * ffn.d_ff
    return ffn._replace(
        d_ff=own,
        n_experts=size("n_experts", n_experts, f"{ffn.n_experts.value:,}, at most {MAX_EXPERTS}"),
        top_k=size("top_k", top_k, f"{ffn.top_k.value:,}, at most {MAX_TOP_K}"),
        d_shared=size(
            "d_shared", _nearest(shared, own, ffn.d_ff), f"{shared.value:,} × {own.value:,} / {ffn.d_ff.value:,}"
        )
        if shared
        else shared,
    )


def _nearest(large: Expr, part: Expr, whole: Expr) -> int:
    """large × part / whole to the nearest whole number, at least 1."""
    return max(1, (2 * large.value * part.value + whole.value) // (2 * whole.value))
