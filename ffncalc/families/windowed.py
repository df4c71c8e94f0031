"""Decoders with experts and a window in some of their layers: MiMo, AFMoE, Laguna, Mellum, Command; and Aria."""

from __future__ import annotations

from functools import partial
from typing import Any

from ffncalc.blocks.attention import gated_output
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.experts import DENSE_OR_SPARSE, FIRST_DENSE, GLM4_MOE
from ffncalc.families.llama import LLAMA, SIDE_BY_SIDE, SLIDING
from ffncalc.families.moe import correction, in_moe_layers, listed, mixture, step
from ffncalc.families.readers import also, by, count, derived, first_layers, flag, key, layer_types
from ffncalc.families.row import Reader
from ffncalc.view import View


# ------------------------------------------------------------------ MiMo-V2-Flash
def _mimo_attention(view: View, layer: int) -> str:
    """The published hybrid_layer_pattern (1: within a window); without it all but layer 0 and every sixth."""
    stated = listed(view, "hybrid_layer_pattern")
    slides = stated[layer] if stated else layer and (layer + 1) % 6
    return "sliding_attention" if slides else "full_attention"


def _mimo_mlp(view: View, layer: int) -> str:
    """The published moe_layer_freq (1: experts); without it all but layer 0."""
    stated = listed(view, "moe_layer_freq")
    return "sparse" if (stated[layer] if stated else layer) else "dense"


def _mimo_window(view: View) -> Expr:
    """sliding_window_size, the published key, leaves out the query itself."""
    before = view.number("sliding_window_size")
    return (
        size("window", before + 1, "sliding_window_size + 1")
        if before
        else view.size("sliding_window", "attention.window") or ZERO
    )


_MIMO_REPEATED = {
    "swa_num_attention_heads": "num_attention_heads",
    "swa_head_dim": "head_dim",
    "swa_v_head_dim": "v_head_dim",
}


def _no_more_ops(view: View) -> tuple[()]:
    """Says so where windowed layers are stated to be of other sizes, or sinks to stand elsewhere, than in the class."""
    for name, same in _MIMO_REPEATED.items():
        if view.number(name) not in (0, view.number(same)):
            view.warn(f"{name} is not {same}; the windowed layers are counted with {same}")
    for name, value in (("add_swa_attention_sink_bias", True), ("add_full_attention_sink_bias", False)):
        if view.resolver.raw(name)[0] not in (None, value):
            view.warn(f"{name} was not read: windowed layers have sinks, and no others")
    return ()


def _of_mimo_types(full: Any, sliding: Any) -> Reader:
    return layer_types(
        "layer_types",
        {"full_attention": full, "sliding_attention": sliding},
        _mimo_attention,
        ("hybrid_layer_pattern",),
    )


MIMO_V2_FLASH = GLM4_MOE.like(
    "mimo_v2_flash",
    "transformers MiMoV2FlashForCausalLM: sinks and twice the key/value heads in windowed layers; d_v is not d_head",
    {
        "ffn.kind": layer_types("mlp_layer_types", DENSE_OR_SPARSE, _mimo_mlp, ("moe_layer_freq",)),
        "ffn.n_shared": ZERO,
        "attention.n_kv_heads": _of_mimo_types(
            key("num_key_value_heads"),
            key(
                "swa_num_key_value_heads",
                lambda view: size("n_kv_heads", 2 * view.number("num_key_value_heads"), "2 x num_key_value_heads"),
            ),
        ),
        "attention.d_v": key("v_head_dim"),
        "attention.sinks": _of_mimo_types(False, True),
        "attention.window": _of_mimo_types(ZERO, derived(_mimo_window)),
        "model_extra": also(_no_more_ops),
        "attention.qk_norm": "none",
    },
    {
        "vocab_size": 152576,
        "intermediate_size": 16384,
        "num_hidden_layers": 48,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 192,
        "v_head_dim": 128,
        "sliding_window": 129,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
    },
    ignores=(
        "attention_value_scale",
        "sliding_window",
        "sliding_window_size",
        "n_shared_experts",
        "swa_rope_theta",
        "attention_chunk_size",
    ),
)


# ------------------------------------------------------------------ gated attention: AFMoE, Laguna


AFMOE = LLAMA.like(
    "afmoe",
    "transformers AfmoeForCausalLM (Trinity): gated attention, four norms a layer; the router's bias is a parameter",
    {
        **mixture(first_layers("num_dense_layers", "gated", "moe"), "num_experts"),
        "attention.kind": partial(gated_output, False),
        "attention.qk_norm": "head",
        "attention.window": layer_types(
            "layer_types",
            SLIDING,
            lambda view, layer: (
                "sliding_attention" if (layer + 1) % step(view, "global_attn_every_n_layers") else "full_attention"
            ),
            ("global_attn_every_n_layers",),
        ),
        "ffn.bias": False,
        "ffn.n_shared": count("num_shared_experts"),
        "norm.place": "both",
        "extra": in_moe_layers(correction),
    },
    {
        "vocab_size": 200192,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_attention_heads": 16,
        "head_dim": 128,
        "moe_intermediate_size": 1408,
        "num_dense_layers": 1,
        "num_experts": 64,
        "num_experts_per_tok": 6,
        "num_shared_experts": 2,
        "global_attn_every_n_layers": 4,
        "sliding_window": 1024,
    },
    ignores=(
        "mup_enabled",
        "route_norm",
        "score_func",
        "load_balance_coeff",
        "num_expert_groups",
        "num_limited_groups",
    ),
)


