"""Families whose layers may be recurrent, where a file has none of these: all its layers attend."""

from __future__ import annotations

from typing import Any

from ffncalc.expr import Expr, size
from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, LLAMA
from ffncalc.families.moe import GRANITEMOESHARED
from ffncalc.families.readers import count, derived
from ffncalc.families.row import Reader
from ffncalc.view import View

KINDS = ("layer_types", "layers_block_type")

GRANITE_HYBRID = GRANITEMOESHARED.like(
    "granitemoehybrid",
    "transformers GraniteMoeHybridForCausalLM where no layer is Mamba; without experts the shared one is all there is",
    {
        "ffn.kind": derived(lambda view: "moe" if view.get("ffn.n_experts") else "gated"),
        "ffn.d_ff": Reader(
            ("intermediate_size", "shared_intermediate_size"), lambda view, switch: _granite_width(view)
        ),
        "ffn.n_experts": count("num_local_experts"),
        "ffn.top_k": count("num_experts_per_tok"),
    },
    {"shared_intermediate_size": 1024},
    ignores=(
        "mamba_*",
        "time_step_*",
        "normalization_function",
        "position_embedding_type",
        "init_method",
        "rope_*",
        *KINDS,
    ),
)


def _granite_width(view: View) -> Any:
    name = "intermediate_size" if view.get("ffn.n_experts") else "shared_intermediate_size"
    return view.size(name, "d_ff") or view.missing(name)


def _lfm_width(view: View, switch: str) -> Expr:
    """LFM2 takes two thirds of intermediate_size, times a multiplier, up to a multiple, unless told not to."""
    name = "block_ff_dim" if view.resolver.raw("block_ff_dim")[0] is not None else "intermediate_size"
    stated = view.size(name, "d_ff")
    if not isinstance(stated, Expr):
        view.missing(name)
    if not view.flag("block_auto_adjust_ff_dim"):
        return stated
    width, factor = int(2 * stated.value / 3), view.resolver.raw("block_ffn_dim_multiplier")[0]
    if not isinstance(factor, (int, float)) or isinstance(factor, bool):
        view.fail("block_ffn_dim_multiplier is no number", "block_ffn_dim_multiplier")
    if not view.is_null("block_ffn_dim_multiplier"):
        every = view.number("block_multiple_of") or 1
        width = -(-int(factor * width) // every) * every
    return size("d_ff", width, f"2/3 of {name}, rounded up")


LFM2 = LLAMA.like(
    "lfm2",
    "arXiv:2511.23404; transformers Lfm2ForCausalLM where no layer is a short convolution: norms on queries and keys",
    {
        **BIASLESS,
        "tied": Reader(("tie_word_embeddings", "tie_embedding"), lambda view, switch: _lfm_tie(view)),
        "attention.window": LLAMA.says["attention.window"],
        "attention.qk_norm": "head",
        "ffn.d_ff": Reader(
            (
                "intermediate_size",
                "block_ff_dim",
                "block_auto_adjust_ff_dim",
                "block_ffn_dim_multiplier",
                "block_multiple_of",
            ),
            _lfm_width,
        ),
    },
    {
        "vocab_size": 65536,
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "num_key_value_heads": 8,
        "tie_word_embeddings": True,
        "block_auto_adjust_ff_dim": True,
        "block_ffn_dim_multiplier": 1.0,
        "block_multiple_of": 256,
    },
    ignores=(
        "conv_*",
        "full_attn_idxs",
        "block_dim",
        "block_mlp_init_scale",
        "block_norm_eps",
        "block_out_init_scale",
        "block_use_*",
        "num_heads",
        "theta",
        *KINDS,
    ),
)


def _lfm_tie(view: View) -> bool:
    return view.flag("tie_embedding" if view.resolver.raw("tie_embedding")[0] is not None else "tie_word_embeddings")


ROWS = by_name(GRANITE_HYBRID, LFM2)
