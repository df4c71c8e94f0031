"""Attention on compressed keys (DeepSeek-V4), in a compressed space (ZAYA), on chosen blocks of keys (MiniMax-M3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ffncalc.blocks.attention import depthwise, grouped, pairs_of, scores
from ffncalc.blocks.ffn import mlp
from ffncalc.blocks.sparse import Indexer
from ffncalc.expr import Expr
from ffncalc.ops import Op, linear, scale, stored
from ffncalc.spec import Attention, Ffn, Norm


# ------------------------------------------------------------------ DeepSeek-V4
class Compressor(NamedTuple):
    """How a layer compresses its keys: one for every `rate` tokens, from `overlap` windows of them; and its index."""

    rate: Expr
    overlap: int
    indexer: Indexer | None


class GroupedOutput(NamedTuple):
    """An output projection in groups of heads, `d_group` channels each, through a vector of `rank` numbers a group."""

    groups: Expr
    d_group: Expr
    rank: Expr


def shared_key_value(
    c: Compressor | None, out: GroupedOutput, a: Attention, d: Expr, norm: Norm, prefix: str
) -> Iterator[Op]:
    """Queries from a latent vector, one head that is key and value at once, sinks, an output projection in groups."""
    yield linear("attention", f"{prefix}.q_a_proj", d, a.q_lora_rank)
    yield scale("norm", f"{prefix}.q_a_norm", a.q_lora_rank)
    yield linear("attention", f"{prefix}.q_b_proj", a.q_lora_rank, a.n_heads * a.d_head)
    yield linear("attention", f"{prefix}.kv_proj", d, a.d_head)
    yield scale("norm", f"{prefix}.kv_norm", a.d_head)
    if c:
        yield from compressed_keys(c, a.d_head, d, f"{prefix}.compressor")
        if c.indexer:
            yield from compressed_keys(c, c.indexer.d_head, d, f"{prefix}.compressor.indexer")
            yield linear(
                "attention",
                f"{prefix}.compressor.indexer.q_b_proj",
                a.q_lora_rank,
                c.indexer.n_heads * c.indexer.d_head,
            )
            yield linear("attention", f"{prefix}.compressor.indexer.weights_proj", d, c.indexer.n_heads)
    yield scale("attention", f"{prefix}.sinks", a.n_heads)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.o_a_proj", out.d_group, out.groups * out.rank)
    yield linear("attention", f"{prefix}.o_b_proj", out.groups * out.rank, d)


def compressed_keys(c: Compressor, width: Expr, d: Expr, prefix: str) -> Iterator[Op]:
    """A vector and its gate for each token, of which a window's weighted mean is one key of the given width."""
    yield linear("attention", f"{prefix}.kv_proj", d, c.overlap * width)
    yield linear("attention", f"{prefix}.gate_proj", d, c.overlap * width)
    yield scale("attention", f"{prefix}.position_bias", c.rate, c.overlap * width)
    yield scale("norm", f"{prefix}.kv_norm", width)


# ------------------------------------------------------------------ ZAYA
def convolved(taps: tuple[Expr, Expr], a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Compressed convolutional attention (arXiv:2510.04476): two convolutions on q and k, the second within each head.

    Half of the values come from the token before.
    """
    kv, bias = a.n_kv_heads * a.d_head, bool(a.bias)
    mixed = a.width + kv
    yield linear("attention", f"{prefix}.q_proj", d, a.width, bias)
    yield linear("attention", f"{prefix}.k_proj", d, kv, bias)
    yield linear("attention", f"{prefix}.v_proj", d, kv, bias)
    yield depthwise(f"{prefix}.conv_qk_depthwise", mixed, taps[0])
    yield scale("attention", f"{prefix}.conv_qk_depthwise.bias", mixed)
    yield linear("attention", f"{prefix}.conv_qk_grouped", a.d_head * taps[1], mixed, bias=True)
    yield scale("norm", f"{prefix}.qk_norm.temp", a.n_kv_heads)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.o_proj", a.width, d, bias)


def deep_router(d_router: Expr, carries: bool, f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """Experts behind a router that is a network and may choose none; it `carries` on the state of the router before."""
    choices = f.n_experts + 1
    yield linear("ffn", f"{prefix}.router.down_proj", d, d_router, bias=True)
    if carries:
        yield scale("ffn", f"{prefix}.router.router_states_scale", d_router)
    yield scale("norm", f"{prefix}.router.norm", d_router)
    yield linear("ffn", f"{prefix}.router.fc1", d_router, d_router, bias=True)
    yield linear("ffn", f"{prefix}.router.fc2", d_router, d_router, bias=True)
    yield linear("ffn", f"{prefix}.router.out_proj", d_router, choices)
    yield stored("ffn", f"{prefix}.router.balancing_biases", choices)
    yield from mlp(True, d, f.d_ff, False, f"{prefix}.experts", f.n_experts, f.top_k)


# ------------------------------------------------------------------ MiniMax-M3
def block_index(index: Indexer, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Grouped attention behind an index that chooses whole blocks of keys."""
    yield linear("attention", f"{prefix}.indexer.q_proj", d, index.n_heads * index.d_head)
    yield linear("attention", f"{prefix}.indexer.k_proj", d, index.d_head)
    yield scale("norm", f"{prefix}.indexer.q_norm", index.d_head)
    yield scale("norm", f"{prefix}.indexer.k_norm", index.d_head)
    yield from grouped(a, d, norm, prefix)
