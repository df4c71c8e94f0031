"""Decoders whose FFN is a mixture of experts, with grouped attention: Mixtral, and those that are near to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, LLAMA, MISTRAL, QWEN2, QWEN3, SLIDING
from ffncalc.families.readers import by, count, derived, divided, each_layer, flag, key, layer_types, nullable, when
from ffncalc.families.row import PerLayer, Reader
from ffncalc.ops import Op, scale
from ffncalc.view import View


# ------------------------------------------------------------------ readers of this kind
def mixture(
    kind: Any,
    n_experts: str,
    top_k: str = "num_experts_per_tok",
    dense: str = "intermediate_size",
    expert: str = "moe_intermediate_size",
) -> dict[str, Any]:
    """The switches of an FFN that is a mixture in some layers; all arguments but the first are names of keys."""
    return {
        "ffn.kind": kind,
        "ffn.d_ff": by("ffn.kind", {"gated": key(dense), "moe": key(expert)}),
        "ffn.n_experts": count(n_experts),
        "ffn.top_k": key(top_k),
    }


def in_moe_layers(build: Callable[[View], tuple[Op, ...]]) -> Reader:
    """For `extra`: operations that only the layers with experts have."""

    def read(view: View, switch: str) -> Any:
        kinds, built = view.get("ffn.kind"), build(view)
        if isinstance(kinds, PerLayer):
            return PerLayer(built if kind == "moe" else () for kind in kinds)
        return built if kinds == "moe" else ()

    return Reader((), read)


def correction(view: View, *more: int) -> tuple[Op, ...]:
    """The router-correction bias of a class that registers it as a parameter."""
    return (scale("ffn", "mlp.router.e_score_correction_bias", *more, view.get("ffn.n_experts")),)


def listed(view: View, name: str) -> list[int]:
    """A key's list of one whole number for each layer (more are left alone); empty where it is absent."""
    numbers = view.numbers(name)
    if numbers and len(numbers) < view.n_layers():
        view.fail(f"{name} has {len(numbers)} entries for {view.n_layers()} layers", name)
    return numbers


def step(view: View, name: str) -> int:
    """Every how many layers something happens: a whole number of at least 1."""
    return view.number(name) or view.fail(f"{name} is 0; want at least 1", name)