def _gating(view: View) -> Any:
    stated, _ = view.resolver.raw("gating")
    return GATED_PER_HEAD if stated in (True, "per-head") else GATED_PER_CHANNEL


GATED_PER_HEAD, GATED_PER_CHANNEL = partial(gated_output, True), partial(gated_output, False)

LAGUNA = LLAMA.like(
    "laguna",
    "transformers LagunaForCausalLM: heads by layer, gated attention; the router's correction bias is a parameter",
    {
        **mixture(FIRST_DENSE, "num_experts"),
        "attention.kind": derived(_gating, "gating"),
        "attention.n_heads": key(
            "num_attention_heads_per_layer", lambda view: view.size("num_attention_heads", "attention.n_heads")
        ),
        "attention.qk_norm": "head",
        "ffn.bias": False,
        "ffn.d_shared": count("shared_expert_intermediate_size"),
        "extra": in_moe_layers(correction),
    },
    {
        "vocab_size": 100352,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 40,
        "num_attention_heads": 48,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "sliding_window": 512,
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512,
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "gating": True,
    },
    ignores=(
        "num_attention_heads",
        "moe_routed_scaling_factor",
        "moe_apply_router_weight_on_input",
        "moe_router_logit_softcapping",
    ),
)


# ------------------------------------------------------------------ Mellum, Command, Aria
MELLUM = LLAMA.like(
    "mellum",
    "transformers MellumForCausalLM: a norm of d_head on queries and keys, no shared experts",
    {
        **mixture(layer_types("mlp_layer_types", DENSE_OR_SPARSE, "moe"), "num_experts"),
        "attention.qk_norm": "head",
        "ffn.bias": False,
    },
    {
        "vocab_size": 98304,
        "hidden_size": 2304,
        "intermediate_size": 7168,
        "num_hidden_layers": 28,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "sliding_window": 1024,
        "moe_intermediate_size": 896,
        "num_experts": 64,
        "num_experts_per_tok": 8,
    },
    spellings={"num_local_experts": "num_experts"},
    ignores=("num_nextn_predict_layers", "num_mtp_layers", "mtp_layer_types", "mtp_mlp_layer_types"),
)


def _cohere_attention(view: View, layer: int) -> str:
    """Every sliding_window_pattern-th layer attends to all, counted anew after the dense ones and their pattern."""
    dense = view.number("first_k_dense_replace")
    every = step(view, "prefix_dense_sliding_window_pattern" if layer < dense else "sliding_window_pattern")
    return "sliding_attention" if ((layer if layer < dense else layer - dense) + 1) % every else "full_attention"


COHERE2_MOE = LLAMA.like(
    "cohere2_moe",
    "transformers Cohere2MoeForCausalLM: parallel blocks with one norm, a LayerNorm without bias",
    {
        **mixture(
            layer_types("mlp_layer_types", DENSE_OR_SPARSE, first_layers("first_k_dense_replace", "gated", "moe")),
            "num_experts",
        ),
        "attention.window": layer_types(
            "layer_types",
            SLIDING,
            _cohere_attention,
            ("first_k_dense_replace", "sliding_window_pattern", "prefix_dense_sliding_window_pattern"),
        ),
        "ffn.d_ff": by(
            "ffn.kind",
            {
                "gated": key("prefix_dense_intermediate_size", lambda view: view.size("intermediate_size", "ffn.d_ff")),
                "moe": key("intermediate_size"),
            },
        ),
        "ffn.bias": False,
        "ffn.n_shared": count("num_shared_experts"),
        **SIDE_BY_SIDE,
    },
    {
        "vocab_size": 256000,
        "hidden_size": 8192,
        "intermediate_size": 22528,
        "num_hidden_layers": 40,
        "num_attention_heads": 64,
        "head_dim": 128,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "sliding_window": 4096,
        "sliding_window_pattern": 4,
        "prefix_dense_sliding_window_pattern": 1,
        "tie_word_embeddings": True,
    },
    ignores=("shared_expert_combination_strategy", "expert_selection_fn"),
)

ARIA = LLAMA.like(
    "aria_text",
    "arXiv:2410.05993; transformers AriaTextForCausalLM: mlp_bias stands for the shared experts' biases",
    {
        "attention.window": ZERO,
        "ffn.kind": "moe",
        "ffn.bias": False,
        "ffn.n_experts": key("moe_num_experts"),
        "ffn.top_k": key("moe_topk"),
        "ffn.n_shared": count("moe_num_shared_experts"),
        "ffn.shared_bias": flag("mlp_bias"),
    },
    {"intermediate_size": 4096, "moe_num_experts": 8, "moe_topk": 2, "moe_num_shared_experts": 2},
)


ROWS = by_name(MIMO_V2_FLASH, AFMOE, LAGUNA, MELLUM, COHERE2_MOE, ARIA)
