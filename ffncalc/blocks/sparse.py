"""Sparse attention: an indexer scores every key for every query, and attention meets only the best of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ffncalc.blocks.attention import latent
from ffncalc.expr import Expr
from ffncalc.ops import PAIR, Op, contraction, linear, scale
from ffncalc.spec import Attention, Norm


class Indexer(NamedTuple):
    """Sizes of DeepSeek's lightning indexer: its query heads, and the width of them and of its one key."""

    n_heads: Expr
    d_head: Expr

    def __call__(self, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
        """Latent attention behind an indexer (DeepSeek-V3.2, arXiv:2512.02556); the window of `a` is its top-k."""
        yield from indexer(self, a.q_lora_rank, d, f"{prefix}.indexer")
        yield from latent(a, d, norm, prefix)


def indexer(index: Indexer, d_query: Expr, d: Expr, prefix: str) -> Iterator[Op]:
    """Queries from a vector of width `d_query`, one key a token, a weight a head: all pairs are scored, whatever is kept."""
    yield linear("attention", f"{prefix}.wq_b", d_query, index.n_heads * index.d_head)
    yield linear("attention", f"{prefix}.wk", d, index.d_head)
    yield scale("norm", f"{prefix}.k_norm", index.d_head, bias=True)
    yield linear("attention", f"{prefix}.weights_proj", d, index.n_heads)
    yield contraction("attention", f"{prefix}.scores", index.n_heads, index.d_head, rows=PAIR)
    yield contraction("attention", f"{prefix}.weighting", index.n_heads, rows=PAIR)
