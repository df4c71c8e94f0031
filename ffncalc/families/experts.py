"""Decoders with experts beside shared ones (arXiv:2401.06066) and grouped attention: DeepSeekMoE, GLM-4.5 and kin."""

from __future__ import annotations

from ffncalc.expr import ZERO
from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, LLAMA, SLIDING
from ffncalc.families.moe import listed, mixture, step
from ffncalc.families.readers import by, count, derived, divided, each_layer, first_layers, flag, key, layer_types
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


ROWS = by_name(DEEPSEEK, GLM4_MOE, GLM4V_MOE, SOLAR_OPEN, SARVAM_MOE, DOTS1, EXAONE_MOE, HUNYUAN_MOE, HY_V3)