# ------------------------------------------------------------------ Mixtral and its kin
MIXTRAL = MISTRAL.like(
    "mixtral",
    "arXiv:2401.04088; transformers MixtralForCausalLM",
    {"ffn.kind": "moe", "ffn.n_experts": key("num_local_experts"), "ffn.top_k": key("num_experts_per_tok")},
    {"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None},
    spellings={"num_experts": "num_local_experts"},
)

GROK = MIXTRAL.like(
    "grok-1",
    "xai-org/grok-1 (model.py, run.py), and the published port's Grok1Config: four norms a layer",
    {"norm.place": "both", "ffn.activation": "gelu"},
    {
        "hidden_size": 4096,
        "intermediate_size": 32768,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "tie_word_embeddings": True,
    },
    ignores=("attn_output_multiplier", "max_attn_value", "embedding_multiplier_scale", "output_multiplier_scale"),
)


def _always_two(view: View, switch: str) -> Expr:
    """SparseMixer draws one expert and then a second, whatever num_experts_per_tok says."""
    stated = view.single("num_experts_per_tok", "top_k")
    if stated.value != 2:
        view.warn(f"num_experts_per_tok is {stated.value}, and Phi-3.5-MoE's router runs 2 whatever it says")
    return size("top_k", 2, "Phi-3.5-MoE's router")


PHIMOE = MIXTRAL.like(
    "phimoe",
    "arXiv:2404.14219 (Phi-3.5-MoE); transformers PhimoeForCausalLM: LayerNorm, a bias on the head by lm_head_bias",
    {
        "ffn.top_k": Reader(("num_experts_per_tok",), _always_two),
        "attention.bias": flag("attention_bias", "qkvo", ""),
        "norm.kind": "layer",
        "head_bias": flag("lm_head_bias"),
    },
    {"vocab_size": 32064, "intermediate_size": 6400, "num_local_experts": 16, "lm_head_bias": False},
    ignores=("input_jitter_noise",),
)

MINIMAX_M2 = MIXTRAL.like(
    "minimax_m2",
    "transformers MiniMaxM2ForCausalLM: norms over all heads of q and k; the checkpoint stores the router's bias; "
    "use_qk_norm, use_routing_bias and shared_intermediate_size as in the published code",
    {
        "attention.qk_norm": flag("use_qk_norm", "full", "none"),
        "ffn.correction": flag("use_routing_bias"),
        "ffn.d_shared": count("shared_intermediate_size"),
    },
    {
        "vocab_size": 200064,
        "hidden_size": 3072,
        "intermediate_size": 1536,
        "num_hidden_layers": 62,
        "num_attention_heads": 48,
        "head_dim": 128,
        "num_local_experts": 256,
        "num_experts_per_tok": 8,
        "use_qk_norm": True,
        "use_routing_bias": True,
    },
    ignores=(
        "attn_type_list",
        "qk_norm_type",
        "num_nextn_predict_layers",
        "num_mtp_modules",
        "mtp_transformer_layers",
        "use_mtp",
    ),
)

GPT_OSS = MIXTRAL.like(
    "gpt_oss",
    "arXiv:2508.10925; transformers GptOssForCausalLM: sinks, biases everywhere, a window in every other layer",
    {
        "attention.bias": flag("attention_bias", "qkvo", ""),
        "attention.sinks": True,
        "attention.window": layer_types(
            "layer_types", SLIDING, lambda view, layer: "full_attention" if layer % 2 else "sliding_attention"
        ),
        "ffn.bias": True,
        "ffn.router_bias": True,
    },
    {
        "vocab_size": 201088,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "head_dim": 64,
        "num_local_experts": 128,
        "num_experts_per_tok": 4,
        "sliding_window": 128,
        "attention_bias": True,
    },
    ignores=("experts_per_token", "initial_context_length"),
)


def _window_to_both_sides(view: View) -> Expr:
    return size("window", 2 * view.number("sliding_window"), "2 x sliding_window")


OPENAI_PRIVACY_FILTER = GPT_OSS.like(
    "openai_privacy_filter",
    "transformers OpenAIPrivacyFilterModel: an encoder after gpt_oss, sliding_window keys to each side",
    {"attention.window": derived(_window_to_both_sides), "attention.sides": 2},
    {
        "vocab_size": 200064,
        "hidden_size": 640,
        "intermediate_size": 640,
        "num_hidden_layers": 8,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
    },
    heads={},
    stacks=("encoder",),
)


# ------------------------------------------------------------------ Qwen
def _sparse_step(view: View, layer: int) -> str:
    """Qwen's rule: every decoder_sparse_step-th layer has experts, but for those listed in mlp_only_layers."""
    every = view.number("decoder_sparse_step")
    sparse = every > 0 and (layer + 1) % every == 0 and layer not in view.numbers("mlp_only_layers")
    return "moe" if sparse and view.get("ffn.n_experts") else "gated"


SPARSE_STEP = mixture(each_layer(("decoder_sparse_step", "mlp_only_layers"), _sparse_step), "num_experts")


def _sliding_qwen2_moe(view: View, layer: int) -> str:
    slides = view.flag("use_sliding_window") and layer < view.number("max_window_layers") and layer % 2 == 0
    return "sliding_attention" if slides else "full_attention"


QWEN2_MOE = QWEN2.like(
    "qwen2_moe",
    "arXiv:2407.10671; transformers Qwen2MoeForCausalLM: a shared expert of its own width behind a gate",
    {
        **SPARSE_STEP,
        "attention.bias": flag("qkv_bias", "qkv", ""),
        "attention.window": layer_types(
            "layer_types", SLIDING, _sliding_qwen2_moe, ("use_sliding_window", "max_window_layers", "sliding_window")
        ),
        "ffn.d_shared": count("shared_expert_intermediate_size"),
        "ffn.shared_gate": True,
    },
    {
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632,
        "num_experts": 60,
        "num_experts_per_tok": 4,
        "decoder_sparse_step": 1,
        "qkv_bias": True,
    },
)

QWEN3_MOE = QWEN3.like(
    "qwen3_moe",
    "arXiv:2505.09388; transformers Qwen3MoeForCausalLM: one window for all layers, where use_sliding_window is set",
    {**SPARSE_STEP, "attention.window": when("use_sliding_window", nullable("sliding_window"))},
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
    ignores=("max_window_layers", "shared_expert_intermediate_size"),
)

QWEN3_VL_MOE = QWEN3_MOE.like(
    "qwen3_vl_moe_text",
    "arXiv:2511.21631; transformers Qwen3VLMoeTextModel",
    {"attention.window": ZERO},
    {
        "intermediate_size": 5632,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "moe_intermediate_size": 1408,
        "num_experts": 60,
        "num_experts_per_tok": 4,
        "tie_word_embeddings": True,
    },
    ignores=("sliding_window",),
)

# ------------------------------------------------------------------ AI2, Databricks, IBM
OLMOE = LLAMA.like(
    "olmoe",
    "arXiv:2409.02060; transformers OlmoeForCausalLM: norms over all heads of q and k",
    {
        "ffn.kind": "moe",
        "ffn.bias": False,
        "ffn.n_experts": key("num_experts"),
        "ffn.top_k": key("num_experts_per_tok"),
        "attention.qk_norm": "full",
    },
    {
        "vocab_size": 50304,
        "hidden_size": 2048,
        "intermediate_size": 2048,
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "num_experts": 64,
        "num_experts_per_tok": 8,
    },
    spellings={"num_local_experts": "num_experts"},
)

FLEX_OLMO = OLMOE.like(
    "flex_olmo",
    "arXiv:2507.07024; transformers FlexOlmoForCausalLM: norms after the sublayers, as in OLMo 2",
    {"norm.place": "post"},
    {
        "vocab_size": 100352,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_experts": 7,
        "num_experts_per_tok": 5,
    },
)

DBRX = LLAMA.like(
    "dbrx",
    "transformers DbrxForCausalLM: LayerNorm without a bias; sizes inside attn_config and ffn_config",
    {
        **BIASLESS,
        "d_model": key("d_model"),
        "n_layers": key("n_layers"),
        "attention.n_heads": key("n_heads"),
        "attention.n_kv_heads": key("attn_config.kv_n_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.window": ZERO,
        "ffn.kind": "moe",
        "ffn.d_ff": key("ffn_config.ffn_hidden_size"),
        "ffn.n_experts": key("ffn_config.moe_num_experts"),
        "ffn.top_k": key("ffn_config.moe_top_k"),
        "norm.kind": "layer",
        "norm.bias": False,
    },
    {
        "d_model": 2048,
        "n_heads": 16,
        "n_layers": 24,
        "attn_config.kv_n_heads": 1,
        "ffn_config.ffn_hidden_size": 3584,
        "ffn_config.moe_num_experts": 4,
        "ffn_config.moe_top_k": 1,
    },
    spellings={"hidden_size": "d_model", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
    ignores=(
        "emb_pdrop",
        "num_key_value_heads",
        "ffn_config.hidden_size",
        "ffn_config.ffn_act_fn",
        "ffn_config.moe_jitter_eps",
        "ffn_config.moe_loss_weight",
        "ffn_config.moe_normalize_expert_weights",
        "ffn_config.uniform_expert_assignment",
    ),
)

GRANITEMOE = LLAMA.like(
    "granitemoe",
    "arXiv:2408.13359; transformers GraniteMoeForCausalLM",
    {
        "attention.window": ZERO,
        "ffn.kind": "moe",
        "ffn.bias": False,
        "ffn.n_experts": key("num_local_experts"),
        "ffn.top_k": key("num_experts_per_tok"),
    },
    {"num_local_experts": 8, "num_experts_per_tok": 2},
)

GRANITEMOESHARED = GRANITEMOE.like(
    "granitemoeshared",
    "transformers GraniteMoeSharedForCausalLM: a shared expert of its own width, none where that is 0",
    {"ffn.d_shared": count("shared_intermediate_size")},
)

GRANITEMOE_SWA = GRANITEMOESHARED.like(
    "granitemoe_swa",
    "transformers GraniteMoeSWAForCausalLM: sinks; every fourth layer attends to all, the others within a window",
    {
        "attention.sinks": True,
        "attention.window": layer_types(
            "layer_types", SLIDING, lambda view, layer: "sliding_attention" if layer % 4 else "full_attention"
        ),
    },
    {"sliding_window": 128},
    ignores=("layer_rope_theta",),
)


ROWS = by_name(
    MIXTRAL,
    GROK,
    PHIMOE,
    MINIMAX_M2,
    GPT_OSS,
    OPENAI_PRIVACY_FILTER,
    QWEN2_MOE,
    QWEN3_MOE,
    QWEN3_VL_MOE,
    OLMOE,
    FLEX_OLMO,
    DBRX,
    GRANITEMOE,
    GRANITEMOESHARED,
    GRANITEMOE_SWA,
)
