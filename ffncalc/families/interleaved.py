"""Decoders that place or use their experts in a way of their own: JetMoE (in attention too), ERNIE 4.5, Llama 4."""

from __future__ import annotations

from functools import partial
from typing import Any

from ffncalc.blocks.experts import attention_experts
from ffncalc.expr import ZERO, size
from ffncalc.families import by_name
from ffncalc.families.llama import LLAMA
from ffncalc.families.moe import correction, in_moe_layers, listed, mixture, step
from ffncalc.families.readers import by, count, derived, each_layer, flag, key, layer_types, nullable, text, times
from ffncalc.ops import scale
from ffncalc.view import View


# ------------------------------------------------------------------ JetMoE
def _attention_experts(view: View) -> Any:
    return partial(attention_experts, view.get("ffn.n_experts"), view.get("ffn.top_k"))


JETMOE = LLAMA.like(
    "jetmoe",
    "arXiv:2404.07413; transformers JetMoeForCausalLM: experts in attention too, n_kv_heads query heads each",
    {
        "attention.kind": derived(_attention_experts),
        "attention.bias": "o",
        "attention.n_heads": derived(
            lambda view: times(view.get("ffn.top_k").value, "attention.n_kv_heads", "n_heads")(view)
        ),
        "attention.n_kv_heads": key("num_key_value_heads"),
        "attention.d_head": key("kv_channels"),
        "attention.window": ZERO,
        "ffn.kind": "moe",
        "ffn.bias": False,
        "ffn.n_experts": key("num_local_experts"),
        "ffn.top_k": key("num_experts_per_tok"),
        "ffn.activation": text("activation_function", "silu"),
        "extra": derived(lambda view: (scale("ffn", "mlp.bias", view.get("d_model")),)),
    },
    {
        "hidden_size": 2048,
        "num_hidden_layers": 12,
        "num_key_value_heads": 16,
        "kv_channels": 128,
        "intermediate_size": 5632,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
        "tie_word_embeddings": True,
    },
    spellings={
        "head_dim": "kv_channels",
        "moe_num_experts": "num_local_experts",
        "moe_top_k": "num_experts_per_tok",
        "ffn_hidden_size": "intermediate_size",
    },
    ignores=("num_attention_heads", "aux_loss_coef", "num_layers", "glu", "bias", "rotary_percent", "length_scale"),
)

# ------------------------------------------------------------------ ERNIE 4.5
ERNIE4_5 = LLAMA.like(
    "ernie4_5",
    "transformers Ernie4_5ForCausalLM: use_bias stands for all biases of the blocks",
    {
        "attention.bias": flag("use_bias", "qkvo", ""),
        "attention.window": ZERO,
        "ffn.bias": flag("use_bias"),
    },
    {
        "vocab_size": 103424,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 18,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "tie_word_embeddings": True,
    },
)


def _ernie_layer(view: View, layer: int) -> str:
    """Every moe_layer_interval-th layer has experts, from the start index to the end index (-1: the last)."""
    last, _ = view.resolver.raw("moe_layer_end_index")
    last = view.n_layers() - 1 if last == -1 else view.number("moe_layer_end_index")
    sparse = (layer + 1) % step(view, "moe_layer_interval") == 0 and view.number(
        "moe_layer_start_index"
    ) <= layer <= last
    return "moe" if sparse else "gated"


ERNIE4_5_MOE = ERNIE4_5.like(
    "ernie4_5_moe",
    "transformers Ernie4_5_MoeForCausalLM: shared experts; the router's bias is a parameter; use_bias is the head's",
    {
        **mixture(
            each_layer(("moe_layer_interval", "moe_layer_start_index", "moe_layer_end_index"), _ernie_layer),
            "moe_num_experts",
            "moe_k",
        ),
        "ffn.bias": by("ffn.kind", {"gated": flag("use_bias"), "moe": False}),
        "ffn.n_shared": count("moe_num_shared_experts"),
        "ffn.shared_bias": flag("use_bias"),
        "head_bias": flag("use_bias"),
        "extra": in_moe_layers(lambda view: correction(view, 1)),
    },
    {
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "num_hidden_layers": 28,
        "num_attention_heads": 20,
        "num_key_value_heads": 4,
        "head_dim": None,
        "moe_intermediate_size": 1536,
        "moe_num_experts": 64,
        "moe_k": 6,
        "moe_num_shared_experts": 2,
        "moe_layer_start_index": 1,
        "moe_layer_end_index": -1,
        "moe_layer_interval": 1,
    },
    spellings={"num_experts": "moe_num_experts", "num_experts_per_tok": "moe_k"},
    ignores=(
        "moe_norm_min",
        "moe_capacity",
        "moe_gate",
        "moe_use_aux_free",
        "num_nextn_predict_layers",
        "max_position_embeddings",
    ),
)


# ------------------------------------------------------------------ Llama 4
def _interleaved(view: View, layer: int) -> str:
    """The layers that moe_layers lists have experts; where it is absent, every interleave_moe_layer_step-th."""
    if view.resolver.raw("moe_layers")[0] is not None:
        return "moe" if layer in view.numbers("moe_layers") else "gated"
    return "gated" if (layer + 1) % step(view, "interleave_moe_layer_step") else "moe"


def _chunked_where_rotary(view: View, layer: int) -> str:
    """Layers with rotary positions attend within chunks, those without (every fourth, unless listed) to all."""
    stated = listed(view, "no_rope_layers")
    rotary = stated[layer] if stated else (layer + 1) % step(view, "no_rope_layer_interval")
    return "chunked_attention" if rotary and not view.is_null("attention_chunk_size") else "full_attention"


LLAMA4 = LLAMA.like(
    "llama4_text",
    "transformers Llama4ForCausalLM: one shared expert, wider dense layers, attention in chunks; weightless q/k norms",
    {
        **mixture(
            each_layer(("moe_layers", "interleave_moe_layer_step"), _interleaved),
            "num_local_experts",
            dense="intermediate_size_mlp",
            expert="intermediate_size",
        ),
        "ffn.bias": False,
        "ffn.n_shared": derived(lambda view: size("n_shared", 1, "one, always")),
        "attention.chunked": True,
        "attention.window": layer_types(
            "layer_types",
            {"full_attention": ZERO, "chunked_attention": nullable("attention_chunk_size")},
            _chunked_where_rotary,
            ("no_rope_layers", "no_rope_layer_interval", "attention_chunk_size"),
        ),
    },
    {
        "vocab_size": 202048,
        "hidden_size": 5120,
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "num_hidden_layers": 48,
        "num_attention_heads": 40,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "num_local_experts": 16,
        "num_experts_per_tok": 1,
        "interleave_moe_layer_step": 1,
        "no_rope_layer_interval": 4,
        "attention_chunk_size": 8192,
    },
    ignores=("use_qk_norm", "attn_temperature_tuning", "floor_scale", "attn_scale", "for_llm_compressor"),
)

ROWS = by_name(JETMOE, ERNIE4_5, ERNIE4_5_MOE, LLAMA4)
