"""Attention whose projections are routed experts (JetMoE, arXiv:2404.07413)."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.blocks.attention import pairs_of, scores
from ffncalc.expr import Expr
from ffncalc.ops import Op, linear, scale
from ffncalc.spec import Attention, Norm


def attention_experts(n_experts: Expr, top_k: Expr, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Each expert has a query and an output projection of n_kv_heads heads; all of them share keys and values."""
    width = a.n_kv_heads * a.d_head
    yield linear("attention", f"{prefix}.router", d, n_experts)
    yield linear("attention", f"{prefix}.experts.q_proj", d, width, copies=n_experts, used=top_k)
    yield linear("attention", f"{prefix}.kv_proj", d, 2 * width)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.experts.o_proj", width, d, copies=n_experts, used=top_k)
    yield scale("attention", f"{prefix}.bias", d)
