"""Decoders with experts beside shared ones (arXiv:2401.06066) and grouped attention: DeepSeekMoE, GLM-4.5 and kin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ffncalc.blocks.attention import grouped
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, LLAMA, SLIDING
from ffncalc.families.moe import correction, in_moe_layers, listed, mixture, step
from ffncalc.families.readers import also, by, count, derived, divided, each_layer, first_layers, flag, key, layer_types
from ffncalc.families.row import Reader
from ffncalc.ops import Op, linear
from ffncalc.spec import Attention, Norm
from ffncalc.view import View

DENSE_OR_SPARSE = {"dense": "gated", "sparse": "moe"}
FIRST_DENSE = layer_types("mlp_layer_types", DENSE_OR_SPARSE, lambda view, layer: "sparse" if layer else "dense")


# ------------------------------------------------------------------ DeepSeekMoE, GLM-4.5
def routed_layer(view: View, layer: int) -> str:
    """The published rule: from first_k_dense_replace on, the layers that moe_layer_freq lists, or every so many."""
    often = isinstance(view.resolver.raw("moe_layer_freq")[0], list)
    chosen = listed(view, "moe_layer_freq")[layer] if often else layer % step(view, "moe_layer_freq") == 0
    sparse = chosen and layer >= view.number("first_k_dense_replace")
    return "moe" if sparse and view.get("ffn.n_experts") else "gated"


DEEPSEEK = LLAMA.like(
    "deepseek",
    "arXiv:2401.06066; modeling_deepseek.py of the published DeepSeekMoE checkpoint",
    {
        **mixture(each_layer(("first_k_dense_replace", "moe_layer_freq"), routed_layer), "n_routed_experts"),
        "attention.window": ZERO,
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "ffn.bias": False,
        "ffn.n_shared": count("n_shared_experts"),
    },
    {
        "vocab_size": 102400,
        "num_hidden_layers": 30,
        "moe_intermediate_size": 1407,
        "first_k_dense_replace": 0,
        "moe_layer_freq": 1,
    },
)

GLM4_MOE = LLAMA.like(
    "glm4_moe",
    "arXiv:2508.06471; transformers Glm4MoeForCausalLM: biases on q, k, v; the checkpoint stores the router's bias",
    {
        **mixture(first_layers("first_k_dense_replace", "gated", "moe"), "n_routed_experts"),
        "attention.bias": flag("attention_bias", "qkv", ""),
        "attention.d_head": key("head_dim", divided("d_model", "attention.n_heads", "d_head", whole=False)),
        "attention.qk_norm": flag("use_qk_norm", "head", "none"),
        "attention.window": ZERO,
        "ffn.bias": False,
        "ffn.n_shared": count("n_shared_experts"),
        "ffn.correction": True,
    },
    {
        "vocab_size": 151552,
        "intermediate_size": 10944,
        "num_hidden_layers": 46,
        "num_attention_heads": 96,
        "num_key_value_heads": 8,
        "moe_intermediate_size": 1408,
        "n_routed_experts": 128,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
        "first_k_dense_replace": 1,
        "use_qk_norm": False,
    },
    spellings={"num_local_experts": "n_routed_experts"},
    ignores=("num_nextn_predict_layers", "num_mtp_layers"),
)

GLM4V_MOE = GLM4_MOE.like(
    "glm4v_moe_text",
    "arXiv:2507.01006; transformers Glm4vMoeTextModel",
    {"attention.qk_norm": "none"},
    {"vocab_size": 151424, "attention_bias": True},
    ignores=("use_qk_norm",),
)

SOLAR_OPEN = GLM4_MOE.like(
    "solar_open",
    "transformers SolarOpenForCausalLM: experts in every layer",
    {"ffn.kind": "moe", "attention.qk_norm": "none"},
    {
        "vocab_size": 196608,
        "num_hidden_layers": 48,
        "num_attention_heads": 64,
        "head_dim": 128,
        "moe_intermediate_size": 1280,
    },
    ignores=("intermediate_size", "first_k_dense_replace", "use_qk_norm"),
)

SARVAM_MOE = GLM4_MOE.like(
    "sarvam_moe",
    "transformers SarvamMoEConfig, read by Glm4MoeForCausalLM",
    {},
    {
        "vocab_size": 262144,
        "intermediate_size": 8192,
        "num_hidden_layers": 19,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 64,
        "moe_intermediate_size": 1024,
        "num_experts_per_tok": 6,
        "use_qk_norm": True,
    },
    spellings={
        "num_experts": "n_routed_experts",
        "num_shared_experts": "n_shared_experts",
        "use_qkv_bias": "attention_bias",
    },
)


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


# ------------------------------------------------------------------ dots, K-EXAONE, HunYuan
DOTS1 = LLAMA.like(
    "dots1",
    "arXiv:2506.05767; transformers Dots1ForCausalLM; the checkpoint stores the router's correction bias",
    {
        **mixture(first_layers("first_k_dense_replace", "gated", "moe"), "n_routed_experts"),
        "attention.qk_norm": "head",
        "attention.window": layer_types(
            "layer_types",
            SLIDING,
            lambda view, layer: "sliding_attention" if layer >= view.number("max_window_layers") else "full_attention",
            ("max_window_layers", "sliding_window"),
        ),
        "ffn.bias": False,
        "ffn.n_shared": key("n_shared_experts"),
        "ffn.correction": True,
    },
    {
        "vocab_size": 152064,
        "hidden_size": 4608,
        "intermediate_size": 10944,
        "num_hidden_layers": 62,
        "num_key_value_heads": 32,
        "moe_intermediate_size": 1408,
        "first_k_dense_replace": 0,
        "sliding_window": 4096,
        "max_window_layers": 62,
    },
    spellings={"num_local_experts": "n_routed_experts"},
    ignores=("moe_layer_freq", "use_sliding_window"),
)


def _exaone_attention(view: View, layer: int) -> str:
    return "sliding_attention" if (layer + 1) % step(view, "sliding_window_pattern") else "full_attention"


EXAONE_MOE = LLAMA.like(
    "exaone_moe",
    "arXiv:2601.01739; transformers ExaoneMoeForCausalLM; the checkpoint stores the router's correction bias",
    {
        **BIASLESS,
        **mixture(
            layer_types("mlp_layer_types", DENSE_OR_SPARSE, first_layers("first_k_dense_replace", "gated", "moe")),
            "num_experts",
        ),
        "attention.qk_norm": "head",
        "attention.window": layer_types("layer_types", SLIDING, _exaone_attention, ("sliding_window_pattern",)),
        "ffn.n_shared": count("num_shared_experts"),
        "ffn.correction": True,
    },
    {
        "vocab_size": 102400,
        "intermediate_size": 16384,
        "num_key_value_heads": 32,
        "moe_intermediate_size": 1024,
        "num_experts": 64,
        "num_experts_per_tok": 8,
        "num_shared_experts": 1,
        "first_k_dense_replace": 1,
        "sliding_window": 4096,
        "sliding_window_pattern": 4,
    },
    ignores=("num_nextn_predict_layers",),
)

HUNYUAN_MOE = LLAMA.like(
    "hunyuan_v1_moe",
    "arXiv:2411.02265; transformers HunYuanMoEV1ForCausalLM; moe_intermediate_size, num_shared_expert as published",
    {
        "attention.qk_norm": "head",
        "attention.window": ZERO,
        "ffn.kind": "moe",
        "ffn.d_ff": key("moe_intermediate_size", lambda view: key("intermediate_size").read(view, "ffn.d_ff")),
        "ffn.bias": False,
        "ffn.n_experts": key("num_experts"),
        "ffn.top_k": key("moe_topk"),
        "ffn.n_shared": count("num_shared_expert"),
    },
    {"vocab_size": 290943, "num_experts": 1, "moe_topk": 1, "num_shared_expert": 1},
    spellings={"num_experts_per_tok": "moe_topk", "num_local_experts": "num_experts", "attention_head_dim": "head_dim"},
    ignores=(
        "add_classification_head", "anyres_pooling_size", "cla_share_factor", "class_num", "dense_list", "eod_token_id",
        "group_limited_greedy", "im_end_id", "im_newline_id", "im_start_id", "intermediate_size", "kv_lora_rank",
        "mask_init_id", "mlp_bias", "moe_drop_tokens", "moe_layer_num_skipped", "moe_random_routing_dropped_token",
        "norm_type", "org_vocab_size", "pad_id", "pool_type", "position_embedding_xdrope", "q_lora_rank",
        "skip_cls_token", "text_end_id", "text_start_id", "use_mixed_mlp_moe", "use_qk_norm", "use_rotary_pos_emb",
        "vit_mapping_type", "vit_norm_type", "vit_path", "vit_type", "vit_used_rms_norm",
    ),
)  # fmt: skip

HY_V3 = LLAMA.like(
    "hy_v3",
    "transformers HYV3ForCausalLM; the checkpoint stores the router's correction bias",
    {
        **mixture(FIRST_DENSE, "num_experts"),
        "attention.qk_norm": "head",
        "attention.window": ZERO,
        "ffn.bias": by("ffn.kind", {"gated": flag("mlp_bias"), "moe": False}),
        "ffn.n_shared": count("num_shared_experts"),
        "ffn.shared_bias": flag("mlp_bias"),
        "ffn.correction": True,
    },
    {
        "vocab_size": 120832,
        "intermediate_size": 13312,
        "num_hidden_layers": 80,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "moe_intermediate_size": 1536,
        "num_experts": 192,
        "num_experts_per_tok": 8,
        "num_shared_experts": 1,
    },
    spellings={"num_local_experts": "num_experts"},
    ignores=("router_scaling_factor", "enable_moe_fp32_combine", "num_nextn_predict_layers"),
)


# ------------------------------------------------------------------ gated attention: AFMoE, Laguna
def gated_output(per_head: bool, a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Grouped attention whose output is multiplied by a gate: one number a head and token, or one for each channel."""
    yield from grouped(a, d, norm, prefix)
    yield linear("attention", f"{prefix}.gate_proj", d, a.n_heads if per_head else a.n_heads * a.d_head)


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
        "attention.kind": derived(_gating)._replace(keys=("gating",), holds_it=False),
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
        "norm.kind": "layer",
        "norm.bias": False,
        "norm.place": "one",
        "parallel": True,
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

ROWS = by_name(
    DEEPSEEK,
    GLM4_MOE,
    GLM4V_MOE,
    SOLAR_OPEN,
    SARVAM_MOE,
    MIMO_V2_FLASH,
    DOTS1,
    EXAONE_MOE,
    HUNYUAN_MOE,
    HY_V3,
    AFMOE,
    LAGUNA,
    MELLUM,
    COHERE2_MOE,
    ARIA,
)
