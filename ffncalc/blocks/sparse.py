"""Latent attention behind an indexer, which scores every key for every query and lets attention meet the best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ffncalc.blocks.attention import latent
from ffncalc.expr import Expr
from ffncalc.ops import PAIR, Op, contraction, linear, scale
from ffncalc.spec import Attention, Norm


class Indexer(NamedTuple):
    """Sizes of DeepSeek's lightning indexer: its query heads, and the width of each and of its one key."""

    n_heads: Expr
    d_head: Expr


def indexed(index: Indexer | None, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """DeepSeek-V3.2's attention (arXiv:2512.02556); the window of `a` is the top-k. None: an earlier layer's index."""
    if index:
        yield from lightning(index, a.q_lora_rank, d, f"{prefix}.indexer")
    yield from latent(a, d, norm, prefix)


def lightning(index: Indexer, d_query: Expr, d: Expr, prefix: str) -> Iterator[Op]:
    """Queries from a vector of width `d_query`, one key a token, a weight a head: all pairs are scored."""
    yield linear("attention", f"{prefix}.wq_b", d_query, index.n_heads * index.d_head)
    yield linear("attention", f"{prefix}.wk", d, index.d_head)
    yield scale("norm", f"{prefix}.k_norm", index.d_head, bias=True)
    yield linear("attention", f"{prefix}.weights_proj", d, index.n_heads)
    yield contraction("attention", f"{prefix}.scores", index.n_heads, index.d_head, rows=PAIR)
    yield contraction("attention", f"{prefix}.weighting", index.n_heads, rows=PAIR)


def gated_by_channel(index: Indexer | None, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """The same with sinks and a gate on each channel of the values (HY-V4)."""
    yield from indexed(index, a, d, norm, prefix)
    yield scale("attention", f"{prefix}.sinks", a.n_heads)
    yield linear("attention", f"{prefix}.gate_proj", d, a.n_heads * a.d_v)


def gated_by_head(index: Indexer | None, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """The same with a gate a head, and a norm on the rotary key (dots.note)."""
    yield from indexed(index, a, d, norm, prefix)
    yield scale("norm", f"{prefix}.k_rope_only_layernorm", a.d_rope)
    yield linear("attention", f"{prefix}.g_proj", d, a.n_heads)


def gated_queries(index: Indexer | None, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """The same with one matrix for queries and gates, from the query's latent vector and one more like it (A.X-K2)."""
    yield from without(("q_b_proj",), indexed(index, a, d, norm, prefix))
    yield linear("attention", f"{prefix}.q_gate_proj", 2 * a.q_lora_rank, a.n_heads * (a.d_nope + a.d_rope + a.d_v))


def shared_keys(index: Indexer | None, reuses: bool, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Queries and index queries from the stream itself, scores scaled a head; the latent may be an earlier layer's."""
    if index:
        yield scale("norm", f"{prefix}.indexer.q_input_norm", d, bias=True)
        yield from lightning(index, d, d, f"{prefix}.indexer")
        yield scale("attention", f"{prefix}.indexer.softmax_scaling", index.n_heads, bias=True)
    yield from without(("kv_a_proj_with_mqa", "kv_a_layernorm") if reuses else (), latent(a, d, norm, prefix))
    yield scale("attention", f"{prefix}.softmax_scaling", a.n_heads, bias=True)


def without(names: tuple[str, ...], ops: Iterator[Op]) -> Iterator[Op]:
    """Operations but for those of the given last names, which this variant makes in another way."""
    return (op for op in ops if op.name.rpartition(".")[2] not in names)


# ------------------------------------------------------------------ hyper-connections
def hyper_connection(part: str, name: str, n_streams: Expr, outputs: Expr, n_scales: int, d: Expr) -> Iterator[Op]:
    """What mixes the residual's streams, made from all of them (arXiv:2409.19606): a matrix, a bias, some scales."""
    yield linear(part, f"{name}.fn", n_streams * d, outputs)
    yield scale(part, f"{name}.base", outputs)
    yield scale(part, f"{name}.scale", n_scales)
