"""Decoders whose FFN is a mixture of experts, with grouped attention."""

from __future__ import annotations

from ffncalc.families import by_name
from ffncalc.families.llama import MISTRAL, QWEN3, QWEN_WINDOWS, SLIDING
from ffncalc.families.row import by, count, each_layer, flag, key, layer_types, text, nullable
from ffncalc.expr import ZERO
from ffncalc.resolve import View

MIXTRAL = MISTRAL.like(
    "mixtral",
    "arXiv:2401.04088; transformers MixtralForCausalLM",
    {"ffn.kind": "moe", "ffn.n_experts": key("num_local_experts"), "ffn.top_k": key("num_experts_per_tok")},
    {"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None},
)


def _sparse_step(view: View, layer: int) -> str:
    """Qwen's rule: every decoder_sparse_step-th layer has experts, but for those listed in mlp_only_layers."""
    step = view.number("decoder_sparse_step")
    sparse = step > 0 and (layer + 1) % step == 0 and layer not in view.numbers("mlp_only_layers")
    return "moe" if sparse and view.get("ffn.n_experts") else "gated"


SPARSE_STEP = {
    "ffn.kind": each_layer(("decoder_sparse_step", "mlp_only_layers"), _sparse_step),
    "ffn.d_ff": by("ffn.kind", {"gated": key("intermediate_size"), "moe": key("moe_intermediate_size")}),
    "ffn.n_experts": count("num_experts"),
    "ffn.top_k": key("num_experts_per_tok"),
}

QWEN3_MOE = QWEN3.like(
    "qwen3_moe",
    "arXiv:2505.09388; transformers Qwen3MoeForCausalLM",
    {**SPARSE_STEP, "attention.window": QWEN_WINDOWS},
    {
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 24,
        "num_key_value_heads": 4,
        "head_dim": None,
        "moe_intermediate_size": 768,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "decoder_sparse_step": 1,
    },
    spellings={"num_local_experts": "num_experts"},
)

GPT_OSS = MIXTRAL.like(
    "gpt_oss",
    "arXiv:2508.10925; transformers GptOssForCausalLM: sinks, biases everywhere, a window in every other layer",
    {
        "attention.bias": flag("attention_bias", "qkvo", ""),
        "attention.sinks": True,
        "attention.window": layer_types(
            "layer_types",
            SLIDING,
            each_layer(("sliding_window",), lambda view, i: ZERO if i % 2 else nullable("sliding_window").read(view, "attention.window")),
        ),
        "ffn.bias": True,
        "ffn.router_bias": True,
        "ffn.activation": text("hidden_act", "silu"),
    },
    {
        "vocab_size": 201088,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "num_local_experts": 128,
        "num_experts_per_tok": 4,
        "sliding_window": 128,
        "attention_bias": True,
    },
    ignores=("experts_per_token", "initial_context_length"),
)

ROWS = by_name(MIXTRAL, QWEN3_MOE, GPT_OSS)
